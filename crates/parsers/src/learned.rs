//! Names learned from messages, where any may be read: a worker's own table, so that the process's, which is behind a lock, is asked
//! once for each key.

use record::{NameId, intern};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Keys remembered; a table that is full starts anew.
const KEYS_MAX: usize = 1 << 14;
/// Longer names are not made.
const NAME_BYTES_MAX: usize = 255;

pub struct Learned {
    keys: HashMap<Box<[u8]>, Option<NameId>, Seed>,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { keys: HashMap::with_hasher(Seed::new()) }
    }
}

impl Learned {
    /// The name `prefix` + `key`, made when it is new; `None` when it is too long, no UTF-8, or the process's table is full.
    #[inline]
    pub fn name(&mut self, prefix: &str, key: &[u8]) -> Option<NameId> {
        match self.keys.get(key) {
            Some(name) => *name,
            None => self.learn(prefix, key),
        }
    }

    #[cold]
    fn learn(&mut self, prefix: &str, key: &[u8]) -> Option<NameId> {
        if self.keys.len() >= KEYS_MAX {
            self.keys.clear();
        }
        let name = std::str::from_utf8(key).ok().filter(|k| prefix.len() + k.len() <= NAME_BYTES_MAX);
        let name = name.map(|k| format!("{prefix}{k}")).filter(|n| !n.is_empty());
        // Other spellings of MESSAGE and HOST are macros: a value of such a name could not be read.
        let name = name.filter(|n| !matches!(n.as_str(), "MSG" | "MSGONLY" | "FULLHOST"));
        let name = name.and_then(|n| intern(&n));
        if key.len() <= NAME_BYTES_MAX {
            self.keys.insert(key.into(), name);
        }
        name
    }
}

/// Multiply and fold, eight bytes at a time, from a seed peers cannot know.
#[derive(Clone, Copy)]
pub struct Seed(u64);

impl Seed {
    pub fn new() -> Seed {
        Seed(RandomState::new().hash_one(0u8))
    }
}

pub struct Fold(u64);

impl BuildHasher for Seed {
    type Hasher = Fold;

    fn build_hasher(&self) -> Fold {
        Fold(self.0)
    }
}

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
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
