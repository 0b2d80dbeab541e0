//! How far a journal was dealt with: batches end in any order, the stored places move over those at the front
//! only.

use engine::{Acknowledge, Mark};
use journal::{EntryPosition, Id};
use parking_lot::Mutex;
use state::Live;
use state::Store;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The account of one source. Lives as long as it is read or a batch of it is under way; a reader that comes
/// meanwhile goes on with it.
pub struct Places {
    store: Arc<Store>,
    key: String,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// The last entry of each numbering in a batch, and whether the batch is dealt with.
    waiting: VecDeque<(Vec<EntryPosition>, bool)>,
    /// Where the reader is.
    read: HashMap<Id, EntryPosition>,
    /// Readers so far: only the last one reads.
    readers: u64,
    /// A batch of this reader has to be read again: what comes behind it moves no place.
    undone: bool,
    name: Vec<u8>,
    value: Vec<u8>,
}

static LIVE: Live<Places> = Live::new();

impl Places {
    /// The account under this name, the number of this reader, and where it has to go on: nowhere in
    /// particular when there is none yet.
    pub fn open(store: &Arc<Store>, key: &str) -> (Arc<Places>, u64, Vec<EntryPosition>) {
        let places = LIVE.open(store, key.as_bytes(), || {
            let inner = Mutex::new(Inner { read: stored(store, key), ..Inner::default() });
            Arc::new(Places { store: Arc::clone(store), key: key.to_owned(), inner })
        });
        let mut inner = places.inner.lock();
        inner.readers += 1;
        inner.undone = false;
        let (reader, read) = (inner.readers, inner.read.values().copied().collect());
        drop(inner);
        (places, reader, read)
    }

    /// Whether no other reader has come after this one.
    pub fn is_last(&self, reader: u64) -> bool {
        self.inner.lock().readers == reader
    }

    /// A batch was read that ends with these, one a numbering.
    pub fn mark(self: &Arc<Places>, ends: Vec<EntryPosition>) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        if !inner.undone {
            inner.read.extend(ends.iter().map(|place| (place.seqnum_id, *place)));
            inner.waiting.push_back((ends, false));
        }
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }
}

/// The places in the state file.
fn stored(store: &Store, key: &str) -> HashMap<Id, EntryPosition> {
    let stored = store.with_prefix(format!("{key}/").as_bytes());
    let read = stored.iter().filter_map(|(_, value)| EntryPosition::decode(value));
    read.map(|place| (place.seqnum_id, place)).collect()
}

impl Acknowledge for Places {
    /// The places stay where they are, and the next reader begins there.
    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let is_current =
            number.checked_sub(inner.first).is_some_and(|at| (at as usize) < inner.waiting.len());
        if is_current {
            inner.first += inner.waiting.len() as u64;
            inner.waiting.clear();
            inner.read = stored(&self.store, &self.key);
            inner.undone = true;
        }
    }

    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        if let Some(batch) = number.checked_sub(inner.first).and_then(|at| inner.waiting.get_mut(at as usize))
        {
            batch.1 = true;
        }
        let mut ends: HashMap<Id, EntryPosition> = HashMap::new();
        while inner.waiting.front().is_some_and(|(_, done)| *done) {
            let (places, _) = inner.waiting.pop_front().unwrap_or_default();
            inner.first += 1;
            ends.extend(places.into_iter().map(|place| (place.seqnum_id, place)));
        }
        let Inner { name, value, .. } = &mut *inner;
        for place in ends.values() {
            name.clear();
            name.extend_from_slice(self.key.as_bytes());
            name.push(b'/');
            name.extend(place.seqnum_id.iter().flat_map(|byte| [hex(byte >> 4), hex(byte & 15)]));
            place.encode(value);
            self.store.put(name, value);
        }
    }
}

fn hex(digit: u8) -> u8 {
    if digit < 10 { b'0' + digit } else { b'a' + digit - 10 }
}

impl Drop for Places {
    fn drop(&mut self) {
        LIVE.close(&self.store, std::mem::take(&mut self.key).into_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(id: u8, seqnum: u64) -> EntryPosition {
        EntryPosition { seqnum_id: [id; 16], seqnum, ..EntryPosition::default() }
    }

    #[test]
    fn places_move_in_order_only_and_each_numbering_on_its_own() {
        let store = Arc::new(Store::in_memory());
        let stored = || {
            let all = store.with_prefix(b"j/");
            let mut all: Vec<_> = all.iter().filter_map(|(_, value)| EntryPosition::decode(value)).collect();
            all.sort_by_key(|place| place.seqnum_id);
            all.iter().map(|place| (place.seqnum_id[0], place.seqnum)).collect::<Vec<_>>()
        };
        let (places, reader, read) = Places::open(&store, "j");
        assert!(read.is_empty() && places.is_last(reader));
        let one = places.mark(vec![place(1, 5)]);
        let two = places.mark(vec![place(1, 9), place(2, 3)]);
        two.done();
        assert!(stored().is_empty());
        one.done();
        assert_eq!(stored(), [(1, 9), (2, 3)]);
        let three = places.mark(vec![place(2, 4)]);
        let (again, next, read) = Places::open(&store, "j");
        assert!(!places.is_last(reader) && again.is_last(next));
        assert_eq!(read.len(), 2);
        assert!(read.contains(&place(2, 4)), "the next reader goes on behind what is under way");
        drop((places, again));
        three.done();
        assert_eq!(stored(), [(1, 9), (2, 4)]);
    }

    #[test]
    fn what_was_given_up_is_read_again_by_the_next_reader() {
        let store = Arc::new(Store::in_memory());
        let (places, ..) = Places::open(&store, "j");
        places.mark(vec![place(1, 5)]).done();
        let (two, three) = (places.mark(vec![place(1, 6)]), places.mark(vec![place(1, 7)]));
        drop(two);
        three.done();
        places.mark(vec![place(1, 8)]).done();
        let (again, _, read) = Places::open(&store, "j");
        assert_eq!(read, [place(1, 5)]);
        again.mark(vec![place(1, 6)]).done();
        assert_eq!(super::stored(&store, "j").get(&[1; 16]), Some(&place(1, 6)));
    }
}
