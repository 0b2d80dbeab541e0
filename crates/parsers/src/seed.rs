//! The hash of keys that come from messages: from a seed peers cannot know, so that none can fill one bucket or one shard.

use std::hash::{BuildHasher, Hasher, RandomState};

#[derive(Clone, Copy)]
pub struct Seed(u64);

impl Seed {
    pub fn random() -> Seed {
        Seed(RandomState::new().hash_one(0u8))
    }

    pub fn hash(self, key: &[u8]) -> u64 {
        let mut fold = Fold(self.0);
        fold.write(key);
        fold.finish()
    }
}

impl BuildHasher for Seed {
    type Hasher = Fold;

    fn build_hasher(&self) -> Fold {
        Fold(self.0)
    }
}

/// Multiply and fold, eight bytes at a time.
pub struct Fold(u64);

impl Fold {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0xf39c_c060_5ced_c835;
        self.0 = (product as u64) ^ (product >> 64) as u64 ^ self.0.rotate_left(23);
    }
}

impl Hasher for Fold {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.mix(chunk.first_chunk().map_or(0, |c| u64::from_le_bytes(*c)));
        }
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(chunks.remainder()) {
            *to = *from;
        }
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
