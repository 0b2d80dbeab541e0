//! How much of an outlet's queue may be in memory, and what comes while that waits.

use super::Spool;
use crate::durable::MEMORY_BYTES;
use crate::outlet::Supply;
use store::Full;

impl Spool {
    /// What is in memory and what may be: messages where `front-cache-size()` says how many, or else bytes.
    fn fill(&self, messages: usize) -> (usize, usize) {
        match self.options.memory_messages {
            Some(max) => (messages, max),
            None => (self.bytes, MEMORY_BYTES),
        }
    }

    pub(super) fn is_full(&self, messages: usize) -> bool {
        let (used, max) = self.fill(messages);
        used >= max
    }

    /// So much is in memory that it cannot even be kept for a moment.
    pub(super) fn is_overfull(&self, messages: usize) -> bool {
        let (used, max) = self.fill(messages);
        used >= max.saturating_mul(2)
    }

    pub(super) fn is_half_empty(&self, messages: usize) -> bool {
        let (used, max) = self.fill(messages);
        used <= max / 2
    }

    /// What comes while that waits which is in memory.
    pub fn supply(&self, messages: usize) -> Supply {
        let is_read = !self.is_behind() || self.is_half_empty(messages);
        let takes = !matches!(self.refused, Some(Full::Capacity | Full::Disk | Full::Closed));
        if is_read && takes && !self.is_at_end() && !self.is_full(messages) {
            Supply::Disk
        } else {
            Supply::Ended
        }
    }
}
