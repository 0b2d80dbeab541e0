//! The messages of one batch that go to contexts: their keys, and the correlation time at each.

use record::Seed;

/// One message on its way to its context.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Place in the selection.
    pub position: u32,
    /// Index in the batch.
    pub index: u32,
    /// Whatever the parser wants to know about it again.
    pub note: u32,
    pub hash: u64,
    start: u32,
    len: u32,
    /// Bytes of the key that the scope made.
    scope_len: u32,
}

/// When something happened, to put what comes of it in order: before the message at a place of the selection,
/// by deadline, by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub position: u32,
    pub deadline: i64,
    pub serial: u64,
}

/// Reused from batch to batch by one worker.
#[derive(Default)]
pub struct Pass {
    pub(super) entries: Vec<Entry>,
    keys: Vec<u8>,
    /// Correlation time at each position of the selection; ascending.
    pub(super) times: Vec<i64>,
    /// Added to positions it gives numbers in the order of arrival, over all batches.
    pub(super) serial: u64,
    pub(super) chains: Chains,
}

/// The entries of each shard, in order, linked by index.
#[derive(Default)]
pub(super) struct Chains {
    first: Vec<u32>,
    next: Vec<u32>,
}

const END: u32 = u32::MAX;

impl Chains {
    pub fn link(&mut self, entries: &[Entry], shards: usize) {
        self.first.clear();
        self.first.resize(shards, END);
        self.next.clear();
        self.next.resize(entries.len(), END);
        for (at, entry) in entries.iter().enumerate().rev() {
            // The upper bits: the tables of the shards go by the lower ones.
            let shard = (entry.hash >> 40) as usize % shards.max(1);
            if let (Some(first), Some(next)) = (self.first.get_mut(shard), self.next.get_mut(at)) {
                *next = std::mem::replace(first, at as u32);
            }
        }
    }

    pub fn first(&self, shard: usize) -> Option<usize> {
        self.first.get(shard).copied().filter(|at| *at != END).map(|at| at as usize)
    }

    pub fn next(&self, at: usize) -> Option<usize> {
        self.next.get(at).copied().filter(|at| *at != END).map(|at| at as usize)
    }
}

impl Pass {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.keys.clear();
        self.times.clear();
    }

    /// Adds a message; `write` appends its key, what the scope adds first, and returns where the id behind it
    /// begins.
    pub fn push(
        &mut self,
        position: usize,
        index: u32,
        note: u32,
        seed: Seed,
        write: impl FnOnce(&mut Vec<u8>) -> usize,
    ) -> Entry {
        let start = self.keys.len();
        let id = write(&mut self.keys);
        let hash = seed.hash(self.keys.get(start..).unwrap_or_default());
        let (len, scope_len) = ((self.keys.len() - start) as u32, id.saturating_sub(start) as u32);
        let position = position as u32;
        let entry = Entry { position, index, note, hash, start: start as u32, len, scope_len };
        self.entries.push(entry);
        entry
    }

    /// The whole key, unique in the contexts.
    pub fn key(&self, entry: &Entry) -> &[u8] {
        self.keys.get(entry.start as usize..(entry.start + entry.len) as usize).unwrap_or_default()
    }

    /// The key without its scope, as `$CONTEXT_ID` prints it.
    pub fn id(&self, entry: &Entry) -> &[u8] {
        self.key(entry).get(entry.scope_len as usize..).unwrap_or_default()
    }

    pub(super) fn scope_len(entry: &Entry) -> u32 {
        entry.scope_len
    }

    /// When a message came.
    pub fn moment(&self, entry: &Entry) -> Moment {
        let serial = self.serial + u64::from(entry.position);
        Moment { position: entry.position, deadline: i64::MAX, serial }
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Correlation time at a place in the selection.
    pub fn time(&self, position: u32) -> i64 {
        self.times.get(position as usize).or(self.times.last()).copied().unwrap_or_default()
    }

    /// The first place in the selection at which a deadline has passed.
    pub fn position_after(&self, deadline: i64) -> u32 {
        self.times.partition_point(|time| *time <= deadline) as u32
    }
}
