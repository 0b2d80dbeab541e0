//! Finds the keys that stand behind a blank, 64 bytes at a time: whole runs of bytes are followed by the carries of an addition, so that
//! neither the length of words nor their number decides what a pair costs.

use super::scan::Key;

/// The separators of one text that have such a key before them, from the front to the back.
pub struct Keys {
    separator: u8,
    /// Where the window begins; nothing has been seen when `next` is 0.
    base: usize,
    next: usize,
    /// Separators with a key, of the window.
    found: u64,
    not_words: u64,
    carry: Carry,
}

/// What runs into the window from the one before it, as bit 0.
#[derive(Clone, Copy, Default)]
struct Carry {
    blank: u64,
    /// A word that began behind a blank.
    key: u64,
    /// Blanks behind such a word.
    gap: u64,
    /// Any word.
    word: u64,
}

impl Keys {
    pub fn new(separator: u8) -> Keys {
        Keys { separator, base: 0, next: 0, found: 0, not_words: 0, carry: Carry::default() }
    }

    /// The first key with its separator at `at` or later. Always of the same text, and never for an earlier place again.
    #[inline]
    pub fn next(&mut self, text: &[u8], at: usize) -> Option<Key> {
        loop {
            if at < self.next {
                let ahead = self.found & u64::MAX << at.saturating_sub(self.base);
                if ahead != 0 {
                    return Some(self.key(text, ahead.trailing_zeros() as usize));
                }
            }
            if !self.load(text) {
                return None;
            }
        }
    }

    #[inline]
    fn key(&self, text: &[u8], bit: usize) -> Key {
        let separator = self.base + bit;
        let mut end = separator;
        while end > 0 && text.get(end - 1) == Some(&b' ') {
            end -= 1;
        }
        let before = end.checked_sub(self.base).map_or(0, |bit| self.not_words & !(u64::MAX << bit));
        let start = match before {
            // The word began in an earlier window.
            0 => text.get(..end).unwrap_or_default().iter().rposition(|b| *b == b' ').map_or(0, |at| at + 1),
            _ => self.base + 64 - before.leading_zeros() as usize,
        };
        Key { start, end, separator }
    }

    /// The next window.
    fn load(&mut self, text: &[u8]) -> bool {
        let Some(rest) = text.get(self.next..).filter(|rest| !rest.is_empty()) else { return false };
        let mut padded = [0; 64];
        let window = match rest.first_chunk::<64>() {
            Some(window) => window,
            None => {
                padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                &padded
            }
        };
        let not_words = wire::not_word64(window);
        let blanks = wire::mask64(window, *b" ");
        let separators = wire::mask64(window, [self.separator]);
        let (words, carry) = (!not_words, self.carry);
        let starts = words & !(words << 1 | carry.word);
        // A run and a bit at its beginning add up to a bit behind its end.
        let (sum, over) = words.overflowing_add((starts & (blanks << 1 | carry.blank)) | carry.key);
        let key_ends = sum & not_words;
        let (gaps, gap_over) = blanks.overflowing_add((key_ends & blanks) | carry.gap);
        let gap_ends = gaps & !blanks;
        self.found = (key_ends | gap_ends) & separators;
        self.carry = Carry {
            blank: blanks >> 63,
            key: u64::from(over),
            gap: u64::from(gap_over),
            word: words >> 63,
        };
        (self.base, self.next, self.not_words) = (self.next, self.next + 64, not_words);
        true
    }
}
