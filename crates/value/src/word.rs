//! Eight bytes at a time.

pub(crate) const LOW: u64 = 0x0101_0101_0101_0101;
pub(crate) const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte equal to `byte`, the first byte of the text being the lowest. Exact up to and
/// with the lowest hit; bytes above a hit may be marked wrongly.
#[inline(always)]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let x = word ^ (LOW * byte as u64);
    x.wrapping_sub(LOW) & !x & HIGH
}
