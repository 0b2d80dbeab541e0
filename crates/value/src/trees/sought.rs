//! A text key that is looked for among others.

use crate::Value;

/// Its first eight bytes are compared as one word, so that few comparisons need a call.
pub(super) struct Sought<'a> {
    key: &'a [u8],
    word: u64,
    mask: u64,
}

impl<'a> Sought<'a> {
    #[inline]
    pub fn new(key: &'a [u8]) -> Sought<'a> {
        let mask = if key.len() < 8 { (1 << (8 * key.len())) - 1 } else { u64::MAX };
        Sought { key, word: first_bytes(key), mask }
    }

    /// One of so many places, a power of two.
    #[inline]
    pub fn place(&self, places: usize) -> usize {
        (self.word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize & (places - 1)
    }

    /// Whether a key of a dictionary is the one.
    #[inline(always)]
    pub fn is(&self, known: Value, text: &[u8]) -> bool {
        let Value::String(span) = known else { return false };
        if span.len as usize != self.key.len() {
            return false;
        }
        match text.get(span.start as usize..).and_then(|rest| rest.first_chunk::<8>()) {
            // What stands behind a short key does not count.
            Some(bytes) => {
                (u64::from_le_bytes(*bytes) ^ self.word) & self.mask == 0
                    && (self.key.len() <= 8 || span.of(text) == self.key)
            }
            None => span.of(text) == self.key,
        }
    }
}

/// The first eight bytes, the first one lowest, or fewer.
#[inline]
fn first_bytes(key: &[u8]) -> u64 {
    if let Some(eight) = key.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    if let (Some(first), Some(last)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        // What both have is the same in both.
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        return u64::from(first) | u64::from(last) << (8 * (key.len() - 4));
    }
    key.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Span;

    #[test]
    fn keys_of_all_lengths_are_told_apart() {
        let key = |len: usize, change: usize| -> Vec<u8> {
            (0..len).map(|at| b'a' + at as u8 % 7 + u8::from(at == change)).collect()
        };
        for (len, change) in (0..20).flat_map(|len| (0..=len).map(move |change| (len, change))) {
            let known = key(len, len);
            for behind in ["", "and more text"] {
                let text = [b"x", &known[..], behind.as_bytes()].concat();
                let at = Value::String(Span::new(1, len));
                let asked = key(len, change);
                assert_eq!(Sought::new(&asked).is(at, &text), asked == known, "{len} {change}");
                assert!(!Sought::new(&key(len + 1, len + 1)).is(at, &text));
            }
        }
        assert!(!Sought::new(b"").is(Value::Null, b"x"));
    }
}
