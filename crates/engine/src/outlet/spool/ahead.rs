//! What of the memory part may be written now. Of messages that have to be on disk, no more is dealt with
//! than a stated size beyond what the disk knows to be dealt with: so much comes twice after a power loss,
//! and no more. And what has a counted origin is on disk, as far as the kernel is concerned, before anybody
//! gets it: after a kill its sender brings it again, and there it is known by that.

use super::Spool;
use crate::chunk::Chunk;
use crate::outlet::Outlet;
use std::collections::VecDeque;
use std::sync::Weak;
use std::time::{Duration, Instant};
use store::Queue;

/// A receiver that has so much and acknowledges nothing is looked at again after this, and after twice as
/// long each time, up to the other.
const PEER_PAUSE: Duration = Duration::from_millis(1);
const PEER_PAUSE_MAX: Duration = Duration::from_millis(64);

/// Why chunks stay.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::outlet) enum Wait {
    /// Nothing stays that could go, or the log calls when it may.
    No,
    /// The log calls when the disk knows of more. What the peer has acknowledged meanwhile is worth telling
    /// it first.
    Disk,
    /// As much as may be under way is, and the disk knows of everything else. Nobody calls when the peer has
    /// acknowledged some of it.
    Peer,
}

/// How far it may go.
#[derive(Default)]
pub(super) struct Ahead {
    /// The receiver numbers what it gets, and knows what comes again.
    numbered: bool,
    /// Bytes that may be dealt with before the log is asked again.
    room: u64,
    /// Bytes that are dealt with, and the log was not told of.
    untold: u64,
    /// So often in a row the peer was waited for.
    peer_waits: u32,
    /// Everything before it is written.
    written: u64,
    /// What stays behind may only go when some of what is in front of it is finished.
    is_at_end: bool,
}

impl Ahead {
    pub fn new(numbered: bool) -> Ahead {
        Ahead { numbered, ..Ahead::default() }
    }

    pub fn finished(&mut self, bytes: usize, stored: usize) {
        self.room = self.room.saturating_sub(bytes as u64);
        self.untold += stored as u64;
        self.peer_waits = 0;
    }

    pub fn told(&mut self, bytes: usize, all: bool) {
        self.untold = if all { 0 } else { self.untold.saturating_sub(bytes as u64) };
    }

    /// Whether the chunk is written, or need not be.
    fn is_written(&mut self, queue: &Queue, chunk: &Chunk) -> bool {
        if chunk.lots().is_empty() {
            return true;
        }
        let Some(end) = chunk.number_after(chunk.messages()) else { return true };
        if end > self.written {
            self.written = queue.written(end);
        }
        end <= self.written
    }
}

impl Spool {
    /// Whether what waits behind what was let go is let go only when some of that is finished.
    pub(super) fn is_at_end(&self) -> bool {
        self.ahead.is_at_end
    }

    /// Whoever waits for the disk is called when it is worth asking again.
    pub(super) fn wait_for(queue: &Queue, outlet: Weak<Outlet>) {
        queue.on_move(Box::new(move || {
            if let Some(outlet) = outlet.upgrade() {
                outlet.home.pump_at(Instant::now(), &outlet);
            }
        }));
    }

    /// Moves chunks that may be written now from the front of the queue to `work`. Where that is none, the
    /// outlet is pumped when it is worth asking again, unless it is the peer that is waited for.
    pub fn let_go(&mut self, chunks: &mut VecDeque<Chunk>, work: &mut VecDeque<Chunk>) -> Wait {
        let queue = self.disk.queue().filter(|_| self.options.reliable);
        let Some(queue) = queue else {
            std::mem::swap(work, chunks);
            return Wait::No;
        };
        let ahead = &mut self.ahead;
        let (mut room, mut gone) = (ahead.room, 0);
        ahead.is_at_end = false;
        while let Some(chunk) = chunks.front() {
            if !ahead.is_written(queue, chunk) {
                return Wait::No;
            }
            let bytes = chunk.waiting_bytes() as u64;
            // One that was begun had room then.
            let begun = chunk.done() > 0 || chunk.sent() > 0 || !chunk.rest().is_empty();
            if !ahead.numbered && !begun && bytes > room {
                let untold = ahead.untold + gone;
                let Some(found) = queue.room_ahead(untold, bytes) else {
                    return if work.is_empty() { Wait::Disk } else { Wait::No };
                };
                (ahead.room, room) = (found + gone, found);
                // One that is larger than everything goes alone.
                if bytes > room && untold > 0 {
                    ahead.is_at_end = true;
                    return if work.is_empty() { Wait::Peer } else { Wait::No };
                }
            }
            room = room.saturating_sub(bytes);
            gone += bytes;
            work.extend(chunks.pop_front());
        }
        Wait::No
    }

    /// How long to leave the peer alone.
    pub fn pause_for_peer(&mut self) -> Duration {
        let pause = PEER_PAUSE * 2u32.pow(self.ahead.peer_waits.min(6));
        self.ahead.peer_waits += 1;
        pause.min(PEER_PAUSE_MAX)
    }
}
