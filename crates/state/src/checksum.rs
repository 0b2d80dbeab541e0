//! CRC-32 (IEEE 802.3) of the records: finds torn and damaged ones.

const POLYNOMIAL: u32 = 0xedb8_8320;

/// What a byte does to the sum, when so many bytes follow it in its word.
const TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = if value & 1 == 1 { (value >> 1) ^ POLYNOMIAL } else { value >> 1 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut after = 1;
    while after < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[after - 1][byte];
            tables[after][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        after += 1;
    }
    tables
};

/// Eight bytes at a time: positions of thousands of files are written together.
pub fn crc32(bytes: &[u8]) -> u32 {
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(!0, |sum: u32, word| {
        let mixed = (u64::from_le_bytes(*word) ^ u64::from(sum)).to_le_bytes();
        mixed.iter().zip(TABLES.iter().rev()).fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)])
    });
    !rest.iter().fold(sum, |sum, byte| (sum >> 8) ^ TABLES[0][usize::from(sum as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_standard() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn words_give_what_bytes_give() {
        let bytes: Vec<u8> = (0..100u32).map(|n| (n * 37 + 11) as u8).collect();
        for length in 0..bytes.len() {
            let one_by_one = bytes[..length]
                .iter()
                .fold(!0u32, |sum, b| (sum >> 8) ^ TABLES[0][usize::from(sum as u8 ^ b)]);
            assert_eq!(crc32(&bytes[..length]), !one_by_one, "{length} bytes");
        }
    }
}
