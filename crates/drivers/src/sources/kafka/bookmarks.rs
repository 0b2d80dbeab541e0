//! How far a partition was dealt with: batches end in any order, the bookmark moves over those at the front
//! only.

use engine::{Acknowledge, Mark, Wake};
use kafka::TopicPartition;
use parking_lot::Mutex;
use state::{Live, Store};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first byte of a value in the state file. Another form will have another one.
const VERSION: u8 = 1;

/// The account of one partition. Lives as long as it is read or a batch of it is under way; a reader that
/// comes meanwhile goes on with it.
pub struct Bookmark {
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// The offset behind each batch, and whether it is dealt with.
    waiting: VecDeque<(i64, bool)>,
    /// Everything before this offset was dealt with.
    reached: Option<i64>,
    /// Where the reader is.
    read: Option<i64>,
    /// It is written to the state file.
    is_kept: bool,
    /// A batch has to be read again: what comes behind it does not move the bookmark.
    undone: bool,
    caller: Option<Arc<Caller>>,
    /// It waits until nothing is under way.
    is_awaited: bool,
}

/// The reader of several partitions.
pub struct Caller {
    waker: Arc<dyn Wake>,
    /// Something has come back.
    is_back: AtomicBool,
}

impl Caller {
    pub fn new(waker: Arc<dyn Wake>) -> Caller {
        Caller { waker, is_back: AtomicBool::new(false) }
    }

    /// Whether something has come back of any of them since the last time.
    pub fn take_back(&self) -> bool {
        self.is_back.load(Ordering::Relaxed) && self.is_back.swap(false, Ordering::AcqRel)
    }
}

static LIVE: Live<Bookmark> = Live::new();

/// The name of a partition in the state file: that of the source, the topic, the number.
fn name(key: &str, place: &TopicPartition) -> Vec<u8> {
    let mut name = key.as_bytes().to_vec();
    name.push(b'/');
    name.extend_from_slice(&place.topic);
    name.extend_from_slice(format!("/{}", place.partition).as_bytes());
    name
}

fn decode(value: &[u8]) -> Option<i64> {
    let (version, offset) = value.split_first()?;
    let offset = offset.try_into().ok().filter(|_| *version == VERSION)?;
    Some(i64::from_le_bytes(offset))
}

impl Bookmark {
    /// The account of a partition, and where a reader has to go on: behind what is under way, or where the
    /// state file says.
    pub fn open(
        (store, key): (&Arc<Store>, &str),
        place: &TopicPartition,
        is_kept: bool,
        caller: Arc<Caller>,
    ) -> (Arc<Bookmark>, Option<i64>) {
        let name = name(key, place);
        let bookmark = LIVE.open(store, &name, || {
            let stored = store.get(&name).as_deref().and_then(decode).filter(|_| is_kept);
            let inner = Inner { reached: stored, read: stored, ..Inner::default() };
            Arc::new(Bookmark { store: Arc::clone(store), name: name.clone(), inner: Mutex::new(inner) })
        });
        let mut inner = bookmark.inner.lock();
        (inner.is_kept, inner.caller) = (is_kept, Some(caller));
        (inner.undone, inner.is_awaited) = (false, false);
        let read = inner.read;
        drop(inner);
        (bookmark, read)
    }

    /// Whether the topic has bookmarks in the state file: its partitions were read before.
    pub fn is_any(store: &Store, key: &str, topic: &[u8]) -> bool {
        let mut prefix = key.as_bytes().to_vec();
        prefix.push(b'/');
        prefix.extend_from_slice(topic);
        prefix.push(b'/');
        !store.with_prefix(&prefix).is_empty()
    }

    /// A reader begins there: what is under way does not count any more.
    pub fn begin(&self, offset: i64) {
        let mut inner = self.inner.lock();
        inner.first += inner.waiting.len() as u64;
        inner.waiting.clear();
        inner.read = Some(offset);
        self.reach(&mut inner, offset);
    }

    /// A batch was read that ends before this offset.
    pub fn mark(self: &Arc<Bookmark>, end: i64) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        if !inner.undone {
            inner.waiting.push_back((end, false));
            inner.read = Some(end);
        }
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    pub fn reached(&self) -> Option<i64> {
        self.inner.lock().reached
    }

