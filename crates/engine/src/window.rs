//! Flow control without arithmetic: bytes and messages a source has under way, given back when the last destination is done.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use store::{Load, Origin};

/// Told when everything made from a batch has been dealt with, in any order of batches.
pub trait Acknowledge: Send + Sync {
    fn done(&self, number: u64);
}

/// A batch of a source that remembers how far it has come. Says so when dropped, unless the process ends with the batch undelivered.
pub struct Mark {
    to: Option<Arc<dyn Acknowledge>>,
    number: u64,
    origin: Option<Origin>,
}

impl Mark {
    pub fn new(to: Arc<dyn Acknowledge>, number: u64) -> Mark {
        Mark { to: Some(to), number, origin: None }
    }

    /// The messages of the batch can be counted: what of them is on disk is left out when they come again after a crash.
    pub fn counted(mut self, origin: Origin) -> Mark {
        self.origin = Some(origin);
        self
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(to) = &self.to {
            to.done(self.number);
        }
    }
}

/// Memory for messages under way in the whole process.
#[derive(Debug)]
pub struct Budget {
    used: AtomicUsize,
    pub bytes_max: usize,
    /// The process ends: what is given back from now on was given up.
    ending: AtomicBool,
}

impl Budget {
    pub fn new(bytes_max: usize) -> Arc<Budget> {
        Arc::new(Budget { used: AtomicUsize::new(0), bytes_max, ending: AtomicBool::new(false) })
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// From now on nothing counts as delivered: sources read it again after the next start.
    pub(crate) fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
    }

    /// The end was called off.
    pub(crate) fn begin(&self) {
        self.ending.store(false, Ordering::SeqCst);
    }
}

/// Called when a window that was empty has credit again.
pub trait Wake: Send + Sync {
    fn wake(&self);
}

/// What one connection or file may have under way. Several tickets draw on it; dropping a ticket gives its part back.
pub struct Window {
    bytes: AtomicUsize,
    messages: AtomicUsize,
    bytes_max: usize,
    /// `log-iw-size()` when it was given.
    messages_max: usize,
    budget: Arc<Budget>,
    starved: AtomicBool,
    waker: Mutex<Option<Arc<dyn Wake>>>,
    /// What it lets in has to be on disk before it is let go: how much that log has to do. Set with the first such batch; to `None` where
    /// nobody can wait.
    load: OnceLock<Option<Arc<Load>>>,
}

/// With so many times its bytes under way a window is full whose log says when there is enough: a disk that pauses for a moment does not
/// stop the source at once.
const STORED_TIMES: usize = 2;

impl Window {
    pub fn new(bytes_max: usize, messages_max: Option<usize>, budget: Arc<Budget>) -> Arc<Window> {
        Arc::new(Window {
            bytes: AtomicUsize::new(0),
            messages: AtomicUsize::new(0),
            bytes_max,
            messages_max: messages_max.unwrap_or(usize::MAX),
            budget,
            starved: AtomicBool::new(false),
            waker: Mutex::new(None),
            load: OnceLock::new(),
        })
    }

    /// Bytes under way.
    pub fn used(&self) -> usize {
        self.bytes.load(Ordering::Acquire)
    }

    fn has_room(&self) -> bool {
        let bytes = self.bytes.load(Ordering::Acquire);
        let (bytes_max, is_high) = match self.load.get() {
            Some(Some(load)) => (self.bytes_max.saturating_mul(STORED_TIMES), load.is_high()),
            _ => (self.bytes_max, false),
        };
        bytes < bytes_max
            && self.messages.load(Ordering::Acquire) < self.messages_max
            // A connection with nothing under way may always read once: the budget bounds, it never starves. Of one that has, something
            // comes back, and then it looks again.
            && (bytes == 0 || (self.budget.used() < self.budget.bytes_max && !is_high))
    }

    /// Whether the source may read. When not, `waker` is called once credit returns.
    pub fn may_read(&self, waker: &Arc<dyn Wake>) -> bool {
        if self.has_room() {
            return true;
        }
        *self.waker.lock() = Some(Arc::clone(waker));
        self.starved.store(true, Ordering::SeqCst);
        // Credit may have come back between the look and the note.
        self.has_room() && self.starved.swap(false, Ordering::SeqCst)
    }

    /// Reads on however much a log has to do, and while there is room to keep it: what is not read soon is lost.
    pub fn ignore_load(&self) {
        let _ = self.load.set(None);
    }

    /// Takes credit for a batch; given back when the ticket and all its clones are gone.
    pub fn ticket(self: &Arc<Window>, bytes: usize, messages: usize) -> Arc<Ticket> {
        self.marked(bytes, messages, None)
    }

    /// The same for a batch whose source wants to know when it is dealt with.
    pub fn marked(self: &Arc<Window>, bytes: usize, messages: usize, mark: Option<Mark>) -> Arc<Ticket> {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        Arc::new(Ticket { window: Arc::clone(self), bytes, messages, mark, received: Instant::now() })
    }

