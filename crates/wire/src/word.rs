//! Finds the end of a header word eight bytes at a time: header words are short, so a call into a general
//! search would cost more.

pub(crate) mod chunks;
mod places;
mod rows;
pub(crate) mod wide;

pub(crate) use places::Places;
pub(crate) use rows::Rows;
pub(crate) use wide::{JsonSigns, Lanes, PairSigns, Plain, Windowed, sdata_marks, with_lanes};

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight bytes of `text` at `at`, the first one lowest; `None` when fewer are there.
#[inline(always)]
pub(crate) fn load8(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The high bit of each byte equal to `byte`. Exact up to and including the lowest hit; bytes above a hit may
/// be marked wrongly.
#[inline(always)]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let x = word ^ (LOW * byte as u64);
    x.wrapping_sub(LOW) & !x & HIGH
}

/// The index of the first of `needles` at or after `from`; the length of the text when there is none.
#[inline(always)]
pub(crate) fn find<const N: usize>(text: &[u8], from: usize, needles: [u8; N]) -> usize {
    let mut at = from;
    while let Some(word) = load8(text, at) {
        let hits = needles.iter().fold(0, |hits, needle| hits | equal(word, *needle));
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().position(|byte| needles.contains(byte)).map_or(text.len(), |index| at + index)
}

/// The first byte at or after `from` that is not printable ASCII (33..=126) or is one of `needles`; the
/// text's length when all are fine.
#[inline(always)]
pub(crate) fn find_not_printable<const N: usize>(text: &[u8], from: usize, needles: [u8; N]) -> usize {
    let mut at = from;
    while let Some(word) = load8(text, at) {
        let low = word.wrapping_sub(LOW * 33) & !word;
        let high = word | word.wrapping_add(LOW);
        let found = needles.iter().fold((low | high) & HIGH, |hits, needle| hits | equal(word, *needle));
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    let bad = |byte: &u8| !matches!(byte, 33..=126) || needles.contains(byte);
    rest.iter().position(bad).map_or(text.len(), |index| at + index)
}

/// The decimal digits at the start of the word: how many, and their value as if followed by zeros up to eight
/// digits.
#[inline(always)]
pub(crate) fn digits8(word: u64) -> (usize, u64) {
    let values = word ^ (LOW * 0x30);
    let others = (values.wrapping_add(LOW * 0x76) | values) & HIGH;
    let count = others.trailing_zeros() as usize / 8;
    let values = if count < 8 { values & ((1 << (8 * count)) - 1) } else { values };
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let low = (pairs & 0xff_0000_00ff).wrapping_mul(0xf_4240_0000_0064);
    let high = (pairs >> 16 & 0xff_0000_00ff).wrapping_mul(0x2710_0000_0001);
    (count, low.wrapping_add(high) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_plain_search_finds() {
        let text = b"abc def:ghi[jkl]\x81\x80\x01 :::[[[  a quite long word without an end";
        for from in 0..=text.len() {
            for needles in [[b' ', b':', b'['], [b']', b'\x80', b'\x01']] {
                let plain = (from..text.len()).find(|i| needles.contains(&text[*i])).unwrap_or(text.len());
                assert_eq!(find(text, from, needles), plain, "from {from}");
            }
        }
    }

    #[test]
    fn classifies_what_a_plain_search_finds() {
        let mut text = [b'x'; 200];
        let mut seed = 7u32;
        for byte in &mut text {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (seed >> 24) as u8;
        }
        text[20..42].copy_from_slice(b"a:b [c]d= \"~\x7f\x1f !z9_\\\x80\xff");
        for from in 0..136 {
            let window = text[from..].first_chunk::<64>().expect("enough bytes");
            let plain = (0..64).filter(|i| b" :[]".contains(&window[*i])).fold(0u64, |m, i| m | 1 << i);
            assert_eq!(wide::mask64(window, *b" :[]"), plain);
            let (names, values) = sdata_marks(window);
            let ends = |i: &usize| !matches!(window[*i], 33..=126) || b"=]\"".contains(&window[*i]);
            assert_eq!(names, (0..64).filter(ends).fold(0u64, |m, i| m | 1 << i));
            assert_eq!(values, wide::mask64(window, *b"\"\\]"));
        }
        for from in 0..=200 {
            let bad = |i: &usize| !matches!(text[*i], 33..=126) || b"=]\"".contains(&text[*i]);
            let plain = (from..200).find(bad).unwrap_or(200);
            assert_eq!(find_not_printable(&text, from, *b"=]\""), plain);
        }
    }

    #[test]
    fn digits() {
        for (text, count, value) in [
            (b"12345678", 8, 12_345_678),
            (b"123456+0", 6, 12_345_600),
            (b"007Z0000", 3, 700_000),
            (b"Z1234567", 0, 0),
            (b"9\xff999999", 1, 90_000_000),
            (b"99999999", 8, 99_999_999),
        ] {
            assert_eq!(digits8(u64::from_le_bytes(*text)), (count, value), "{}", text.escape_ascii());
        }
    }
}
