//! Classifies 64 bytes at once: one bit for each byte that is one of a few. A header's fields are then found
//! with bit operations, which do not wait for each other's memory accesses. The one place of this crate with
//! `unsafe`: vector registers, the widest there are.

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
mod x86_64 {
    use super::{JsonSigns, Lanes, PairSigns, Plain, SdataSigns, Windowed};
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256,
    };

    /// Whether the processor has what functions here are compiled for.
    #[inline(always)]
    pub(crate) fn is_wide() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2")
    }

    #[inline(always)]
    pub(crate) fn with_lanes(work: impl Windowed) {
        if is_wide() {
            // SAFETY: the processor has what `wide` is compiled for.
            unsafe { wide(work) }
        } else {
            work.run::<Plain>();
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn wide(work: impl Windowed) {
        work.run::<Avx2>();
    }

    /// Only for use under [`wide`].
    #[derive(Clone, Copy)]
    struct Avx2;

    impl Lanes for Avx2 {
        #[inline(always)]
        fn mask<const N: usize>(window: &[u8; 64], needles: [u8; N]) -> u64 {
            // SAFETY: `Avx2` is used under `wide` alone.
            unsafe { any_of(load(window), needles) }
        }

        #[inline(always)]
        fn sdata_signs(window: &[u8; 64]) -> Option<SdataSigns> {
            // SAFETY: as above.
            unsafe {
                let bytes = load(window);
                Some(SdataSigns {
                    quotes: any_of(bytes, *b"\""),
                    brackets: any_of(bytes, *b"]"),
                    equals: any_of(bytes, *b"="),
                    blanks: any_of(bytes, *b" "),
                    others: others(bytes),
                })
            }
        }

        #[inline(always)]
        fn json_signs(window: &[u8; 64]) -> JsonSigns {
            // SAFETY: as above.
            unsafe {
                let bytes = load(window);
                let blank = _mm256_set1_epi8(0x20);
                // `[` and `{` differ in this bit only, as do `]` and `}`.
                let folded = [_mm256_or_si256(bytes[0], blank), _mm256_or_si256(bytes[1], blank)];
                JsonSigns {
                    quotes: any_of(bytes, *b"\""),
                    backslashes: any_of(bytes, *b"\\"),
                    opens: any_of(folded, *b"{"),
                    closes: any_of(folded, *b"}"),
                    separators: any_of(bytes, *b":,"),
                    blanks: any_of(bytes, *b" "),
                    digits: within(bytes, b'0', b'9'),
                }
            }
        }

        #[inline(always)]
        fn pair_signs(window: &[u8; 64], separator: u8, pair: u8) -> PairSigns {
            // SAFETY: as above.
            unsafe {
                let bytes = load(window);
                let blank = _mm256_set1_epi8(0x20);
                let lower = [_mm256_or_si256(bytes[0], blank), _mm256_or_si256(bytes[1], blank)];
                // From `-` to `9` are `.` and `/` too, and the slash is no part of a word.
                let digits = within(bytes, b'-', b'9') & !any_of(bytes, *b"/");
                PairSigns {
                    not_words: !(within(lower, b'a', b'z') | digits | any_of(bytes, *b"_")),
                    blanks: any_of(bytes, *b" "),
                    separators: any_of(bytes, [separator]),
                    pairs: any_of(bytes, [pair]),
                    quotes: any_of(bytes, *b"\"'"),
                }
            }
        }
    }

    type Window = [__m256i; 2];

    // The functions below become part of `wide`, and their callers vouch for AVX2. No closures in them: those
    // would be compiled without.

    #[inline(always)]
    unsafe fn load(window: &[u8; 64]) -> Window {
        let (halves, _) = window.as_chunks::<32>();
        // SAFETY: the unaligned loads read the 32 bytes of each half.
        unsafe {
            [_mm256_loadu_si256(halves[0].as_ptr().cast()), _mm256_loadu_si256(halves[1].as_ptr().cast())]
        }
    }

    #[inline(always)]
    unsafe fn bits([low, high]: Window) -> u64 {
        u64::from(_mm256_movemask_epi8(low) as u32) | u64::from(_mm256_movemask_epi8(high) as u32) << 32
    }

    #[inline(always)]
    unsafe fn any_of<const N: usize>([low, high]: Window, needles: [u8; N]) -> u64 {
        let mut hits = [_mm256_setzero_si256(); 2];
        for needle in needles {
            let needle = _mm256_set1_epi8(needle as i8);
            hits[0] = _mm256_or_si256(hits[0], _mm256_cmpeq_epi8(low, needle));
            hits[1] = _mm256_or_si256(hits[1], _mm256_cmpeq_epi8(high, needle));
        }
        bits(hits)
    }

    /// Of ASCII: as signed numbers, bytes from 128 on are below all of it.
    #[inline(always)]
    unsafe fn within([low, high]: Window, first: u8, last: u8) -> u64 {
        let (first, last) = (_mm256_set1_epi8(first as i8 - 1), _mm256_set1_epi8(last as i8 + 1));
        bits([
            _mm256_and_si256(_mm256_cmpgt_epi8(low, first), _mm256_cmpgt_epi8(last, low)),
            _mm256_and_si256(_mm256_cmpgt_epi8(high, first), _mm256_cmpgt_epi8(last, high)),
        ])
    }

    /// As signed numbers, bytes from 128 on are below a blank too.
    #[inline(always)]
    unsafe fn others([low, high]: Window) -> u64 {
        let blank = _mm256_set1_epi8(32);
        let odd = bits([_mm256_cmpgt_epi8(blank, low), _mm256_cmpgt_epi8(blank, high)]);
        odd | any_of([low, high], [127, b'\\'])
    }
}
