//! The keys of the text that was read before: texts of one kind have the same keys in the same order, so that
//! a key is mostly known by one look.

use crate::{Seen, Span};

/// Keys that are remembered.
const KEYS_MAX: usize = 256;
/// Bytes of a key with its quotes and its colon; longer ones are not remembered.
const BYTES: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Lately {
    keys: Vec<Known>,
    /// The place of the key that is read next.
    next: usize,
}

/// A key, as it stands in the text with quotes and colon.
#[derive(Clone, Copy, Debug)]
struct Known {
    bytes: u128,
    /// The bits that are the key's.
    mask: u128,
    len: u32,
    /// What [`Seen`] knows it by.
    bit: u16,
}

impl Known {
    /// No text is this.
    const NONE: Known = Known { bytes: 1, mask: 0, len: 0, bit: 0 };
}

impl Lately {
    /// Begins with the first key of another text.
    pub fn begin(&mut self) {
        self.next = 0;
    }

    /// The key at `at`, if it is the one that stood there in the text before, with its bit; its quotes and a
    /// colon are around it.
    #[inline(always)]
    pub fn key(&mut self, text: &[u8], at: usize) -> Option<(Span, u16)> {
        let known = self.keys.get(self.next)?;
        let window = text.get(at..)?.first_chunk::<BYTES>()?;
        if u128::from_le_bytes(*window) & known.mask != known.bytes {
            return None;
        }
        self.next += 1;
        Some((Span { start: at as u32 + 1, len: known.len }, known.bit))
    }

    /// Remembers a key that was read with its quotes and a colon behind it.
    pub fn learn(&mut self, text: &[u8], key: Span) {
        let (start, end) = (key.start as usize, key.end());
        let whole = start.checked_sub(1).and_then(|start| text.get(start..end + 2));
        // What a key with escapes stands for is not in the text.
        let is_whole = |whole: &&[u8]| whole.starts_with(b"\"") && whole.ends_with(b"\":");
        let known = match whole.filter(is_whole).filter(|whole| whole.len() <= BYTES) {
            Some(whole) => Known {
                bytes: whole.iter().rev().fold(0, |bytes, byte| bytes << 8 | u128::from(*byte)),
                mask: u128::MAX >> (8 * (BYTES - whole.len())),
                len: key.len,
                bit: Seen::bit_of(text, key),
            },
            None => Known::NONE,
        };
        self.put(known);
    }

    /// Goes on behind a key that is not remembered.
    pub fn pass(&mut self) {
        self.put(Known::NONE);
    }

    fn put(&mut self, known: Known) {
        match self.keys.get_mut(self.next) {
            Some(place) => *place = known,
            None if self.next < KEYS_MAX => self.keys.push(known),
            None => return,
        }
        self.next += 1;
    }
}
