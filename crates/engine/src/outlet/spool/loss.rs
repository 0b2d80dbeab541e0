//! What an outlet's queue loses: counted and said by the outlet.

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
