//! Whether a key comes twice, found out while pairs come.

use crate::{Span, Value};

/// Keys that are compared with one another where their marks are the same. Of more keys only the marks count.
const COMPARED_MAX: usize = 64;

#[derive(Default)]
pub struct Seen {
    marks: [u64; 16],
}

impl Seen {
    /// Notes a key. What stands in front of it in `cells` from `mark` on are keys and values by turns. True
    /// where the key may have come before: of the first pairs that is certain.
    #[inline]
    pub fn is_again(&mut self, cells: &[Value], mark: usize, key: Span, text: &[u8]) -> bool {
        self.note(Seen::bit_of(text, key)) && may_have(cells.get(mark..).unwrap_or_default(), key, text)
    }

    /// Notes the bit of a key; whether it was noted before, for this key or for another.
    #[inline(always)]
    pub(crate) fn note(&mut self, bit: u16) -> bool {
        let Some(known) = self.marks.get_mut(bit as usize / 64) else { return true };
        let word = *known;
        *known = word | 1 << (bit % 64);
        word >> (bit % 64) & 1 != 0
    }

    /// One of 1024 bits of a key: of its first bytes and its length.
    #[inline]
    pub(crate) fn bit_of(text: &[u8], key: Span) -> u16 {
        let (start, len) = (key.start as usize, key.len.min(8));
        let word = match text.get(start..).and_then(|rest| rest.first_chunk::<8>()) {
            Some(word) => u64::from_le_bytes(*word),
            None => key.of(text).iter().take(8).rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        // Bytes behind the key do not count.
        let word = if len == 0 { 0 } else { word << (64 - 8 * len) };
        ((word ^ u64::from(key.len)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as u16
    }
}

/// Whether a key is among earlier ones; of many that is not known.
#[cold]
pub(crate) fn may_have(earlier: &[Value], key: Span, text: &[u8]) -> bool {
    let key = key.of(text);
    earlier.len() > 2 * COMPARED_MAX
        || earlier.iter().step_by(2).any(|known| match known {
            Value::String(span) => span.of(text) == key,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_that_comes_twice_is_noticed(keys in proptest::collection::vec("[ab]{0,3}", 0..80)) {
            let (mut text, mut cells, mut seen) = (Vec::new(), Vec::new(), Seen::default());
            for (at, key) in keys.iter().enumerate() {
                let span = Span::new(text.len(), key.len());
                text.extend_from_slice(key.as_bytes());
                let again = seen.is_again(&cells, 0, span, &text);
                let before = keys[..at].contains(key);
                prop_assert!(again || !before, "{key} at {at}");
                prop_assert!(again == before || at > COMPARED_MAX, "{key} at {at}");
                cells.extend([Value::String(span), Value::Null]);
            }
        }
    }
}
