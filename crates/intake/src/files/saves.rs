//! Positions on their way into the state file: those of many files are written together when the watcher has
//! its turn, so that what a small read costs does not grow with the number of files.

use super::acks::Tracker;
use engine::Wake;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// With fewer files than this each position is written when it moves: that costs less than giving the watcher
/// a turn.
const FILES_MIN: usize = 64;

/// The files of one source whose positions have moved and are not written.
#[derive(Default)]
pub struct Saves {
    /// There are many files, and a watcher. Asked for each batch, without the lock.
    defers: AtomicBool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    watcher: Option<Arc<dyn Wake>>,
    /// There is no watcher any more.
    is_closed: bool,
    waiting: Vec<Arc<Tracker>>,
}

impl Saves {
    /// Whom to wake when something waits.
    pub fn open(&self, watcher: Arc<dyn Wake>) {
        self.inner.lock().watcher = Some(watcher);
    }

    /// There are this many files now.
    pub fn count(&self, files: usize) {
        let inner = self.inner.lock();
        self.defers.store(files >= FILES_MIN && !inner.is_closed, Ordering::Relaxed);
    }

    /// Whether a position may wait for the watcher's next turn.
    pub fn defers(&self) -> bool {
        self.defers.load(Ordering::Relaxed)
    }

    /// The file is among those that [`Saves::store`] writes next. Only called when it is not yet.
    pub fn add(&self, tracker: Arc<Tracker>) {
        let mut inner = self.inner.lock();
        inner.waiting.push(tracker);
        let (is_first, is_closed) = (inner.waiting.len() == 1, inner.is_closed);
        let watcher = if is_first { inner.watcher.clone() } else { None };
        drop(inner);
        if let Some(watcher) = watcher {
            watcher.wake();
        }
        if is_closed {
            self.store();
        }
    }

    /// Writes what waits.
    pub fn store(&self) {
        let mut waiting = std::mem::take(&mut self.inner.lock().waiting);
        Tracker::store_all(&waiting);
        waiting.clear();
        let mut inner = self.inner.lock();
        if inner.waiting.is_empty() {
            inner.waiting = waiting;
        }
    }

    /// There is no watcher any more: from now on each position is written when it moves.
    pub fn close(&self) {
        let mut inner = self.inner.lock();
        (inner.watcher, inner.is_closed) = (None, true);
        self.defers.store(false, Ordering::Relaxed);
        drop(inner);
        self.store();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::identity::{Head, Position, Record};
    use drivers::testing::Wakes;
    use state::Store;
    use std::fs::File;

    #[test]
    fn positions_of_many_files_wait_for_the_watcher() {
        let dir = tempfile::tempdir().expect("folder");
        let path: Arc<std::path::Path> = dir.path().join("f").into();
        std::fs::write(&path, "x").expect("write");
        let file = File::open(&path).expect("open");
        let (store, saves) = (Arc::new(Store::in_memory()), Arc::new(Saves::default()));
        let watcher = Arc::new(Wakes::default());
        saves.open(watcher.clone());
        let open = |name: &[u8]| Tracker::open(&store, name.to_vec(), &path, &file, &saves).0;
        let (one, two) = (open(b"1"), open(b"2"));
        let at = |offset| Position::new(offset, &Head::default());
        let stored =
            |name: &[u8]| store.get(name).and_then(|value| Some(Record::decode(&value)?.position.offset));
        one.mark(at(10)).done();
        assert_eq!(stored(b"1"), Some(10), "few files: at once");
        saves.count(FILES_MIN);
        two.note(at(0));
        two.mark(at(10)).done();
        one.mark(at(20)).done();
        one.mark(at(30)).done();
        assert_eq!((stored(b"1"), stored(b"2"), watcher.count()), (Some(10), None, 1));
        saves.store();
        assert_eq!((stored(b"1"), stored(b"2")), (Some(30), Some(10)));
        one.mark(at(5)).done();
        assert_eq!(stored(b"1"), Some(5), "back: at once");
        one.mark(at(1_000_000)).done();
        assert_eq!(stored(b"1"), Some(1_000_000), "far ahead: at once");
        two.mark(at(20)).done();
        two.forget();
        saves.store();
        assert_eq!(stored(b"2"), None, "a file that is gone");
        one.mark(at(1_000_001)).done();
        saves.close();
        assert_eq!(stored(b"1"), Some(1_000_001));
        one.mark(at(1_000_002)).done();
        assert_eq!(stored(b"1"), Some(1_000_002), "nobody would write it later");
    }
}
