//! The model's messages: their bytes follow from their number.

/// Bytes of the smallest message.
pub const MESSAGE_MIN: usize = 8;

/// The bytes of a message: its number, and as many more as follow from that.
pub fn text(message: u64) -> Vec<u8> {
    let length = match message % 23 {
        0 => 2500,
        rest => (message.wrapping_mul(31) % 120 + rest) as usize,
    };
    let mut text = message.to_le_bytes().to_vec();
    text.resize(MESSAGE_MIN + length, message as u8);
    text
}

/// The numbers of messages that were read, whose bytes must be theirs.
pub fn messages(bytes: &[u8], ends: &[u32]) -> Vec<u64> {
    let mut from = 0;
    let one = |end: &u32| {
        let message = &bytes[from..*end as usize];
        from = *end as usize;
        let number = u64::from_le_bytes(*message.first_chunk().unwrap());
        assert_eq!(message, text(number));
        number
    };
    ends.iter().map(one).collect()
}
