//! Classifies 64 bytes at once: one bit for each byte that is one of a few. A header's fields are then found
//! with bit operations, which do not wait for each other's memory accesses. The one place of this crate with
//! `unsafe`, beside the file below it: vector registers, the widest there are.

use super::Rows;
use crate::pairs::Endings;

/// One bit for each byte of the window that is one of `needles`, the first byte lowest.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
pub fn mask64<const N: usize>(window: &[u8; 64], needles: [u8; N]) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    let (chunks, _) = window.as_chunks::<16>();
    let mut mask = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        // SAFETY: SSE2 belongs to every x86-64, and the unaligned load reads the sixteen bytes of `chunk`.
        let hits = unsafe {
            let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
            let mut hits = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(needles[0] as i8));
            for needle in &needles[1..] {
                hits = _mm_or_si128(hits, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(*needle as i8)));
            }
            _mm_movemask_epi8(hits)
        };
        mask |= u64::from(hits as u32) << (16 * index);
    }
    mask
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn mask64<const N: usize>(window: &[u8; 64], needles: [u8; N]) -> u64 {
    let bit = |(index, byte): (usize, &u8)| u64::from(needles.contains(byte)) << index;
    window.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
}

/// One bit for each byte of the window that is no letter, digit, `_`, `.` or `-`.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
pub fn not_word64(window: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_cmplt_epi8, _mm_loadu_si128,
        _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    let (chunks, _) = window.as_chunks::<16>();
    let mut mask = 0;
    for (index, chunk) in chunks.iter().enumerate() {
        // SAFETY: as in `mask64`.
        let words = unsafe {
            let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
            let one = |byte: u8| _mm_set1_epi8(byte as i8);
            let within = |bytes, first: u8, last: u8| {
                _mm_and_si128(_mm_cmpgt_epi8(bytes, one(first - 1)), _mm_cmplt_epi8(bytes, one(last + 1)))
            };
            let letters = within(_mm_or_si128(bytes, one(0x20)), b'a', b'z');
            let digits = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, one(b'/')), within(bytes, b'-', b'9'));
            let words = _mm_or_si128(letters, _mm_or_si128(digits, _mm_cmpeq_epi8(bytes, one(b'_'))));
            _mm_movemask_epi8(words)
        };
        mask |= u64::from(words as u32) << (16 * index);
    }
    !mask
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn not_word64(window: &[u8; 64]) -> u64 {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    let bit = |(index, byte): (usize, &u8)| u64::from(!word(*byte)) << index;
    window.iter().enumerate().map(bit).fold(0, |mask, bit| mask | bit)
}

/// The bytes of the window that end a name of STRUCTURED-DATA (anything but printable ASCII, `=`, `]`, `"`),
/// and those that end or interrupt a value (`"`, `\`, `]`).
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
pub(crate) fn sdata_marks(window: &[u8; 64]) -> (u64, u64) {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    let (chunks, _) = window.as_chunks::<16>();
    let (mut names, mut values) = (0, 0);
    for (index, chunk) in chunks.iter().enumerate() {
        // SAFETY: as in `mask64`.
        let (name, value) = unsafe {
            let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
            let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            let common = _mm_or_si128(is(b'"'), is(b']'));
            // As signed numbers, bytes from 128 on are below 33 too.
            let odd = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(33)), is(127));
            let names = _mm_or_si128(_mm_or_si128(common, odd), is(b'='));
            (_mm_movemask_epi8(names), _mm_movemask_epi8(_mm_or_si128(common, is(b'\\'))))
        };
        names |= u64::from(name as u32) << (16 * index);
        values |= u64::from(value as u32) << (16 * index);
    }
    (names, values)
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn sdata_marks(window: &[u8; 64]) -> (u64, u64) {
    let mut marks = (0, mask64(window, *b"\"\\]"));
    for (index, byte) in window.iter().enumerate() {
        let ends = !matches!(byte, 33..=126) || matches!(byte, b'=' | b']' | b'"');
        marks.0 |= u64::from(ends) << index;
    }
    marks
}

/// Where the signs of STRUCTURED-DATA stand in a window, one bit for each byte.
pub(crate) struct SdataSigns {
    pub quotes: u64,
    pub brackets: u64,
    pub equals: u64,
    pub blanks: u64,
    /// Backslashes, and everything but printable ASCII and blanks.
    pub others: u64,
}

/// Where the signs of JSON stand in a window, in and outside strings alike.
pub(crate) struct JsonSigns {
    pub quotes: u64,
    pub backslashes: u64,
    /// `{` and `[`.
    pub opens: u64,
    /// `}` and `]`.
    pub closes: u64,
    /// `:` and `,`.
    pub separators: u64,
    pub blanks: u64,
    pub digits: u64,
}

/// Where the signs of `key=value` texts stand in a window, in and outside quotes alike.
pub(crate) struct PairSigns {
    /// As [`not_word64`].
    pub not_words: u64,
    pub blanks: u64,
    /// Between keys and values.
    pub separators: u64,
    /// First bytes of separators of pairs.
    pub pairs: u64,
    pub quotes: u64,
}

/// Work whose inner loops look at windows. [`with_lanes`] runs it compiled for the widest registers the
/// processor has.
pub(crate) trait Windowed {
    /// Must be `#[inline(always)]`, like all that is called with `L`.
    fn run<L: Lanes>(self);
}

/// One look at a window.
pub(crate) trait Lanes: Copy {
    /// As [`mask64`].
    fn mask<const N: usize>(window: &[u8; 64], needles: [u8; N]) -> u64;
    /// `None` where looking for all of them costs more than looking for what comes next.
    fn sdata_signs(window: &[u8; 64]) -> Option<SdataSigns>;
    fn json_signs(window: &[u8; 64]) -> JsonSigns;
    fn pair_signs(window: &[u8; 64], separator: u8, pair: u8) -> PairSigns;
    /// A bit for each byte that may stand behind one of the keys, by as much of them as the window has.
    fn behind_keys(window: &[u8; 64], endings: &Endings) -> u64;
}

/// What every processor of the target has.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

impl Lanes for Plain {
    #[inline(always)]
    fn mask<const N: usize>(window: &[u8; 64], needles: [u8; N]) -> u64 {
        mask64(window, needles)
    }

    #[inline(always)]
    fn sdata_signs(_: &[u8; 64]) -> Option<SdataSigns> {
        None
    }

    #[inline(always)]
    fn json_signs(window: &[u8; 64]) -> JsonSigns {
        JsonSigns {
            quotes: mask64(window, *b"\""),
            backslashes: mask64(window, *b"\\"),
            opens: mask64(window, *b"{["),
            closes: mask64(window, *b"}]"),
            separators: mask64(window, *b":,"),
            blanks: mask64(window, *b" "),
            digits: mask64(window, *b"0123456789"),
        }
    }

    #[inline(always)]
    fn pair_signs(window: &[u8; 64], separator: u8, pair: u8) -> PairSigns {
        PairSigns {
            not_words: not_word64(window),
            blanks: mask64(window, *b" "),
            separators: mask64(window, [separator]),
            pairs: mask64(window, [pair]),
            quotes: mask64(window, *b"\"'"),
        }
    }

    /// To look at each byte would cost more than to ask for each key.
    #[inline(always)]
    fn behind_keys(_window: &[u8; 64], _endings: &Endings) -> u64 {
        u64::MAX
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn with_lanes(work: impl Windowed) {
    work.run::<Plain>();
}

#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{is_wide, with_lanes};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, unsafe_op_in_unsafe_fn)]
mod x86_64;
