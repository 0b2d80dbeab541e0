//! Looks at chunks of 32 bytes, for what is written: one bit for each byte that has to be written otherwise.
//! With `unsafe` for vector registers, as in [`super::wide`].

/// One bit for each byte that JSON does not print as it is, the first byte lowest: quotes, backslashes,
/// control characters, and all that is not ASCII.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
pub fn json_marks(chunk: &[u8; 32]) -> u32 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8,
    };
    let (halves, _) = chunk.as_chunks::<16>();
    let mut marks = 0;
    for (index, half) in halves.iter().enumerate() {
        // SAFETY: SSE2 belongs to every x86-64, and the unaligned load reads the sixteen bytes of `half`.
        let found = unsafe {
            let bytes = _mm_loadu_si128(half.as_ptr().cast());
            let is = |byte: u8| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8));
            // As signed numbers, bytes from 128 on are below a blank too.
            let odd = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));
            _mm_movemask_epi8(_mm_or_si128(odd, _mm_or_si128(is(b'"'), is(b'\\'))))
        };
        marks |= (found as u32) << (16 * index);
    }
    marks
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn json_marks(chunk: &[u8; 32]) -> u32 {
    let marked = |byte: u8| !(0x20..0x80).contains(&byte) || matches!(byte, b'"' | b'\\');
    let bit = |(index, byte): (usize, &u8)| u32::from(marked(*byte)) << index;
    chunk.iter().enumerate().map(bit).fold(0, |marks, bit| marks | bit)
}

/// Work whose inner loops look at chunks. [`with_chunks`] runs it compiled for the widest registers the
/// processor has.
pub trait Chunked {
    type Made;

    /// Must be `#[inline(always)]`, like all that is called with `C`.
    fn run<C: Chunks>(self) -> Self::Made;
}

/// One look at a chunk.
pub trait Chunks: Copy {
    /// As [`json_marks`].
    fn json_marks(chunk: &[u8; 32]) -> u32;
}

/// What every processor of the target has.
#[derive(Clone, Copy)]
pub struct PlainChunks;

impl Chunks for PlainChunks {
    #[inline(always)]
    fn json_marks(chunk: &[u8; 32]) -> u32 {
        json_marks(chunk)
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn with_chunks<W: Chunked>(work: W) -> W::Made {
    work.run::<PlainChunks>()
}

#[cfg(target_arch = "x86_64")]
pub use x86_64::with_chunks;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86_64 {
    use super::super::wide::is_wide;
    use super::{Chunked, Chunks, PlainChunks};
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    #[inline(always)]
    pub fn with_chunks<W: Chunked>(work: W) -> W::Made {
        if is_wide() {
            // SAFETY: the processor has what `wide` is compiled for.
            unsafe { wide(work) }
        } else {
            work.run::<PlainChunks>()
        }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn wide<W: Chunked>(work: W) -> W::Made {
        work.run::<Avx2>()
    }

    /// Only for use under [`wide`].
    #[derive(Clone, Copy)]
    struct Avx2;

    impl Chunks for Avx2 {
        #[inline(always)]
        fn json_marks(chunk: &[u8; 32]) -> u32 {
            // SAFETY: `Avx2` is used under `wide` alone; the unaligned load reads the chunk.
            unsafe {
                let bytes = _mm256_loadu_si256(chunk.as_ptr().cast());
                let quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
                let slashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\\' as i8));
                // As signed numbers, bytes from 128 on are below a blank too.
                let odd = _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes);
                _mm256_movemask_epi8(_mm256_or_si256(odd, _mm256_or_si256(quotes, slashes))) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Marks<'a>(&'a [u8; 32]);

    impl Chunked for Marks<'_> {
        type Made = u32;

        #[inline(always)]
        fn run<C: Chunks>(self) -> u32 {
            C::json_marks(self.0)
        }
    }

    #[test]
    fn every_byte_is_marked_in_every_place() {
        for byte in 0..=255u8 {
            let marked = u32::from(!(0x20..0x80).contains(&byte) || b"\"\\".contains(&byte));
            for place in 0..32 {
                let mut chunk = [b'x'; 32];
                chunk[place] = byte;
                assert_eq!(with_chunks(Marks(&chunk)), marked << place, "{byte} at {place}");
                assert_eq!(json_marks(&chunk), marked << place, "{byte} at {place}");
            }
        }
    }
}
