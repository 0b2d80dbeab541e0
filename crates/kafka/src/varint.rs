//! Numbers of changing length, as in record batches: zigzag, then seven bits a byte, the lowest first.

/// The most bytes of a number.
pub const BYTES_MAX: usize = 5;

fn zigzag(n: i32) -> u32 {
    ((n << 1) ^ (n >> 31)) as u32
}

/// Writes the number at the beginning of `out`, and returns its length.
pub fn write(n: i32, out: &mut [u8]) -> usize {
    let mut left = zigzag(n);
    for (at, byte) in out.iter_mut().enumerate() {
        if left < 0x80 {
            *byte = left as u8;
            return at + 1;
        }
        *byte = left as u8 | 0x80;
        left >>= 7;
    }
    out.len()
}

pub fn append(out: &mut Vec<u8>, n: i32) {
    let mut bytes = [0; BYTES_MAX];
    let length = write(n, &mut bytes);
    out.extend_from_slice(bytes.get(..length).unwrap_or_default());
}

/// Takes a number from the front of `input`.
#[inline]
pub fn take(input: &mut &[u8]) -> Option<i32> {
    let mut n = 0u32;
    for at in 0..BYTES_MAX {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        n |= u32::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((n >> 1) as i32 ^ -((n & 1) as i32));
        }
    }
    None
}

/// The most bytes of a long number.
const LONG_BYTES_MAX: usize = 10;

/// Takes a long number from the front of `input`.
#[inline]
pub fn take_long(input: &mut &[u8]) -> Option<i64> {
    let mut n = 0u64;
    for at in 0..LONG_BYTES_MAX {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        n |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
        if byte & 0x80 == 0 {
            return Some((n >> 1) as i64 ^ -((n & 1) as i64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_numbers() {
        for (n, expected) in [(0, &[0][..]), (-1, &[1]), (1, &[2]), (63, &[126]), (64, &[128, 1])] {
            let mut out = Vec::new();
            append(&mut out, n);
            assert_eq!(out, expected, "{n}");
        }
        assert_eq!(take(&mut &[0x80; 9][..]), None);
        assert_eq!(take_long(&mut &[0x80; 20][..]), None);
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(take_long(&mut &most[..]), Some(i64::MIN));
    }

    proptest! {
        #[test]
        fn round_trip(n: i32) {
            let mut out = Vec::new();
            append(&mut out, n);
            prop_assert!(out.len() <= BYTES_MAX);
            let mut input = out.as_slice();
            prop_assert_eq!(take(&mut input), Some(n));
            prop_assert!(input.is_empty());
            prop_assert_eq!(take_long(&mut out.as_slice()), Some(i64::from(n)));
        }
    }
}
