//! The numbers a destination gives to messages (`$SEQNUM`), over restarts: they go on where they ended, and
//! none is given twice.
//!
//! The state file has a number that was not given yet, some way ahead: it is written once in many messages,
//! before the first of them. A clean end writes the exact one, so that only a crash leaves a gap.

use parking_lot::Mutex;
use state::Live;
use state::Store;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// How far ahead numbers are reserved; the largest gap after a crash.
const AHEAD: u64 = 10_000;
/// First byte of the value in the state file.
const VERSION: u8 = 1;

/// Shared by all that write under one persist-name: a destination and the one that takes its place in a
/// reload.
pub struct Numbers {
    /// Of the next message.
    next: AtomicU64,
    /// Numbers below it may be given.
    reserved: AtomicU64,
    kept: Option<Kept>,
}

struct Kept {
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    /// Held while the state file is written.
    writing: Mutex<()>,
}

static LIVE: Live<Numbers> = Live::new();

impl Numbers {
    /// Numbers that begin anew with the process.
    pub fn forgotten() -> Numbers {
        Numbers { next: AtomicU64::new(1), reserved: AtomicU64::new(u64::MAX), kept: None }
    }

    /// Numbers that go on where those of `key` ended.
    pub fn open(store: &Arc<Store>, key: &str) -> Arc<Numbers> {
        let name = format!("{key}.seqnum").into_bytes();
        LIVE.open(store, &name.clone(), || {
            let next = store.get(&name).and_then(|value| decode(&value)).unwrap_or(1);
            Arc::new(Numbers {
                next: AtomicU64::new(next),
                reserved: AtomicU64::new(next),
                kept: Some(Kept { store: Arc::clone(store), name, writing: Mutex::default() }),
            })
        })
    }

    /// The first of `count` numbers nobody else gets.
    #[inline]
    pub fn take(&self, count: usize) -> u64 {
        let count = count as u64;
        let first = self.next.fetch_add(count, Relaxed);
        let end = first.saturating_add(count);
        if end > self.reserved.load(Relaxed) {
            self.reserve(end);
        }
        first
    }

    #[cold]
    fn reserve(&self, end: u64) {
        let Some(kept) = &self.kept else { return };
        let _writing = kept.writing.lock();
        if end > self.reserved.load(Relaxed) {
            let reserved = end.saturating_add(AHEAD);
            kept.store.put(&kept.name, &encode(reserved));
            self.reserved.store(reserved, Relaxed);
        }
    }

    /// Writes the exact number; whoever takes one later reserves anew.
    fn save(&self) {
        let Some(kept) = &self.kept else { return };
        let _writing = kept.writing.lock();
        let next = self.next.load(Relaxed);
        if self.reserved.swap(next, Relaxed) != next {
            kept.store.put(&kept.name, &encode(next));
        }
    }

    /// At a clean end, when nothing is written any more.
    pub fn save_all() {
        LIVE.all().iter().for_each(|numbers| numbers.save());
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        self.save();
        let Some(kept) = &mut self.kept else { return };
        LIVE.close(&kept.store, std::mem::take(&mut kept.name));
    }
}

fn encode(next: u64) -> [u8; 9] {
    let mut value = [VERSION; 9];
    value.iter_mut().skip(1).zip(next.to_le_bytes()).for_each(|(to, from)| *to = from);
    value
}

fn decode(value: &[u8]) -> Option<u64> {
    let (version, next) = value.split_first()?;
    let next = u64::from_le_bytes(next.try_into().ok()?);
    (*version == VERSION && next > 0).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(store: &Store) -> Option<u64> {
        store.get(b"afile.seqnum").and_then(|value| decode(&value))
    }

    #[test]
    fn numbers_go_on_after_a_clean_end() {
        let store = Arc::new(Store::in_memory());
        let numbers = Numbers::open(&store, "afile");
        assert_eq!(stored(&store), None);
        assert_eq!((numbers.take(3), numbers.take(1)), (1, 4));
        assert_eq!(stored(&store), Some(4 + AHEAD));
        drop(numbers);
        assert_eq!(stored(&store), Some(5));
        assert_eq!(Numbers::open(&store, "afile").take(1), 5);
    }

    #[test]
    fn none_is_given_twice_after_a_crash() {
        let store = Arc::new(Store::in_memory());
        let numbers = Numbers::open(&store, "afile");
        let mut last = 0;
        for _ in 0..3 * AHEAD {
            last = numbers.take(1);
        }
        let after_crash = stored(&store).expect("reserved");
        assert!(after_crash > last && after_crash - last <= AHEAD + 1, "{after_crash} {last}");
    }

    #[test]
    fn writes_are_few() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("state");
        let store = Arc::new(Store::open(&path).expect("state"));
        let numbers = Numbers::open(&store, "afile");
        let before = std::fs::metadata(&path).expect("file").len();
        numbers.take(1);
        let one = std::fs::metadata(&path).expect("file").len() - before;
        (1..AHEAD).for_each(|_| assert!(numbers.take(1) > 1));
        assert_eq!(std::fs::metadata(&path).expect("file").len() - before, one);
    }

    #[test]
    fn who_takes_the_place_goes_on() {
        let store = Arc::new(Store::in_memory());
        let old = Numbers::open(&store, "afile");
        old.take(7);
        let new = Numbers::open(&store, "afile");
        drop(old);
        assert_eq!(new.take(1), 8);
        Numbers::save_all();
        assert_eq!(stored(&store), Some(9));
        // Numbers given after that are reserved again.
        assert_eq!(new.take(1), 9);
        assert!(stored(&store) > Some(9));
    }

    #[test]
    fn a_damaged_value_is_none() {
        for value in [&b""[..], &[1], &[2; 9], &[1, 0, 0, 0, 0, 0, 0, 0, 0], &[1; 10]] {
            assert_eq!(decode(value), None);
        }
        assert_eq!(decode(&encode(7)), Some(7));
    }
}
