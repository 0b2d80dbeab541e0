//! What the filters of a set ask of tags, answered with one look at those a message has.

use pattern::PATTERNS_MAX;
use record::{Batch, Record, TagId};

/// The different `tags()` of a set: whether a message has one of a few tags.
pub struct AskedTags {
    asked: Vec<(u64, Vec<TagId>)>,
    /// By tag of the first 64, the tests that hold with it.
    first: [u64; 64],
    /// Those of the first 64 that any test asks for.
    word: u64,
    /// The same of other tags, by their number.
    more: Vec<(TagId, u64)>,
}

impl Default for AskedTags {
    fn default() -> AskedTags {
        AskedTags { asked: Vec::new(), first: [0; 64], word: 0, more: Vec::new() }
    }
}

impl AskedTags {
    /// The bit of a test; `None` when there is no room for another one.
    pub fn add(&mut self, word: u64, more: &[TagId]) -> Option<u32> {
        let known = self.asked.iter().position(|(tags, others)| *tags == word && others == more);
        let bit = known.unwrap_or(self.asked.len());
        if bit == PATTERNS_MAX {
            return None;
        }
        if known.is_none() {
            self.asked.push((word, more.to_vec()));
            self.word |= word;
            let tests = self.first.iter_mut().enumerate();
            tests.filter(|(tag, _)| word & (1 << tag) != 0).for_each(|(_, tests)| *tests |= 1 << bit);
            for tag in more {
                match self.more.binary_search_by_key(tag, |(tag, _)| *tag) {
                    Ok(at) => self.more[at].1 |= 1 << bit,
                    Err(at) => self.more.insert(at, (*tag, 1 << bit)),
                }
            }
        }
        u32::try_from(bit).ok()
    }

    pub fn len(&self) -> usize {
        self.asked.len()
    }

    /// The tests that hold for a message.
    #[inline]
    pub fn of(&self, batch: &Batch, record: &Record) -> u64 {
        let mut found = 0;
        let mut left = record.tags.0 & self.word;
        while left != 0 {
            found |= self.first[left.trailing_zeros() as usize];
            left &= left - 1;
        }
        if !self.more.is_empty() && record.has_more_tags() {
            // Those of the first 64 are none of these.
            batch.each_more_tag(record, |tag| {
                if let Ok(at) = self.more.binary_search_by_key(&tag, |(tag, _)| *tag) {
                    found |= self.more.get(at).map_or(0, |(_, tests)| *tests);
                }
            });
        }
        found
    }
}
