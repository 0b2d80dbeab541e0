//! Entries that cannot be read: how many, and what is left of the last of them.

use std::collections::VecDeque;

/// Of so many something is kept.
const LAST_MAX: usize = 100;

#[derive(Debug, Default)]
pub struct Skipped {
    pub count: usize,
    /// The fields that can be read, one a line; of an entry that is itself damaged what stands there in
    /// the file.
    pub last: VecDeque<Vec<u8>>,
}

impl Skipped {
    /// Kept of one entry.
    pub const TEXT_BYTES_MAX: usize = 1024;

    pub fn add(&mut self, mut text: Vec<u8>) {
        text.truncate(Self::TEXT_BYTES_MAX);
        self.count += 1;
        self.keep(text);
    }

    /// Those of another file.
    pub fn join(&mut self, other: Skipped) {
        self.count += other.count;
        other.last.into_iter().for_each(|text| self.keep(text));
    }

    fn keep(&mut self, text: Vec<u8>) {
        if self.last.len() >= LAST_MAX {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }
}
