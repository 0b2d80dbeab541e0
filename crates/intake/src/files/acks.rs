//! How far a file was dealt with: batches end in any order, the stored position moves over those at the front
//! only.

use super::identity::{Position, Record};
use super::saves::Saves;
use engine::{Acknowledge, Mark};
use parking_lot::{Mutex, MutexGuard};
use state::Live;
use state::Store;
use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Weak};

/// A position that moved by so much is written at once: no more than this is repeated after a kill.
const SAVE_BYTES: u64 = 64 * 1024;

/// The account of one file. Lives as long as the file is read or a batch of it is under way; a reader that
/// comes meanwhile goes on with it.
pub struct Tracker {
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    me: Weak<Tracker>,
    inner: Mutex<Inner>,
}

struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// Where each batch ends, and whether it is dealt with.
    waiting: VecDeque<(Position, bool)>,
    /// What was dealt with.
    reached: Option<Position>,
    /// As the state file has it.
    stored: Option<Position>,
    /// It is among `saves`.
    is_queued: bool,
    saves: Arc<Saves>,
    /// Where the reader is.
    read: Position,
    path: Arc<Path>,
    number: u64,
    /// The file is no more: when all is dealt with, its record goes.
    gone: bool,
    /// A batch of this reader has to be read again: what comes behind it does not move the position.
    undone: bool,
}

impl Inner {
    /// Whether the position in the state file may stay behind for a while.
    fn may_wait(&self) -> bool {
        let from = match self.stored {
            Some(stored) => stored.offset,
            // Its first record is under way.
            None if self.is_queued => 0,
            None => return false,
        };
        let by = self.reached.and_then(|reached| reached.offset.checked_sub(from));
        by.is_some_and(|by| by < SAVE_BYTES) && self.saves.defers()
    }

    fn encode(&self, position: Position, value: &mut Vec<u8>) {
        Record { position, number: self.number, path: self.path.as_os_str().as_bytes() }.encode(value);
    }

    /// Batches under way are not waited for any more.
    fn renew(&mut self) {
        self.first += self.waiting.len() as u64;
        self.waiting.clear();
    }
}

static LIVE: Live<Tracker> = Live::new();

impl Tracker {
    /// The account under this name, and where a reader of the file has to go on; `None` when the account is
    /// of an earlier file with the same inode, or new.
    pub fn open(
        store: &Arc<Store>,
        name: Vec<u8>,
        path: &Arc<Path>,
        file: &File,
        saves: &Arc<Saves>,
    ) -> (Arc<Tracker>, Option<Position>) {
        let is_known = |position: &Position| position.is_in(file).unwrap_or(false);
        let mut made = None;
        let tracker = LIVE.open(store, &name, || {
            let value = store.get(&name);
            let record = value.as_deref().and_then(Record::decode);
            let stored = record.map(|record| record.position);
            made = Some(stored);
            let inner = Mutex::new(Inner {
                first: 0,
                waiting: VecDeque::new(),
                reached: stored,
                stored,
                is_queued: false,
                saves: Arc::clone(saves),
                read: stored.unwrap_or_default(),
                path: Arc::clone(path),
                number: record.map_or(0, |record| record.number),
                gone: false,
                undone: false,
            });
            let (store, name) = (Arc::clone(store), name.clone());
            Arc::new_cyclic(|me| Tracker { store, name, me: Weak::clone(me), inner })
        });
        if let Some(stored) = made {
            return (tracker, stored.filter(is_known));
        }
        let mut inner = tracker.inner.lock();
        inner.gone = false;
        inner.path = Arc::clone(path);
        inner.saves = Arc::clone(saves);
        inner.undone = false;
        let read = Some(inner.read).filter(is_known);
        if read.is_none() {
            inner.renew();
        }
        drop(inner);
        (tracker, read)
    }

    /// The file is at its path after one with the number `before`. What is known of it keeps its number,
    /// unless that says otherwise; then, and when nothing is known, it gets the one that `last` was not given
    /// yet.
    pub fn count(&self, is_known: bool, before: u64, last: &mut u64) {
        let mut inner = self.inner.lock();
        *last = (*last).max(before).max(inner.number);
        if !is_known || inner.number <= before {
            *last += 1;
            inner.number = *last;
            // The record says otherwise.
            (inner.reached, inner.stored) = (None, None);
        }
    }

    /// Of two files that were at one path the later one has the higher number.
    pub fn number(&self) -> u64 {
        self.inner.lock().number
    }

    /// Reads from what a batch will need.
    pub fn approach(&self) -> u64 {
        self.name.len() as u64 + u64::from(self.inner.is_locked())
    }

    /// A batch was read that ends here.
    pub fn mark(self: &Arc<Tracker>, end: Position) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        if !inner.undone {
            inner.waiting.push_back((end, false));
            inner.read = end;
        }
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    /// A reader begins here, before anything is read. It is stored with the next [`Saves::store`].
    pub fn note(&self, at: Position) {
        let mut inner = self.inner.lock();
        if inner.undone {
            return;
        }
        inner.read = at;
        if inner.waiting.is_empty() && inner.reached != Some(at) {
            inner.reached = Some(at);
            self.queue(inner);
        }
    }

    fn queue(&self, mut inner: MutexGuard<'_, Inner>) {
        if !std::mem::replace(&mut inner.is_queued, true) {
            let saves = Arc::clone(&inner.saves);
            drop(inner);
            if let Some(me) = self.me.upgrade() {
                saves.add(me);
            }
        }
    }

