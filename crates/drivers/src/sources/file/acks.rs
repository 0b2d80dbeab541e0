//! How far a file was dealt with: batches end in any order, the stored position moves over those at the front only.

use super::identity::Position;
use engine::{Acknowledge, Mark};
use parking_lot::Mutex;
use state::Store;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};

/// The account of one file. Lives as long as the file is read or a batch of it is under way; a reader that comes meanwhile goes on with it.
pub struct Tracker {
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// Where each batch ends, and whether it is dealt with.
    waiting: VecDeque<(Position, bool)>,
    stored: Option<Position>,
    /// Where the reader is.
    read: Position,
    path: Vec<u8>,
    /// The file is no more: when all is dealt with, its record goes.
    gone: bool,
    value: Vec<u8>,
}

impl Inner {
    /// Batches under way are not waited for any more.
    fn renew(&mut self) {
        self.first += self.waiting.len() as u64;
        self.waiting.clear();
    }
}

type Live = Mutex<HashMap<(usize, Vec<u8>), Weak<Tracker>>>;

fn live() -> &'static Live {
    static LIVE: OnceLock<Live> = OnceLock::new();
    LIVE.get_or_init(Live::default)
}

impl Tracker {
    /// The account under this name, and where a reader of the file has to go on; `None` when the account is of an earlier file with
    /// the same inode, or new.
    pub fn open(
        store: &Arc<Store>,
        name: Vec<u8>,
        path: &Path,
        file: &File,
    ) -> (Arc<Tracker>, Option<Position>) {
        let is_known = |position: &Position| position.is_in(file).unwrap_or(false);
        let path = path.as_os_str().as_bytes();
        let key = (Arc::as_ptr(store) as usize, name.clone());
        let mut live = live().lock();
        if let Some(tracker) = live.get(&key).and_then(Weak::upgrade) {
            let mut inner = tracker.inner.lock();
            inner.gone = false;
            inner.path = path.to_vec();
            let read = Some(inner.read).filter(is_known);
            if read.is_none() {
                inner.renew();
            }
            drop(inner);
            return (tracker, read);
        }
        let stored =
            store.get(&name).and_then(|value| Position::decode(&value).map(|(position, _)| position));
        let inner =
            Inner { stored, read: stored.unwrap_or_default(), path: path.to_vec(), ..Inner::default() };
        let tracker = Arc::new(Tracker { store: Arc::clone(store), name, inner: Mutex::new(inner) });
        live.insert(key, Arc::downgrade(&tracker));
        (tracker, stored.filter(is_known))
    }

    /// A batch was read that ends here.
    pub fn mark(self: &Arc<Tracker>, end: Position) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        inner.waiting.push_back((end, false));
        inner.read = end;
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    /// A reader begins here, before anything is read. Whether that has to be stored, with [`Tracker::store_all`].
    pub fn note(&self, at: Position) -> bool {
        let mut inner = self.inner.lock();
        inner.read = at;
        if !inner.waiting.is_empty() || inner.stored == Some(at) {
            return false;
        }
        inner.stored = Some(at);
        true
    }

    /// Stores what was noted, in one write.
    pub fn store_all(noted: &mut Vec<Arc<Tracker>>) {
        let Some(store) = noted.first().map(|tracker| Arc::clone(&tracker.store)) else { return };
        // Each stays locked until it is stored: a batch that ends meanwhile comes after.
        let mut locked: Vec<_> = noted.iter().map(|tracker| (&tracker.name, tracker.inner.lock())).collect();
        for (_, inner) in &mut locked {
            let Inner { stored, value, path, .. } = &mut **inner;
            value.clear();
            if let Some(stored) = stored {
                stored.encode(path, value);
            }
        }
        let values = locked.iter().map(|(name, inner)| (name.as_slice(), inner.value.as_slice()));
        store.put_all(values.filter(|(_, value)| !value.is_empty()));
        drop(locked);
        noted.clear();
    }

    /// What the file held is gone from the disk: there is no use in going back to it.
    pub fn renew(&self) {
        self.inner.lock().renew();
    }

    /// The file has another name now.
    pub fn moved(&self, path: &Path) {
        self.inner.lock().path = path.as_os_str().as_bytes().to_vec();
    }

    /// The file is no more.
    pub fn forget(&self) {
        let mut inner = self.inner.lock();
        inner.gone = true;
        if inner.waiting.is_empty() {
            // A file that gets the inode next begins with a record of its own.
            inner.stored = None;
            self.store.remove(&self.name);
        }
    }
}

impl Acknowledge for Tracker {
    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Inner { first, waiting, stored, path, gone, value, .. } = &mut *inner;
        if let Some(batch) = number.checked_sub(*first).and_then(|at| waiting.get_mut(at as usize)) {
            batch.1 = true;
        }
        let mut end = None;
        while let Some((position, true)) = waiting.front() {
            end = Some(*position);
            waiting.pop_front();
            *first += 1;
        }
        match end {
            Some(_) if *gone && waiting.is_empty() => {
                *stored = None;
                self.store.remove(&self.name);
            }
            Some(end) if *stored != Some(end) => {
                *stored = Some(end);
                end.encode(path, value);
                self.store.put(&self.name, value);
            }
            _ => {}
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        let key = (Arc::as_ptr(&self.store) as usize, std::mem::take(&mut self.name));
        let mut live = live().lock();
        // Another one may have taken the place already.
        if live.get(&key).is_some_and(|tracker| tracker.strong_count() == 0) {
            live.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::file::identity::Head;

    fn at(offset: u64) -> Position {
        Position::new(offset, &Head::default())
    }

    fn stored(store: &Store) -> Option<u64> {
        store.get(b"n").and_then(|value| Position::decode(&value).map(|(p, _)| p.offset))
    }

    #[test]
    fn the_position_moves_in_order_only() {
        let store = Arc::new(Store::in_memory());
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("f");
        std::fs::write(&path, [b'x'; 30]).expect("write");
        let file = File::open(&path).expect("open");
        let open = || Tracker::open(&store, b"n".to_vec(), &path, &file);
        let (tracker, known) = open();
        assert_eq!(known, None);
        let (one, two, three) = (tracker.mark(at(10)), tracker.mark(at(20)), tracker.mark(at(30)));
        drop(two);
        assert_eq!(stored(&store), None);
        drop(one);
        assert_eq!(stored(&store), Some(20));
        drop(tracker);
        let (tracker, known) = open();
        assert_eq!(known, Some(at(30)), "a batch is under way: the next reader goes on behind it");
        tracker.forget();
        assert_eq!(stored(&store), Some(20));
        drop(three);
        assert_eq!(stored(&store), None);
        drop(tracker);
        let (tracker, known) = open();
        assert_eq!(known, None);
        let old = tracker.mark(at(30));
        std::fs::write(&path, "shorter").expect("write");
        assert_eq!(open().1, None, "it is another file");
        drop(tracker.mark(at(5)));
        assert_eq!(stored(&store), Some(5), "what was in the other one is not waited for");
        drop(old);
        assert_eq!(stored(&store), Some(5));
    }
}
