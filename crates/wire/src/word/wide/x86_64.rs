//! Windows in registers of 32 bytes, where the processor has them.

use super::{Endings, JsonSigns, Lanes, PairSigns, Plain, Rows, SdataSigns, Windowed};
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_alignr_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_srli_epi16,
};

/// Whether the processor has what functions here are compiled for.
#[inline(always)]
pub(crate) fn is_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
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

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
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
            PairSigns {
                not_words: in_none(sets(bytes, &Rows::WORDS)),
                blanks: any_of(bytes, *b" "),
                separators: any_of(bytes, [separator]),
                pairs: any_of(bytes, [pair]),
                quotes: any_of(bytes, *b"\"'"),
            }
        }
    }

    #[inline(always)]
    fn behind_keys(window: &[u8; 64], endings: &Endings) -> u64 {
        // SAFETY: as above.
        unsafe {
            let bytes = load(window);
            let last = sets(bytes, &endings.last);
            let before = moved_up(sets(bytes, &endings.before));
            let both = [_mm256_and_si256(last[0], before[0]), _mm256_and_si256(last[1], before[1])];
            !in_none(both) << 1 | 1
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
    unsafe { [_mm256_loadu_si256(halves[0].as_ptr().cast()), _mm256_loadu_si256(halves[1].as_ptr().cast())] }
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

/// Of each byte, the sets that it is in.
#[inline(always)]
unsafe fn sets([low, high]: Window, rows: &Rows) -> Window {
    [sets_of(low, rows), sets_of(high, rows)]
}

#[inline(always)]
unsafe fn sets_of(bytes: __m256i, rows: &Rows) -> __m256i {
    // SAFETY: the unaligned loads read the sixteen bytes of each table.
    let lower = _mm256_broadcastsi128_si256(_mm_loadu_si128(rows.lower.as_ptr().cast()));
    let upper = _mm256_broadcastsi128_si256(_mm_loadu_si128(rows.upper.as_ptr().cast()));
    let four = _mm256_set1_epi8(0x0f);
    let in_lower = _mm256_shuffle_epi8(lower, _mm256_and_si256(bytes, four));
    let in_upper = _mm256_shuffle_epi8(upper, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), four));
    _mm256_and_si256(in_lower, in_upper)
}

/// The bytes that are in none of their sets.
#[inline(always)]
unsafe fn in_none([low, high]: Window) -> u64 {
    let none = _mm256_setzero_si256();
    bits([_mm256_cmpeq_epi8(low, none), _mm256_cmpeq_epi8(high, none)])
}

/// Each byte in the place of the next; the first place is in all sets.
#[inline(always)]
unsafe fn moved_up([low, high]: Window) -> Window {
    let before_low = _mm256_permute2x128_si256(_mm256_set1_epi8(-1), low, 0x21);
    let before_high = _mm256_permute2x128_si256(low, high, 0x21);
    [_mm256_alignr_epi8(low, before_low, 15), _mm256_alignr_epi8(high, before_high, 15)]
}

/// As signed numbers, bytes from 128 on are below a blank too.
#[inline(always)]
unsafe fn others([low, high]: Window) -> u64 {
    let blank = _mm256_set1_epi8(32);
    let odd = bits([_mm256_cmpgt_epi8(blank, low), _mm256_cmpgt_epi8(blank, high)]);
    odd | any_of([low, high], [127, b'\\'])
}
