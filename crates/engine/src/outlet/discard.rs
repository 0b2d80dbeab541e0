//! Messages that wait on disk and that nobody wants any more: `penstock queue drop`.

use super::retire::LOOK;
use super::{Outlet, Queue};
use crate::chunk::Chunk;
use crate::ledger::Reason;
use diag::Fault;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for a sink that is in the middle of a message, or for the disk.
const PATIENCE: Duration = Duration::from_secs(10);

/// What one look has brought.
enum Found {
    /// So many are gone.
    Dropped(usize),
    /// Somebody writes, or they have to be read first.
    Later,
    /// None is left.
    Nothing,
}

impl Outlet {
    /// Drops what waits in its queue on disk before a number of that, in order, as if a destination had taken
    /// it; counted. Returns how many messages that were, with an error when not all could be dropped.
    pub fn discard(self: &Arc<Outlet>, until: u64) -> (usize, Result<(), Fault>) {
        let mut dropped = 0;
        let mut deadline = Instant::now() + PATIENCE;
        loop {
            match self.discard_some(until) {
                Found::Nothing => return (dropped, Ok(())),
                Found::Dropped(count) => {
                    dropped += count;
                    deadline = Instant::now() + PATIENCE;
                }
                Found::Later if Instant::now() > deadline => {
                    let why = "the destination is in the middle of sending what is to be dropped, try again";
                    return (dropped, Err(Fault::local(why)));
                }
                Found::Later => std::thread::park_timeout(LOOK),
            }
        }
    }

    fn discard_some(self: &Arc<Outlet>, until: u64) -> Found {
        let unsettled = self.sink.lock().unsettled();
        let mut queue = self.queue.lock();
        if queue.service.is_closed() || queue.spool.is_none() {
            return Found::Nothing;
        }
        if queue.attendance.is_busy() || queue.held > 0 {
            return Found::Later;
        }
        let Some((spool, _)) = queue.parts() else { return Found::Nothing };
        let count = match spool.stored_before(until) {
            0 if spool.has_unread_before(until) => {
                queue.ask_keeper();
                return Found::Later;
            }
            0 => return Found::Nothing,
            count => count,
        };
        // Its peer has a part of it, or all of it and has not said so.
        if queue.chunks.front().is_some_and(|chunk| !chunk.rest().is_empty() || chunk.sent() > 0) {
            return Found::Later;
        }
        let texts = queue.chunks.iter().flat_map(Chunk::iter).take(count);
        self.counters.remains.keep_all(Reason::Discarded, count, texts);
        let gone = queue.take_front(count);
        queue.messages -= count;
        queue.heritage.passed(count);
        self.counters.waiting.sub(count);
        self.counters.dropped.add(Reason::Discarded, count);
        let unsettled = if unsettled > 0 { unsettled + count } else { 0 };
        self.wrote(&mut queue, count, unsettled);
        drop(queue);
        drop(gone);
        Found::Dropped(count)
    }
}

impl Queue {
    /// Takes messages off the front; the chunks that are empty now are to be dropped without the lock.
    fn take_front(&mut self, count: usize) -> Vec<Chunk> {
        let mut gone = Vec::new();
        let mut left = count;
        while left > 0
            && let Some(chunk) = self.chunks.front_mut()
        {
            let messages = chunk.messages();
            if messages > left {
                chunk.skip(left);
                break;
            }
            left -= messages;
            gone.extend(self.chunks.pop_front());
        }
        gone
    }
}