    /// Whether nothing is under way. If something is, the reader is woken when that is over.
    pub fn is_idle(&self) -> bool {
        let mut inner = self.inner.lock();
        inner.is_awaited = !inner.waiting.is_empty();
        inner.waiting.is_empty()
    }

    /// Where to read again from, when something has come back.
    pub fn take_undone(&self) -> Option<i64> {
        let mut inner = self.inner.lock();
        if !std::mem::take(&mut inner.undone) {
            return None;
        }
        inner.reached
    }

    fn reach(&self, inner: &mut Inner, offset: i64) {
        if inner.reached.replace(offset) != Some(offset) && inner.is_kept {
            let mut value = [VERSION; 9];
            if let Some(place) = value.last_chunk_mut() {
                *place = offset.to_le_bytes();
            }
            self.store.put(&self.name, &value);
        }
    }
}

impl Acknowledge for Bookmark {
    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let at = number.checked_sub(inner.first);
        if let Some(batch) = at.and_then(|at| inner.waiting.get_mut(at as usize)) {
            batch.1 = true;
        }
        let mut end = None;
        while let Some((offset, true)) = inner.waiting.front() {
            end = Some(*offset);
            inner.waiting.pop_front();
            inner.first += 1;
        }
        if let Some(end) = end {
            self.reach(&mut inner, end);
        }
        if inner.is_awaited && inner.waiting.is_empty() {
            inner.caller.iter().for_each(|caller| caller.waker.wake());
        }
    }

    /// The bookmark stays where it is, and its reader goes back there.
    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let at = number.checked_sub(inner.first);
        if at.is_some_and(|at| (at as usize) < inner.waiting.len()) {
            inner.first += inner.waiting.len() as u64;
            inner.waiting.clear();
            inner.read = inner.reached;
            inner.undone = true;
            if let Some(caller) = &inner.caller {
                caller.is_back.store(true, Ordering::Release);
                caller.waker.wake();
            }
        }
    }
}

impl Drop for Bookmark {
    fn drop(&mut self) {
        LIVE.close(&self.store, std::mem::take(&mut self.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoWake;
    impl Wake for NoWake {
        fn wake(&self) {}
    }

    fn open(store: &Arc<Store>) -> (Arc<Bookmark>, Option<i64>) {
        let place = TopicPartition { topic: b"t"[..].into(), partition: 3 };
        Bookmark::open((store, "k"), &place, true, Arc::new(Caller::new(Arc::new(NoWake))))
    }

    fn stored(store: &Store) -> Option<i64> {
        store.get(b"k/t/3").as_deref().and_then(decode)
    }

    #[test]
    fn the_bookmark_moves_in_order_only_and_outlives_its_reader() {
        let store = Arc::new(Store::in_memory());
        let (bookmark, read) = open(&store);
        assert_eq!(read, None);
        bookmark.begin(100);
        assert!(Bookmark::is_any(&store, "k", b"t") && !Bookmark::is_any(&store, "k", b"other"));
        let (one, two) = (bookmark.mark(110), bookmark.mark(120));
        two.done();
        assert_eq!((stored(&store), bookmark.is_idle()), (Some(100), false));
        let (again, read) = open(&store);
        assert_eq!(read, Some(120), "the next reader goes on behind what is under way");
        drop((bookmark, again));
        one.done();
        assert_eq!((stored(&store), open(&store).1), (Some(120), Some(120)));
    }

    #[test]
    fn what_comes_back_is_read_again() {
        let store = Arc::new(Store::in_memory());
        let (bookmark, _) = open(&store);
        bookmark.begin(0);
        bookmark.mark(10).done();
        let (two, three) = (bookmark.mark(20), bookmark.mark(30));
        drop(two);
        three.done();
        bookmark.mark(40).done();
        assert_eq!(
            (stored(&store), bookmark.take_undone(), bookmark.take_undone()),
            (Some(10), Some(10), None)
        );
        bookmark.mark(20).done();
        assert_eq!(stored(&store), Some(20));
    }

    #[test]
    fn values_of_other_forms_are_none() {
        for value in [&[][..], &[1], &[2; 9], &[1; 10]] {
            assert_eq!(decode(value), None);
        }
        assert_eq!(decode(&[1, 7, 0, 0, 0, 0, 0, 0, 0]), Some(7));
    }
}
