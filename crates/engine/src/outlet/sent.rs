//! What the log says at `debug` of messages that have left a queue.

use super::Outlet;
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
        if oplog::enabled(oplog::Level::Debug) && !self.has_own.load(Ordering::Relaxed) {
            oplog::debug("Messages sent", &[("name", &self.name), ("messages", &messages)]);
        }
    }
}
