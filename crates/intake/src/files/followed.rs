//! What the watcher of a source and the reader of one of its files say to each other.

use super::acks::Tracker;
use super::identity::FileId;
use engine::Wake;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// One file that is being read.
pub struct Followed {
    pub id: FileId,
    pub tracker: Arc<Tracker>,
    /// No path leads to the file any more: it is read to its end, and for a while longer.
    let_go: AtomicBool,
    /// Its reader was at the end after another file had taken its place.
    drained: AtomicBool,
    /// There are too many of those that were let go: no waiting for late writers.
    hurried: AtomicBool,
    /// It has changed and is in the next round.
    marked: AtomicBool,
    /// Something was read since that was asked last.
    grown: AtomicBool,
    /// Another file takes its place when this one is read to its end.
    replaced: AtomicBool,
    /// The file that had this one's place before: it is read to its end first.
    after: Option<Arc<Followed>>,
    links: Mutex<Links>,
}

#[derive(Default)]
struct Links {
    reader: Option<Arc<dyn Wake>>,
    /// Those that wait for this one's end.
    heirs: Vec<Arc<Followed>>,
}

/// Woken when what was read of the file is handed over, it lets the next one begin.
pub struct Drained(pub Arc<Followed>);

impl Wake for Drained {
    fn wake(&self) {
        self.0.drained();
    }
}

/// How a set of files hears of readers that have ended.
pub trait Ended: Send + Sync {
    fn ended(&self, id: FileId);
}

impl Followed {
    pub fn new(id: FileId, tracker: Arc<Tracker>, after: Option<Arc<Followed>>) -> Arc<Followed> {
        let followed = Arc::new(Followed {
            id,
            tracker,
            let_go: AtomicBool::new(false),
            drained: AtomicBool::new(false),
            hurried: AtomicBool::new(false),
            marked: AtomicBool::new(false),
            grown: AtomicBool::new(false),
            replaced: AtomicBool::new(false),
            after: after.filter(|before| !before.is_drained()),
            links: Mutex::default(),
        });
        if let Some(before) = &followed.after {
            before.links.lock().heirs.push(Arc::clone(&followed));
            before.replace();
        }
        followed
    }

    /// The reader is there.
    pub fn attach(&self, reader: Arc<dyn Wake>) {
        self.links.lock().reader = Some(reader);
    }

    /// Gives the reader a turn.
    pub fn wake(&self) {
        // It takes the lock of its worker's mailbox only, whose holder asks for no other.
        if let Some(reader) = &self.links.lock().reader {
            reader.wake();
        }
    }

    /// For [`engine::worker::Port::approach`], and before many are woken: reads from what that will need.
    pub fn approach(&self) -> bool {
        self.grown.load(Ordering::Relaxed) | self.links.is_locked()
    }

    /// It has changed: whether that was not known yet.
    pub fn mark(&self) -> bool {
        !self.marked.swap(true, Ordering::SeqCst)
    }

    /// Gives the reader the turn that it was marked for. What changes from now on is for another one.
    pub fn wake_marked(&self) {
        self.unmark();
        self.wake();
    }

    /// It has a turn anyway.
    pub fn unmark(&self) {
        self.marked.store(false, Ordering::SeqCst);
    }

    /// Something was read.
    pub fn grew(&self) {
        self.grown.store(true, Ordering::Relaxed);
    }

    /// Whether that happened since it was asked last. What is read right now may go unnoticed.
    pub fn take_grown(&self) -> bool {
        let grown = self.grown.load(Ordering::Relaxed);
        if grown {
            self.grown.store(false, Ordering::Relaxed);
        }
        grown
    }

    /// Another file takes its place when this one is read to its end.
    fn replace(&self) {
        self.replaced.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub fn let_go(&self) {
        self.let_go.store(true, Ordering::SeqCst);
        self.replace();
    }

    /// Another path leads to it.
    pub fn keep(&self) {
        self.let_go.store(false, Ordering::SeqCst);
    }

    pub fn is_let_go(&self) -> bool {
        self.let_go.load(Ordering::SeqCst)
    }

    pub fn hurry(&self) {
        self.hurried.store(true, Ordering::SeqCst);
        self.wake();
    }

    pub fn is_hurried(&self) -> bool {
        self.hurried.load(Ordering::SeqCst)
    }

    fn is_drained(&self) -> bool {
        self.drained.load(Ordering::SeqCst)
    }

    /// Whether what had this file's place is read to its end.
    pub fn may_begin(&self) -> bool {
        self.after.as_ref().is_none_or(|before| before.is_drained())
    }

    /// Whether another file takes its place. Asked before reading: an end that was seen earlier may be older
    /// than the last write.
    pub fn is_replaced(&self) -> bool {
        self.replaced.load(Ordering::SeqCst)
    }

    /// There is no reader any more.
    pub fn detach(&self) {
        self.links.lock().reader = None;
    }

    /// What its reader read, up to the end after the file was replaced, is in the outlets' queues.
    fn drained(&self) {
        let mut links = self.links.lock();
        let heirs = std::mem::take(&mut links.heirs);
        self.drained.store(true, Ordering::SeqCst);
        drop(links);
        heirs.iter().for_each(|heir| heir.wake());
    }
}
