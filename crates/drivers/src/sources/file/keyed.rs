//! Hashing for the tables of a source's files: each file is looked up several times while it is opened, and thousands are opened at once.
//! Keyed, so that names cannot be chosen to fall into one place.

use std::hash::{BuildHasher, Hasher, RandomState};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone)]
pub struct Keyed(u64);

impl Default for Keyed {
    fn default() -> Keyed {
        Keyed(RandomState::new().hash_one(FACTOR))
    }
}

impl BuildHasher for Keyed {
    type Hasher = KeyedHasher;

    fn build_hasher(&self) -> KeyedHasher {
        KeyedHasher(self.0)
    }
}

pub struct KeyedHasher(u64);

impl Hasher for KeyedHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        // What was written is told apart by its length too.
        self.write_u64(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = (product as u64 ^ (product >> 64) as u64).wrapping_add(word);
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

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
        let keyed = Keyed::default();
        let paths: HashSet<u64> = (0..10_000u32)
            .map(|n| keyed.hash_one(Path::new(&format!("/var/log/{:04}/{:04}.log", n / 100, n % 100))))
            .collect();
        assert_eq!(paths.len(), 10_000);
        // A table takes places from the low bits and tells apart by the high ones.
        for shift in [0, 57] {
            let low: HashSet<u64> =
                (0..128u64).map(|n| keyed.hash_one((7u64, n << 8)) >> shift & 127).collect();
            assert!(low.len() > 48, "{} of 128 places", low.len());
        }
    }

    #[test]
    fn equal_paths_have_equal_hashes() {
        let keyed = Keyed::default();
        assert_eq!(keyed.hash_one(Path::new("/a//b/./c")), keyed.hash_one(Path::new("/a/b/c")));
        assert_ne!(keyed.hash_one(Path::new("/a/b")), keyed.hash_one(Path::new("/ab")));
        assert_ne!(keyed.hash_one([0u8; 3].as_slice()), keyed.hash_one([0u8; 4].as_slice()));
    }
}
