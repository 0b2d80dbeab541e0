//! Fixed-width decimal numbers written over existing bytes: what makes patching a prebuilt message cheap.

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Fills `out` with the decimal digits of `value`, zero-padded; digits that do not fit are cut off at the
/// left.
pub fn put(out: &mut [u8], mut value: u64) {
    let mut end = out.len();
    while end >= 2 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        out[end - 2..end].copy_from_slice(&PAIRS[pair..pair + 2]);
        end -= 2;
    }
    if end == 1 {
        out[0] = b'0' + (value % 10) as u8;
    }
}

/// Reads digits only; `None` for anything else or for more than 18 digits.
pub fn parse(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter()
        .try_fold(0u64, |value, &byte| byte.is_ascii_digit().then(|| value * 10 + u64::from(byte - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pads_and_cuts() {
        for (value, width, expected) in [
            (0, 9, "000000000"),
            (123_456_789, 9, "123456789"),
            (7, 4, "0007"),
            (123_456, 4, "3456"),
            (42, 10, "0000000042"),
        ] {
            let mut out = vec![b'x'; width];
            put(&mut out, value);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn parses_digits_only() {
        assert_eq!(parse(b"000000012"), Some(12));
        assert_eq!(parse(b"00000001x"), None);
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"1234567890123456789"), None);
    }
}
