//! What an outlet's queue loses: counted and said by the outlet.

use crate::chunk::Chunk;
use crate::durable::DiskBuffer;
use crate::ledger::Remains;

/// What became of messages that could not all be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::outlet) struct Loss {
    /// There was no room.
    pub full: usize,
    /// Larger than what can be stored at all.
    pub too_large: usize,
    /// On disk, and not readable any more.
    pub damaged: usize,
}

impl Loss {
    pub(super) fn full(messages: usize) -> Loss {
        Loss { full: messages, ..Loss::default() }
    }

    pub fn total(&self) -> usize {
        self.full + self.too_large + self.damaged
    }

    pub(super) fn add(&mut self, other: Loss) {
        self.full += other.full;
        self.too_large += other.too_large;
        self.damaged += other.damaged;
    }
}

/// Cuts a chunk without flow-control down to what may wait in memory beside the `before` messages that do.
pub(super) fn cut(options: &DiskBuffer, remains: &Remains, chunk: &mut Chunk, before: usize) -> usize {
    if chunk.flow_control {
        return 0;
    }
    chunk.tickets.settle();
    let room = if options.reliable { 0 } else { options.overflow_messages.saturating_sub(before) };
    chunk.cut_for_room(room, remains)
}
