//! What the log says at `debug` of messages that have left a queue, and of those that come to it past all log
//! paths.

use super::Outlet;
use crate::chunk::Chunk;
use oplog::{Bytes, Level};
use std::sync::atomic::Ordering;

impl Outlet {
    /// Messages of `internal()` come here from now on.
    #[cold]
    pub(crate) fn gets_own(&self) {
        self.has_own.store(true, Ordering::Relaxed);
    }

    /// Says how many messages the sink has taken; one look at the log's level a write.
    #[inline]
    pub(super) fn say_sent(&self, messages: usize) {
        if oplog::enabled(Level::Debug) && !self.has_own.load(Ordering::Relaxed) {
            oplog::debug("Messages sent", &[("name", &self.name), ("messages", &messages)]);
        }
    }

    /// Says what the destination writes of its own accord: marks, counts of repeated messages.
    pub(super) fn say_own(&self, chunk: &Chunk) {
        if !oplog::enabled(Level::Debug) || self.has_own.load(Ordering::Relaxed) {
            return;
        }
        for message in chunk.messages_between(0, chunk.ends.len()) {
            oplog::debug("Outgoing message", &[("message", &Bytes(message)), ("name", &self.name)]);
        }
    }
}
