//! Messages of one batch by the file they go to. Kept between batches for its allocations.

/// Slots of the table in the beginning; it grows before it is half full.
const SLOTS_MIN: usize = 64;

#[derive(Default)]
pub struct Groups {
    /// Names made for the batch; those of the groups are parts of it.
    pub names: Vec<u8>,
    pub ends: Vec<u32>,
    keys: Vec<u8>,
    found: Vec<Found>,
    /// Open table over `found`, by hash of the key: index plus one, 0 where there is none. As long as a power
    /// of two.
    slots: Vec<u32>,
    spare: Vec<Vec<u32>>,
}

struct Found {
    /// In `names`.
    name: (usize, usize),
    /// In `keys`; the name itself is the key where names are made for each message.
    key: (usize, usize),
    hash: u64,
    selection: Vec<u32>,
}

impl Groups {
    pub fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
        self.keys.clear();
        self.slots.fill(0);
        self.spare.extend(self.found.drain(..).map(|mut f| {
            f.selection.clear();
            f.selection
        }));
    }

    /// Adds a message to the group of `key`. `name` is asked for the name of a new group, as a range of what
    /// it appends to or what stands in `names`.
    pub fn put(&mut self, key: &[u8], index: u32, name: impl FnOnce(&mut Vec<u8>) -> (usize, usize)) {
        let hash = hash(key);
        let at = match self.find(key, hash) {
            Ok(at) => at,
            Err(slot) => self.add(key, hash, slot, name),
        };
        if let Some(found) = self.found.get_mut(at) {
            found.selection.push(index);
        }
    }

    /// The group of a key, or the slot a new one belongs in.
    fn find(&self, key: &[u8], hash: u64) -> Result<usize, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut slot = hash as usize & mask;
        loop {
            let Some(at) = self.slots.get(slot).and_then(|at| (*at as usize).checked_sub(1)) else {
                return Err(slot);
            };
            if let Some(found) = self.found.get(at)
                && found.hash == hash
                && self.keys.get(found.key.0..found.key.1) == Some(key)
            {
                return Ok(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn add(
        &mut self,
        key: &[u8],
        hash: u64,
        slot: usize,
        name: impl FnOnce(&mut Vec<u8>) -> (usize, usize),
    ) -> usize {
        let at = self.found.len();
        let start = self.keys.len();
        self.keys.extend_from_slice(key);
        let name = name(&mut self.names);
        let selection = self.spare.pop().unwrap_or_default();
        self.found.push(Found { name, key: (start, self.keys.len()), hash, selection });
        if self.found.len() * 2 > self.slots.len() {
            self.grow();
        } else if let Some(free) = self.slots.get_mut(slot) {
            *free = self.found.len() as u32;
        }
        at
    }

    fn grow(&mut self) {
        let slots = (self.found.len() * 4).next_power_of_two().max(SLOTS_MIN);
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (at, found) in self.found.iter().enumerate() {
            let mut slot = found.hash as usize & (slots - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = at as u32 + 1;
        }
    }

    /// Groups by names that were made for each message, and stand in `names` and `ends`.
    pub fn sort(&mut self, selection: &[u32]) {
        let (names, ends) = (std::mem::take(&mut self.names), std::mem::take(&mut self.ends));
        let mut start = 0;
        for (index, end) in selection.iter().zip(&ends) {
            let range = (start, *end as usize);
            self.put(names.get(range.0..range.1).unwrap_or_default(), *index, |_| range);
            start = range.1;
        }
        (self.names, self.ends) = (names, ends);
    }

    /// Each name once, with its messages in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u32])> {
        self.found
            .iter()
            .map(|f| (self.names.get(f.name.0..f.name.1).unwrap_or_default(), f.selection.as_slice()))
    }
}

/// Eight bytes a step, the last ones overlapping. A peer that makes keys collide makes its own batch slower,
/// bounded by the messages in it.
fn hash(key: &[u8]) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |hash: u64, word: u64| {
        let product = u128::from(hash ^ word) * u128::from(MIX);
        product as u64 ^ (product >> 64) as u64
    };
    let seed = key.len() as u64;
    if let Some(last) = key.last_chunk::<8>() {
        let (words, _) = key.as_chunks::<8>();
        let hash = words.iter().fold(seed, |hash, word| step(hash, u64::from_le_bytes(*word)));
        return step(hash, u64::from_le_bytes(*last));
    }
    match (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            step(seed, u64::from(first) << 32 | u64::from(last))
        }
        _ => step(seed, key.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_keep_order_and_find_each_name_once() {
        let mut groups = Groups::default();
        for (index, name) in ["a", "b", "a", "a", "c", "b"].iter().enumerate() {
            groups.names.extend_from_slice(name.as_bytes());
            groups.ends.push(index as u32 + 1);
        }
        groups.sort(&[0, 1, 2, 3, 4, 5]);
        let seen: Vec<_> = groups.iter().map(|(n, s)| (n.to_vec(), s.to_vec())).collect();
        assert_eq!(
            seen,
            [(b"a".to_vec(), vec![0, 2, 3]), (b"b".to_vec(), vec![1, 5]), (b"c".to_vec(), vec![4])]
        );
    }

    #[test]
    fn every_byte_counts() {
        for length in 1..40 {
            let key = vec![b'a'; length];
            for at in 0..length {
                let mut other = key.clone();
                other[at] = b'b';
                assert_ne!(hash(&key), hash(&other), "length {length}, byte {at}");
            }
        }
    }

    #[test]
    fn thousands_of_names_twice_over() {
        let mut groups = Groups::default();
        for round in 0..2 {
            groups.clear();
            for index in 0..9000u32 {
                let key = format!("host-{}.example.net", index % 3000);
                groups.put(key.as_bytes(), index, |names| {
                    let start = names.len();
                    names.extend_from_slice(key.as_bytes());
                    (start, names.len())
                });
            }
            assert_eq!(groups.iter().count(), 3000, "round {round}");
            for (at, (name, selection)) in groups.iter().enumerate() {
                assert_eq!(name, format!("host-{at}.example.net").as_bytes());
                assert_eq!(selection, [at as u32, at as u32 + 3000, at as u32 + 6000]);
            }
        }
    }
}
