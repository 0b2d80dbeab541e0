//! The checksum of a frame: CRC-32C in three lanes, by the processor's own instruction where it has one. One
//! lane would wait three times as long for each word (the example `store_cost` measures it).
#![allow(unsafe_code)]

/// Odd, so that whatever changes one lane changes the sum.
const FACTORS: [u32; 3] = [0x9e37_79b1, 0x85eb_ca77, 0xc2b2_ae3d];

/// Of a frame with this number and payload; `queues` are added by [`of_queues`].
pub fn of_frame(number: u64, payload: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instructions, it was asked in the line above.
        return unsafe { lanes_sse42(number, payload) };
    }
    lanes(number, payload, step)
}

/// What the queues of a frame change in its checksum: nothing else has to be looked at when a frame gets
/// another queue.
pub fn of_queues(queues: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("sse4.2") {
        // SAFETY: as above.
        return unsafe { step_sse42(0, queues) };
    }
    step(0, queues)
}

/// The words of the payload go to the lanes by turns. Nothing is unsafe in it but that it wants SSE 4.2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn lanes_sse42(number: u64, payload: &[u8]) -> u32 {
    lanes(number, payload, |crc, word| std::arch::x86_64::_mm_crc32_u64(u64::from(crc), word) as u32)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn step_sse42(crc: u32, word: u64) -> u32 {
    std::arch::x86_64::_mm_crc32_u64(u64::from(crc), word) as u32
}

#[inline(always)]
fn lanes(number: u64, payload: &[u8], step: impl Fn(u32, u64) -> u32) -> u32 {
    let mut a = step(step(0, payload.len() as u64), number);
    let (mut b, mut c) = (!0, !0);
    let (threes, rest) = payload.as_chunks::<24>();
    for three in threes {
        a = step(a, word(three, 0));
        b = step(b, word(three, 8));
        c = step(c, word(three, 16));
    }
    if !rest.is_empty() {
        let mut last = [0; 24];
        last[..rest.len()].copy_from_slice(rest);
        a = step(a, word(&last, 0));
        b = step(b, word(&last, 8));
        c = step(c, word(&last, 16));
    }
    // CRCs are linear: taken together by a CRC, repeated bytes in several lanes would cancel out. Products of
    // integers do not.
    let [b, c] = [b.wrapping_mul(FACTORS[1]).rotate_left(11), c.wrapping_mul(FACTORS[2]).rotate_left(22)];
    a.wrapping_mul(FACTORS[0]).wrapping_add(b).wrapping_add(c)
}

#[inline(always)]
fn word(bytes: &[u8; 24], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}

/// The same in software, or by what other processors have: one step of CRC-32C without the inversions around
/// it.
fn step(crc: u32, word: u64) -> u32 {
    !crc32c::crc32c_append(!crc, &word.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_and_the_software_agree() {
        let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
        for length in (0..100).chain([400, 999]) {
            let slow = lanes(77, &bytes[..length], step);
            assert_eq!(of_frame(77, &bytes[..length]), slow, "{length}");
            assert_ne!(of_frame(77, &bytes[..length]), of_frame(78, &bytes[..length]));
        }
        assert_ne!(of_frame(1, b"a"), of_frame(1, b"a\0"));
        assert_eq!(of_queues(0b101), of_queues(0b1) ^ of_queues(0b100));
        assert_eq!(of_queues(u64::MAX - 5), step(0, u64::MAX - 5));
    }

    /// Repeated bytes that end in zeros, as after a torn write: what a sum that is linear over all lanes
    /// takes for whole.
    #[test]
    fn torn_repetitions_are_seen() {
        for byte in 1..=255 {
            for length in [16, 24, 40, 48, 96, 136, 400] {
                let whole = vec![byte; length];
                let sum = of_frame(u64::from(byte), &whole);
                for from in 0..length {
                    let mut torn = whole.clone();
                    torn[from..].fill(0);
                    assert_ne!(of_frame(u64::from(byte), &torn), sum, "{byte} {length} {from}");
                }
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let mut bytes = vec![0; 60];
        let whole = of_frame(5, &bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(of_frame(5, &bytes), whole, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
