//! Base64 between buffers whose lengths are known, so that an entry is sealed in the place where it stands.

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const NONE: u8 = 0xff;

static VALUES: [u8; 256] = {
    let mut values = [NONE; 256];
    let mut i = 0;
    while i < 64 {
        values[DIGITS[i] as usize] = i as u8;
        i += 1;
    }
    values
};

/// Characters for so many bytes, with the padding.
pub(crate) const fn length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Fills the front of `out` with the characters of `bytes`; what has no room is left out.
pub(crate) fn encode(bytes: &[u8], out: &mut [u8]) {
    for (group, place) in bytes.chunks(3).zip(out.chunks_exact_mut(4)) {
        let at = |i: usize| u32::from(group.get(i).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for (i, digit) in place.iter_mut().enumerate() {
            *digit = match i <= group.len() {
                true => DIGITS[(bits >> (18 - 6 * i)) as usize & 63],
                false => b'=',
            };
        }
    }
}

/// Appends the bytes of a text, which has to be exactly what [`encode`] makes; `None` when it is not.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    out.reserve(text.len() / 4 * 3);
    let quads = text.chunks_exact(4);
    let last = quads.len().wrapping_sub(1);
    for (at, quad) in quads.enumerate() {
        let padding = if at == last { quad.iter().rev().take_while(|c| **c == b'=').count() } else { 0 };
        if padding > 2 {
            return None;
        }
        let mut bits = 0u32;
        for digit in quad.iter().take(4 - padding) {
            let value = VALUES[*digit as usize];
            if value == NONE {
                return None;
            }
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * padding;
        let [_, bytes @ ..] = bits.to_be_bytes();
        let (kept, rest) = bytes.split_at(3 - padding);
        if rest.iter().any(|byte| *byte != 0) {
            return None;
        }
        out.extend_from_slice(kept);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(bytes: &[u8]) -> String {
        let mut out = vec![0; length(bytes.len())];
        encode(bytes, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn known_texts() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(encoded(bytes.as_bytes()), text);
        }
        assert_eq!(encoded(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn only_its_own_form_is_read() {
        for text in ["Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zg==Zg==", "Zm 9", "Zm9v\n"] {
            assert_eq!(decode(text.as_bytes(), &mut Vec::new()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut back = Vec::new();
            prop_assert_eq!(decode(encoded(&bytes).as_bytes(), &mut back), Some(()));
            prop_assert_eq!(back, bytes);
        }
    }
}
