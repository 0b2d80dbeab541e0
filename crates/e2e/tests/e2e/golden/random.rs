//! Random numbers, the same ones for the same name.

pub struct Random(u64);

impl Random {
    pub fn new(name: &str) -> Random {
        Random(
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            }),
        )
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }

    pub fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// True so many times of a hundred.
    pub fn is(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}