    /// Stores where these are, in one write. All are of one store, and none is there twice.
    pub fn store_all(queued: &[Arc<Tracker>]) {
        let Some(store) = queued.first().map(|tracker| &tracker.store) else { return };
        // Each stays locked until it is stored: a batch that ends meanwhile comes after.
        let mut locked = Vec::with_capacity(queued.len());
        let (mut values, mut value) = (Vec::new(), Vec::new());
        for tracker in queued {
            let mut inner = tracker.inner.lock();
            inner.is_queued = false;
            if let Some(reached) = inner.reached.filter(|reached| inner.stored != Some(*reached)) {
                inner.encode(reached, &mut value);
                values.extend_from_slice(&value);
                inner.stored = Some(reached);
                locked.push((&tracker.name, values.len(), inner));
            }
        }
        let mut from = 0;
        store.put_all(locked.iter().map(|(name, end, _)| {
            let value = values.get(std::mem::replace(&mut from, *end)..*end).unwrap_or_default();
            (name.as_slice(), value)
        }));
    }

    /// What the file held is gone from the disk: there is no use in going back to it.
    pub fn renew(&self) {
        self.inner.lock().renew();
    }

    /// The file has another name now.
    pub fn moved(&self, path: &Arc<Path>) {
        self.inner.lock().path = Arc::clone(path);
    }

    /// The file is no more.
    pub fn forget(&self) {
        let mut inner = self.inner.lock();
        inner.gone = true;
        if inner.waiting.is_empty() {
            // A file that gets the inode next begins with a record of its own.
            (inner.reached, inner.stored) = (None, None);
            self.store.remove(&self.name);
        }
    }
}

impl Acknowledge for Tracker {
    /// The position stays where it is, and whoever opens the file next reads from there. What this reader
    /// still brings counts no more.
    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let is_current =
            number.checked_sub(inner.first).is_some_and(|at| (at as usize) < inner.waiting.len());
        if is_current {
            inner.renew();
            inner.read = inner.reached.unwrap_or_default();
            inner.undone = true;
        }
    }

    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Inner { first, waiting, reached, stored, gone, .. } = &mut *inner;
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
                (*reached, *stored) = (None, None);
                self.store.remove(&self.name);
            }
            Some(end) if *reached != Some(end) => {
                *reached = Some(end);
                if inner.may_wait() {
                    return self.queue(inner);
                }
                let mut value = Vec::new();
                inner.encode(end, &mut value);
                inner.stored = Some(end);
                self.store.put(&self.name, &value);
            }
            _ => {}
        }
    }
}

impl Drop for Tracker {
    fn drop(&mut self) {
        LIVE.close(&self.store, std::mem::take(&mut self.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::identity::Head;

    fn at(offset: u64) -> Position {
        Position::new(offset, &Head::default())
    }

    fn stored(store: &Store) -> Option<u64> {
        store.get(b"n").and_then(|value| Record::decode(&value).map(|record| record.position.offset))
    }

    #[test]
    fn the_position_moves_in_order_only() {
        let store = Arc::new(Store::in_memory());
        let dir = tempfile::tempdir().expect("folder");
        let path: Arc<Path> = dir.path().join("f").into();
        std::fs::write(&path, [b'x'; 30]).expect("write");
        let file = File::open(&path).expect("open");
        let saves = Arc::default();
        let open = || Tracker::open(&store, b"n".to_vec(), &path, &file, &saves);
        let (tracker, known) = open();
        assert_eq!(known, None);
        let (one, two, three) = (tracker.mark(at(10)), tracker.mark(at(20)), tracker.mark(at(30)));
        two.done();
        assert_eq!(stored(&store), None);
        one.done();
        assert_eq!(stored(&store), Some(20));
        drop(tracker);
        let (tracker, known) = open();
        assert_eq!(known, Some(at(30)), "a batch is under way: the next reader goes on behind it");
        tracker.forget();
        assert_eq!(stored(&store), Some(20));
        three.done();
        assert_eq!(stored(&store), None);
        drop(tracker);
        let (tracker, known) = open();
        assert_eq!(known, None);
        let old = tracker.mark(at(30));
        std::fs::write(&path, "shorter").expect("write");
        assert_eq!(open().1, None, "it is another file");
        tracker.mark(at(5)).done();
        assert_eq!(stored(&store), Some(5), "what was in the other one is not waited for");
        old.done();
        assert_eq!(stored(&store), Some(5));
    }

    #[test]
    fn what_was_given_up_is_read_again_by_the_next_reader() {
        let store = Arc::new(Store::in_memory());
        let dir = tempfile::tempdir().expect("folder");
        let path: Arc<Path> = dir.path().join("f").into();
        std::fs::write(&path, [b'x'; 50]).expect("write");
        let file = File::open(&path).expect("open");
        let saves = Arc::default();
        let open = || Tracker::open(&store, b"n".to_vec(), &path, &file, &saves);
        let (tracker, _) = open();
        tracker.mark(at(10)).done();
        let (two, three) = (tracker.mark(at(20)), tracker.mark(at(30)));
        drop(two);
        three.done();
        tracker.mark(at(40)).done();
        tracker.note(at(50));
        assert_eq!(stored(&store), Some(10));
        assert_eq!(open().1, Some(at(10)));
        tracker.mark(at(20)).done();
        assert_eq!(stored(&store), Some(20));
    }
}
