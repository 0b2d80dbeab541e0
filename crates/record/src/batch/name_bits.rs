//! Which names a record has values of, as far as a few bits can tell: most that are asked for are not there.

use crate::names::NameId;

/// A bit for each of 256 names that follow one another.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NameBits([u64; 4]);

impl NameBits {
    pub const ALL: NameBits = NameBits([u64::MAX; 4]);

    #[inline]
    pub fn has(&self, name: NameId) -> bool {
        self.0[name.0 as usize / 64 % 4] & (1 << (name.0 % 64)) != 0
    }

    #[inline]
    pub fn add(&mut self, name: NameId) {
        self.0[name.0 as usize / 64 % 4] |= 1 << (name.0 % 64);
    }

    #[inline]
    pub fn add_all(&mut self, other: NameBits) {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
    }
}
