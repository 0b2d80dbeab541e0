//! Base64 between buffers whose lengths are known, so that an entry is sealed in the place where it stands.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Characters for so many bytes, with the padding.
pub(crate) const fn length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// Fills the front of `out` with the characters of `bytes`; nothing is written where there is no room for
/// all.
pub(crate) fn encode(bytes: &[u8], out: &mut [u8]) {
    let _ = STANDARD.encode_slice(bytes, out);
}

/// Appends the bytes of a text, which has to be exactly what [`encode`] makes; `None` when it is not.
pub(crate) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    STANDARD.decode_vec(text, out).ok()
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
