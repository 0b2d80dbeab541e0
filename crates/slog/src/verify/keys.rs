//! The keys of a log by number. A key is made from the one before it only, so going back takes remembering
//! some.

use crate::key::{Derived, Key};

/// Of so many keys one is remembered.
const STEP: u64 = 1024;
/// A number so far ahead of its turn is not believed: making the keys up to it would take minutes.
const AHEAD_MAX: u64 = if cfg!(any(test, feature = "fuzzing")) { 1 << 12 } else { 1 << 26 };

pub(super) struct Keys {
    first: u64,
    /// The keys of `first`, `first + STEP`, and so on.
    marks: Vec<Key>,
    key: Key,
    /// The number of `key`.
    at: u64,
}

impl Keys {
    pub fn new(key: Key, first: u64) -> Keys {
        Keys { first, marks: vec![key.clone()], key, at: first }
    }

    /// The number from which on entries can be opened.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// What opens the entry with this number while `next` is the one expected.
    pub fn at(&mut self, number: u64, next: u64) -> Option<Derived> {
        let ahead = number.checked_sub(self.first)?;
        if number.saturating_sub(next) > AHEAD_MAX {
            return None;
        }
        let mark = (ahead / STEP).min(self.marks.len() as u64 - 1);
        let from = self.first + mark * STEP;
        if number < self.at || from > self.at {
            self.key = self.marks.get(mark as usize)?.clone();
            self.at = from;
        }
        while self.at < number {
            self.key = self.key.next();
            self.at += 1;
            let steps = self.at - self.first;
            if steps.is_multiple_of(STEP) && steps / STEP == self.marks.len() as u64 {
                self.marks.push(self.key.clone());
            }
        }
        Some(self.key.derived())
    }
}