    fn give_back(&self, bytes: usize, messages: usize) {
        self.budget.used.fetch_sub(bytes, Ordering::Release);
        self.bytes.fetch_sub(bytes, Ordering::Release);
        self.messages.fetch_sub(messages, Ordering::SeqCst);
        if self.starved.load(Ordering::SeqCst)
            && self.has_room()
            && self.starved.swap(false, Ordering::SeqCst)
            && let Some(waker) = self.waker.lock().take()
        {
            waker.wake();
        }
    }
}

/// A batch's share of its source's window: held by every chunk made from it.
pub struct Ticket {
    window: Arc<Window>,
    bytes: usize,
    messages: usize,
    mark: Option<Mark>,
    received: Instant,
}

impl Ticket {
    /// How long its batch has been under way.
    pub(crate) fn age(&self) -> Duration {
        self.received.elapsed()
    }

    /// It comes back when a log has made its messages safe.
    pub(crate) fn waits_for(&self, load: &Arc<Load>) {
        self.window.load.get_or_init(|| Some(Arc::clone(load)));
    }

    /// Whether its source may be made to wait: of others, what is not read soon is lost.
    pub(crate) fn can_wait(&self) -> bool {
        !matches!(self.window.load.get(), Some(None))
    }

    /// Whether its source waits to hear that the batch is dealt with. Others only count what is under way.
    pub fn is_marked(&self) -> bool {
        self.mark.is_some()
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.mark.as_ref()?.origin.as_ref()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(mut mark) = self.mark.take()
            && self.window.budget.ending.load(Ordering::Relaxed)
        {
            mark.to = None;
        }
        self.window.give_back(self.bytes, self.messages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Flag(AtomicUsize);
    impl Wake for Flag {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_starved_source_is_woken_once_when_the_last_clone_is_gone() {
        let flag = Arc::new(Flag(AtomicUsize::new(0)));
        let waker: Arc<dyn Wake> = flag.clone();
        let window = Window::new(100, None, Budget::new(1000));
        let ticket = window.ticket(100, 1);
        let clone = Arc::clone(&ticket);
        assert!(!window.may_read(&waker));
        drop(ticket);
        assert_eq!(flag.0.load(Ordering::SeqCst), 0);
        drop(clone);
        assert_eq!(flag.0.load(Ordering::SeqCst), 1);
        assert!(window.may_read(&waker));
    }

    impl Acknowledge for Flag {
        fn done(&self, number: u64) {
            self.0.fetch_add(number as usize, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_mark_is_told_with_the_last_clone_and_not_when_the_process_ends() {
        let flag = Arc::new(Flag(AtomicUsize::new(0)));
        let mark = |number| Some(Mark::new(Arc::clone(&flag) as Arc<dyn Acknowledge>, number));
        let budget = Budget::new(1000);
        let window = Window::new(100, None, Arc::clone(&budget));
        let ticket = window.marked(1, 1, mark(5));
        let clone = Arc::clone(&ticket);
        drop(ticket);
        assert_eq!(flag.0.load(Ordering::SeqCst), 0);
        drop(clone);
        assert_eq!(flag.0.load(Ordering::SeqCst), 5);
        let undelivered = window.marked(1, 1, mark(7));
        budget.end();
        drop(undelivered);
        assert_eq!(flag.0.load(Ordering::SeqCst), 5);
    }

    #[test]
    fn the_budget_bounds_but_never_starves_an_empty_window() {
        let flag: Arc<dyn Wake> = Arc::new(Flag(AtomicUsize::new(0)));
        let budget = Budget::new(10);
        let hog = Window::new(1000, None, Arc::clone(&budget));
        let _held = hog.ticket(50, 1);
        assert!(!hog.may_read(&flag));
        assert!(Window::new(1000, None, budget).may_read(&flag));
    }

    #[test]
    fn a_source_with_something_under_way_waits_while_its_log_has_enough_to_do() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = store::Log::open(store::Options::new(dir.path())).expect("a log").log;
        let queue = log.queue(b"q", 1 << 30, Box::new(|| ())).expect("a queue");
        let waker: Arc<dyn Wake> = Arc::new(Flag(AtomicUsize::new(0)));
        let budget = Budget::new(1 << 30);
        let [window, other, impatient] = [0; 3].map(|_| Window::new(100, None, Arc::clone(&budget)));
        impatient.ignore_load();
        let tickets = [&window, &impatient].map(|window| window.ticket(10, 1));
        tickets.iter().for_each(|ticket| ticket.waits_for(log.load()));
        other.ticket(0, 0).waits_for(log.load());
        assert!(window.may_read(&waker));
        let together = log.together();
        let bytes = vec![b'x'; 16 << 20];
        let stored = queue.append(&bytes, &[bytes.len() as u32], store::Safe::Synced, Box::new(()));
        assert!(stored.is_ok() && log.load().is_high());
        assert!(!window.may_read(&waker));
        assert!(other.may_read(&waker), "it has nothing under way");
        assert!(impatient.may_read(&waker));
        drop(together);
        assert!(log.flush());
        assert!(window.may_read(&waker));
        log.close();
    }
}
