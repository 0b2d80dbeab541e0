//! How the keys end that are read: most others are passed over where only the end of a key is known.

use super::is_word;
use crate::word::Rows;

/// The last two bytes of some keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Endings {
    pub(crate) last: Rows,
    pub(crate) before: Rows,
    count: u32,
}

impl Endings {
    /// Adds a key. Of more than eight, two or more share a bit.
    pub fn add(&mut self, key: &[u8]) {
        // No text has a key with other bytes.
        if !key.iter().all(|byte| is_word(*byte)) {
            return;
        }
        let sets = 1 << (self.count % 8);
        self.count += 1;
        let Some((last, rest)) = key.split_last() else { return };
        self.last = self.last.with(*last, sets);
        self.before = match rest.last() {
            Some(before) => self.before.with(*before, sets),
            // Anything may stand before it.
            None => self.before.with_all(sets),
        };
    }
}
