//! The numbers seen of one connection: a bitmap in pages, so that memory follows what was seen, not the
//! numbers' size.

use std::sync::atomic::{AtomicUsize, Ordering};

const PAGE_WORDS: usize = 1024;
const PAGE_BITS: u64 = PAGE_WORDS as u64 * 64;
/// Pages of all connections together: 2 GiB, enough for 17 thousand million messages without gaps.
const PAGES_MAX: usize = 262_144;

static PAGES: AtomicUsize = AtomicUsize::new(0);

#[derive(Default)]
pub struct Seen {
    pages: Vec<Option<Box<[u64; PAGE_WORDS]>>>,
}

impl Seen {
    /// True when `number` is new, false when it was there; `None` when there is no room to remember it.
    pub fn insert(&mut self, number: u64) -> Option<bool> {
        let place = (number / PAGE_BITS) as usize;
        if place >= self.pages.len() {
            self.pages.resize_with(place + 1, || None);
        }
        let page = match &mut self.pages[place] {
            Some(page) => page,
            empty => {
                if PAGES.fetch_add(1, Ordering::Relaxed) >= PAGES_MAX {
                    PAGES.fetch_sub(1, Ordering::Relaxed);
                    return None;
                }
                empty.insert(Box::new([0; PAGE_WORDS]))
            }
        };
        let word = &mut page[(number % PAGE_BITS / 64) as usize];
        let bit = 1 << (number % 64);
        let new = *word & bit == 0;
        *word |= bit;
        Some(new)
    }

    /// One more than the highest number.
    pub fn end(&self) -> u64 {
        for (place, page) in self.pages.iter().enumerate().rev() {
            let highest =
                page.as_ref().and_then(|page| page.iter().enumerate().rfind(|(_, word)| **word != 0));
            if let Some((index, word)) = highest {
                return place as u64 * PAGE_BITS + index as u64 * 64 + 64 - u64::from(word.leading_zeros());
            }
        }
        0
    }

    /// How many different numbers less than `limit` were seen.
    pub fn count_below(&self, limit: u64) -> u64 {
        self.words().map(|(first, word)| u64::from((word & below(first, limit)).count_ones())).sum()
    }

    /// The first `max` runs of numbers less than `limit` that were not seen, as inclusive ranges.
    pub fn gaps(&self, limit: u64, max: usize) -> Vec<(u64, u64)> {
        let mut gaps = Vec::new();
        // Everything below `next` has been dealt with.
        let mut next = 0;
        for (first, word) in self.words() {
            let mut left = word & below(first, limit);
            while left != 0 {
                let number = first + u64::from(left.trailing_zeros());
                if number > next {
                    gaps.push((next, number - 1));
                    if gaps.len() == max {
                        return gaps;
                    }
                }
                next = number + 1;
                left &= left - 1;
            }
        }
        if next < limit {
            gaps.push((next, limit - 1));
        }
        gaps
    }

    /// The non-zero words with the number of their first bit.
    fn words(&self) -> impl Iterator<Item = (u64, u64)> {
        self.pages.iter().enumerate().flat_map(|(place, page)| {
            let words = page.as_ref().map_or(&[][..], |page| &page[..]);
            let first = place as u64 * PAGE_BITS;
            words
                .iter()
                .enumerate()
                .filter(|(_, word)| **word != 0)
                .map(move |(i, &word)| (first + i as u64 * 64, word))
        })
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        PAGES.fetch_sub(self.pages.iter().flatten().count(), Ordering::Relaxed);
    }
}

/// The bits of the word starting at `first` whose numbers are less than `limit`.
fn below(first: u64, limit: u64) -> u64 {
    match limit.saturating_sub(first) {
        0 => 0,
        count @ 1..64 => (1 << count) - 1,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_ends_and_gaps() {
        let mut seen = Seen::default();
        for number in [0, 1, 2, 5, 63, 64, 70_000] {
            assert_eq!(seen.insert(number), Some(true));
        }
        assert_eq!(seen.insert(64), Some(false));
        assert_eq!(seen.end(), 70_001);
        assert_eq!(seen.count_below(u64::MAX), 7);
        assert_eq!(seen.count_below(64), 5);
        assert_eq!(seen.gaps(70_001, 8), [(3, 4), (6, 62), (65, 69_999)]);
        assert_eq!(seen.gaps(70_010, 8).last(), Some(&(70_001, 70_009)));
        assert_eq!(seen.gaps(70_001, 1), [(3, 4)]);
    }

    #[test]
    fn nothing_seen() {
        let seen = Seen::default();
        assert_eq!((seen.end(), seen.count_below(10)), (0, 0));
        assert_eq!(seen.gaps(10, 8), [(0, 9)]);
    }
}
