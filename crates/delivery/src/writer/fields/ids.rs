//! Bytes that no other message has, given when it is formatted: whatever is sent again has the same. They are
//! what MongoDB calls an ObjectId: seconds (4), chance (5), a count (3), all big endian.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub const BYTES: usize = 12;

pub struct Ids {
    chance: [u8; 5],
    count: AtomicU64,
}

impl Ids {
    pub fn new() -> Ids {
        let random = RandomState::new();
        let [a, b, c, d, e, ..] = random.hash_one(0u8).to_le_bytes();
        // Some way to go before the count begins anew.
        let count = AtomicU64::new(random.hash_one(1u8) & 0x3f_ffff);
        Ids { chance: [a, b, c, d, e], count }
    }

    /// So many of them.
    pub fn take(&self, count: usize) -> impl Iterator<Item = [u8; BYTES]> {
        let first = self.count.fetch_add(count as u64, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() as u32;
        let (seconds, chance) = (now.to_be_bytes(), self.chance);
        (first..first + count as u64).map(move |number| {
            let mut id = [0; BYTES];
            id[..4].copy_from_slice(&seconds);
            id[4..9].copy_from_slice(&chance);
            id[9..].copy_from_slice(&(number as u32).to_be_bytes()[1..]);
            id
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn none_is_given_twice() {
        let (ids, others) = (Ids::new(), Ids::new());
        let all: HashSet<_> = ids.take(1000).chain(ids.take(1000)).chain(others.take(1000)).collect();
        assert_eq!(all.len(), 3000);
    }
}
