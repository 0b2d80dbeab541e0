//! Sets of bytes that are asked for many bytes at once.

/// Up to eight sets, a bit each. A byte is in those whose bits are in both tables: by its lower four bits,
/// and by its upper four. A set with bytes of several rows of ASCII may hold more than was added: what has
/// the lower bits of one and the upper bits of another.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rows {
    pub lower: [u8; 16],
    pub upper: [u8; 16],
}

impl Rows {
    /// What keys are made of, exactly: each row of ASCII is a set of its own.
    pub const WORDS: Rows = {
        let mut rows = Rows { lower: [0; 16], upper: [0; 16] };
        let mut byte = 0u8;
        while byte < 128 {
            if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-') {
                rows = rows.with(byte, 1 << (byte >> 4));
            }
            byte += 1;
        }
        rows
    };

    pub const fn with(mut self, byte: u8, sets: u8) -> Rows {
        self.lower[(byte & 15) as usize] |= sets;
        self.upper[(byte >> 4) as usize] |= sets;
        self
    }

    /// The same with every byte in these sets.
    pub const fn with_all(self, sets: u8) -> Rows {
        let mut rows = self;
        let mut at = 0;
        while at < 16 {
            rows.lower[at] |= sets;
            rows.upper[at] |= sets;
            at += 1;
        }
        rows
    }
}
