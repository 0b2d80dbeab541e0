//! The messages of a queue, in order, with the time when each was put in.

use super::{Segment, View};
use crate::walk::Walk;
use crate::{control, frame};
use std::ops::ControlFlow;
use std::time::UNIX_EPOCH;

/// A message of a queue.
pub struct Message<'a> {
    pub seq: u64,
    pub bytes: &'a [u8],
    /// When it was put in, in seconds since 1970: exact to a second. `None` when it cannot be told.
    pub time: Option<u64>,
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes of files gone over.
    pub bytes: u64,
    /// Bytes on the way that were no intact frames.
    pub damaged: u64,
}

/// Bytes between two calls that only tell the position.
const STEP: u64 = 1 << 20;

impl View {
    /// Gives each message of the queue from a number on to `each`, until that says stop. In between, `None`
    /// tells how far it has come.
    pub fn messages(
        &self,
        queue: u32,
        from: u64,
        mut each: impl FnMut(Option<Message<'_>>, Position) -> ControlFlow<()>,
    ) -> Position {
        let mut position = Position::default();
        let mut said = 0;
        for segment in self.with(queue, from) {
            let begin = position.bytes;
            let mut time = self.first_time(segment);
            let seqs = segment.first..segment.next;
            let mut walk = Walk::new(&segment.file, segment.data.clone(), self.key, seqs);
            while let Some(found) = walk.next() {
                position.bytes = begin + found.end.saturating_sub(segment.data.start);
                position.damaged += found.skipped;
                let message =
                    match found.queues {
                        frame::CONTROL => {
                            time = control::time(found.payload).or(time);
                            None
                        }
                        queues => (frame::belongs_to(queues, queue) && found.seq >= from)
                            .then_some(Message { seq: found.seq, bytes: found.payload, time }),
                    };
                if message.is_none() && position.bytes - said < STEP {
                    continue;
                }
                said = position.bytes;
                if each(message, position).is_break() {
                    return position;
                }
            }
            position.damaged += walk.skipped();
            position.bytes = begin + (segment.data.end - segment.data.start);
        }
        position
    }

    /// For what comes before the first time that a segment tells: that time, else when it was last written
    /// to. Never earlier than the truth.
    fn first_time(&self, segment: &Segment) -> Option<u64> {
        let seqs = segment.first..segment.next;
        let mut walk = Walk::new(&segment.file, segment.data.clone(), self.key, seqs).block(1 << 16);
        while let Some(found) = walk.next() {
            if let Some(time) = control::time(found.payload).filter(|_| found.queues == frame::CONTROL) {
                return Some(time);
            }
        }
        segment.modified.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
    }

    /// Where the messages of a queue begin that were put in at `time` or later, in seconds since 1970; what
    /// comes before, in messages and bytes. Messages of which the time is not known count as new, and so do
    /// all behind them.
    pub fn border(&self, queue: u32, from: u64, time: u64, mut look: impl FnMut(Position)) -> Border {
        let mut border = Border { seq: from, messages: 0, bytes: 0 };
        self.messages(queue, from, |message, position| {
            look(position);
            let Some(message) = message else { return ControlFlow::Continue(()) };
            // Times are those of the mark before, up to a second early.
            if message.time.is_none_or(|at| at + 1 >= time) {
                return ControlFlow::Break(());
            }
            border.seq = message.seq + 1;
            border.messages += 1;
            border.bytes += message.bytes.len() as u64;
            ControlFlow::Continue(())
        });
        border
    }
}

/// A place between two messages of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    pub seq: u64,
    pub messages: u64,
    pub bytes: u64,
}
