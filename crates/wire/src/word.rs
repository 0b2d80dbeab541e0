//! Finds the end of a header word eight bytes at a time: header words are short, so a call into a general search would cost more.

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Eight bytes of `text` at `at`, the first one lowest; `None` when fewer are there.
#[inline(always)]
pub(crate) fn load8(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The high bit of each byte equal to `byte`. Exact up to and including the lowest hit; bytes above a hit may be marked wrongly.
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
}
