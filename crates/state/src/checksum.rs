//! CRC-32 (IEEE 802.3) of the records: finds torn and damaged ones.

pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    /// The files of before are read: what the library says is what one bit after the other gives.
    #[test]
    fn every_length_gives_what_its_bits_give() {
        let bytes: Vec<u8> = (0..100u32).map(|n| (n * 37 + 11) as u8).collect();
        for length in 0..bytes.len() {
            let one_by_one = bytes[..length].iter().fold(!0u32, |sum, byte| {
                (0..8).fold(
                    sum ^ u32::from(*byte),
                    |s, _| if s & 1 == 1 { s >> 1 ^ 0xedb8_8320 } else { s >> 1 },
                )
            });
            assert_eq!(crc32(&bytes[..length]), !one_by_one, "{length} bytes");
        }
    }
}
