//! A quick hash of keys that come from messages and folders: from a seed that peers cannot know, so that none
//! can fill one bucket or one shard.

use std::hash::{BuildHasher, Hasher, RandomState};

#[derive(Clone, Copy, Debug)]
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

impl Default for Seed {
    fn default() -> Seed {
        Seed::random()
    }
}

impl BuildHasher for Seed {
    type Hasher = Fold;

    fn build_hasher(&self) -> Fold {
        Fold(self.0)
    }
}

const FACTOR: u64 = 0xf39c_c060_5ced_c835;

/// Multiply and fold, eight bytes at a time.
pub struct Fold(u64);

impl Fold {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64) ^ (product >> 64) as u64 ^ self.0.rotate_left(23);
    }
}

impl Hasher for Fold {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        let last = match bytes.last_chunk::<8>() {
            // What stands in front of the rest is shifted out.
            Some(eight) if !rest.is_empty() => u64::from_le_bytes(*eight) >> (64 - 8 * rest.len()),
            _ => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
        };
        self.mix(last ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    /// Once more: tables take the low bits and the high ones, and the last word has not reached all of them
    /// yet.
    fn finish(&self) -> u64 {
        let product = u128::from(self.0) * u128::from(FACTOR);
        product as u64 ^ (product >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn paths_and_numbers_are_spread_out() {
        let seed = Seed::random();
        let paths: HashSet<u64> = (0..10_000u32)
            .map(|n| seed.hash_one(Path::new(&format!("/var/log/{:04}/{:04}.log", n / 100, n % 100))))
            .collect();
        assert_eq!(paths.len(), 10_000);
        // A table takes places from the low bits and tells apart by the high ones.
        for shift in [0, 57] {
            let low: HashSet<u64> =
                (0..128u64).map(|n| seed.hash_one((7u64, n << 8)) >> shift & 127).collect();
            assert!(low.len() > 48, "{} of 128 places", low.len());
        }
    }

    #[test]
    fn equal_paths_have_equal_hashes() {
        let seed = Seed::random();
        assert_eq!(seed.hash_one(Path::new("/a//b/./c")), seed.hash_one(Path::new("/a/b/c")));
        assert_ne!(seed.hash_one(Path::new("/a/b")), seed.hash_one(Path::new("/ab")));
        assert_ne!(seed.hash_one([0u8; 3].as_slice()), seed.hash_one([0u8; 4].as_slice()));
    }
}
