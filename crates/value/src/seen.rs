//! Whether a key comes twice, found out while pairs come.

use crate::{Span, Value};

/// Keys that are compared with one another where their marks are the same. Of more keys only the marks count.
const COMPARED_MAX: usize = 64;

#[derive(Default)]
pub struct Seen {
    marks: [u64; 4],
}

impl Seen {
    /// Notes a key. `earlier` is what stands in front of it, keys and values by turns. True where the key may
    /// have come before: of the first pairs that is certain.
    #[inline]
    pub fn is_again(&mut self, earlier: &[Value], key: Span, text: &[u8]) -> bool {
        let bytes = key.of(text);
        let ends = bytes.first().zip(bytes.last()).map_or(0, |(a, b)| u32::from(*a) | u32::from(*b) << 8);
        let middle = bytes.get(bytes.len() / 2).copied().map_or(0, u32::from);
        let mark = (ends | middle << 16 | key.len << 24).wrapping_mul(0x9e37_79b1) >> 24;
        let (word, bit) = (mark as usize / 64, 1u64 << (mark % 64));
        let Some(known) = self.marks.get_mut(word) else { return true };
        let marked = *known & bit != 0;
        *known |= bit;
        marked && (earlier.len() > 2 * COMPARED_MAX || has(earlier, bytes, text))
    }
}

#[cold]
fn has(earlier: &[Value], key: &[u8], text: &[u8]) -> bool {
    earlier.iter().step_by(2).any(|known| match known {
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
                let again = seen.is_again(&cells, span, &text);
                let before = keys[..at].contains(key);
                prop_assert!(again || !before, "{key} at {at}");
                prop_assert!(again == before || at > COMPARED_MAX, "{key} at {at}");
                cells.extend([Value::String(span), Value::Null]);
            }
        }
    }
}
