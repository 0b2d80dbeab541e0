//! Flow control without arithmetic: bytes and messages a source has under way, given back when the last
//! destination is done.

mod pool;
mod ticket;

pub use pool::{Pool, Share};
pub use ticket::{Acknowledge, Mark, Ticket, Tickets};

use crate::friction;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use store::Load;

/// Memory for messages under way in the whole process.
#[derive(Debug)]
pub struct Budget {
    used: AtomicUsize,
    pub bytes_max: usize,
    /// From here on each connection gets its fair part only.
    warm_bytes: usize,
    /// Tickets that nobody ended: faults of ours.
    forgotten: AtomicUsize,
}

impl Budget {
    pub fn new(bytes_max: usize) -> Arc<Budget> {
        Budget::of(bytes_max, usize::MAX)
    }

    /// That of a process with so many workers.
    pub fn for_workers(bytes_max: usize, workers: usize) -> Arc<Budget> {
        Budget::of(bytes_max, WARM_BYTES.saturating_mul(workers))
    }

    fn of(bytes_max: usize, warm_bytes: usize) -> Arc<Budget> {
        Arc::new(Budget { used: AtomicUsize::new(0), bytes_max, warm_bytes, forgotten: AtomicUsize::new(0) })
    }

    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// How often messages ended without a word of what became of them. Anything but 0 is a fault of ours.
    pub fn forgotten(&self) -> usize {
        self.forgotten.load(Ordering::Relaxed)
    }

    /// Takes memory for something that messages under way need, given back by [`Budget::give_back`].
    pub fn take(&self, bytes: usize) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn give_back(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Release);
    }

    pub fn is_used_up(&self) -> bool {
        self.used() >= self.bytes_max
    }
}

/// Called when a window that was empty has credit again.
pub trait Wake: Send + Sync {
    fn wake(&self);
}

/// What one connection or file may have under way. Several tickets draw on it; a ticket that ends gives its
/// part back.
pub struct Window {
    bytes: AtomicUsize,
    messages: AtomicUsize,
    bytes_max: usize,
    /// In place of that while others work on what it lets in; 0 otherwise.
    shared_max: AtomicUsize,
    /// `log-iw-size()` of a source that has no others, when it was given.
    messages_max: usize,
    /// What the connections of its source have together, and its part of that.
    pool: Arc<Pool>,
    part: pool::Part,
    budget: Arc<Budget>,
    starved: AtomicBool,
    waker: Mutex<Option<Arc<dyn Wake>>>,
    /// What it lets in has to be on disk before it is let go: how much that log has to do. Set with the first
    /// such batch; to `None` where nobody can wait.
    load: OnceLock<Option<Arc<Load>>>,
}

/// With so many times its bytes under way a window is full whose log says when there is enough: a disk that
/// pauses for a moment does not stop the source at once.
const STORED_TIMES: usize = 2;

/// Bytes under way in the whole process, for each worker, beyond which no connection has more than
/// [`FAIR_BYTES`]: more than the caches hold makes nothing faster, and a thousand connections would have
/// gigabytes.
const WARM_BYTES: usize = 2 << 20;
/// What a connection has under way at most where there is much: as much as one read may bring.
const FAIR_BYTES: usize = 256 * 1024;

/// Messages taken for one batch at most: as many as a read can bring, of short ones.
const AHEAD_MAX: usize = 8192;

impl Window {
    pub fn new(bytes_max: usize, messages_max: Option<usize>, budget: Arc<Budget>) -> Arc<Window> {
        Window::of(&Arc::default(), bytes_max, messages_max, budget)
    }

    /// One that draws on what its source has for all its connections.
    pub fn of(
        pool: &Arc<Pool>,
        bytes_max: usize,
        messages_max: Option<usize>,
        budget: Arc<Budget>,
    ) -> Arc<Window> {
        Arc::new(Window {
            pool: Arc::clone(pool),
            part: pool::Part::default(),
            bytes: AtomicUsize::new(0),
            messages: AtomicUsize::new(0),
            bytes_max,
            shared_max: AtomicUsize::new(0),
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

    fn has_room(self: &Arc<Window>) -> bool {
        let bytes = self.bytes.load(Ordering::Acquire);
        let (bytes_max, is_high) = match self.load.get() {
            Some(Some(load)) => (self.bytes_max.saturating_mul(STORED_TIMES), load.is_high()),
            _ if bytes >= FAIR_BYTES && self.budget.used() > self.budget.warm_bytes => (FAIR_BYTES, false),
            _ => match self.shared_max.load(Ordering::Relaxed) {
                0 => (self.bytes_max, false),
                shared_max => (shared_max, false),
            },
        };
        bytes < bytes_max
            && self.messages.load(Ordering::Acquire) < self.messages_max
            // A connection with nothing under way may always read once: the budget bounds, it never starves.
            // Of one that has, something comes back, and then it looks again.
            && (bytes == 0 || (self.budget.used() < self.budget.bytes_max && !is_high))
            && self.pool.has_room(self)
    }

    /// What it lets in is worked on by several workers from now on: it may have so much under way.
    pub(crate) fn widen(&self, bytes_max: usize) {
        if self.shared_max.load(Ordering::Relaxed) != bytes_max {
            self.shared_max.store(bytes_max, Ordering::Relaxed);
        }
    }

    /// One worker alone works on it again.
    pub(crate) fn narrow(&self) {
        self.widen(0);
    }

    /// Whether the source may read. When not, `waker` is called once credit returns.
    pub fn may_read(self: &Arc<Window>, waker: &Arc<dyn Wake>) -> bool {
        if self.has_room() {
            return true;
        }
        *friction::lock(&self.waker) = Some(Arc::clone(waker));
        self.starved.store(true, Ordering::SeqCst);
        // Credit may have come back between the look and the note.
        self.has_room() && self.starved.swap(false, Ordering::SeqCst)
    }

    /// How many messages the next batch may have: taken for it now, so that no two connections count on the
    /// same. What it does not bring is given back by [`Window::end_ahead`].
    pub fn ahead(&self) -> usize {
        if !self.pool.is_shared() {
            return usize::MAX;
        }
        let taken = self.pool.take(&self.part, AHEAD_MAX);
        self.part.ahead.fetch_add(taken, Ordering::Relaxed) + taken
    }

    pub fn end_ahead(self: &Arc<Window>) {
        if self.part.ahead.load(Ordering::Relaxed) > 0 {
            self.pool.give_back(&self.part, self.part.ahead.swap(0, Ordering::Relaxed));
        }
    }

    /// Takes a batch's messages from the pool, those first that were taken ahead. How many it has now: what
    /// one read has brought beyond that, where the reader could not stop, is not counted.
    fn take(&self, messages: usize) -> usize {
        let ahead = self.part.ahead.load(Ordering::Relaxed);
        let of_them = ahead.min(messages);
        if of_them > 0 {
            self.part.ahead.store(ahead - of_them, Ordering::Relaxed);
        }
        of_them + self.pool.take(&self.part, messages - of_them)
    }

    /// Whether somebody cannot read for want of what its tickets hold.
    fn keeps_waiting(&self) -> bool {
        self.starved.load(Ordering::Relaxed) || self.pool.keeps_waiting() || self.budget.is_used_up()
    }

    /// Reads on however much a log has to do, and while there is room to keep it: what is not read soon is
    /// lost.
    pub fn ignore_load(&self) {
        let _ = self.load.set(None);
    }

    /// Takes credit for a batch; given back when the ticket and all others of the batch have ended.
    pub fn ticket(self: &Arc<Window>, bytes: usize, messages: usize) -> Ticket {
        self.marked(bytes, messages, None)
    }

    /// The same for a batch whose source wants to know when it is dealt with.
    pub fn marked(self: &Arc<Window>, bytes: usize, messages: usize, mark: Option<Mark>) -> Ticket {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.budget.used.fetch_add(bytes, Ordering::Relaxed);
        let pooled = self.take(messages);
        Ticket::new(self, ticket::Taken { bytes, messages, pooled }, mark)
    }

    fn give_back(self: &Arc<Window>, taken: &ticket::Taken) {
        self.budget.used.fetch_sub(taken.bytes, Ordering::Release);
        self.bytes.fetch_sub(taken.bytes, Ordering::Release);
        self.messages.fetch_sub(taken.messages, Ordering::SeqCst);
        self.pool.give_back(&self.part, taken.pooled);
        self.look_again();
    }

    /// Credit may have come back: wakes the source if it waits for that.
    fn look_again(self: &Arc<Window>) {
        if self.starved.load(Ordering::SeqCst)
            && self.has_room()
            && self.starved.swap(false, Ordering::SeqCst)
            && let Some(waker) = friction::lock(&self.waker).take()
        {
            waker.wake();
        }
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
    fn a_starved_source_is_woken_once_when_the_last_holder_has_ended() {
        let flag = Arc::new(Flag(AtomicUsize::new(0)));
        let waker: Arc<dyn Wake> = flag.clone();
        let window = Window::new(100, None, Budget::new(1000));
        let ticket = window.ticket(100, 1);
        let other = ticket.another();
        assert!(!window.may_read(&waker));
        ticket.settle();
        assert_eq!(flag.0.load(Ordering::SeqCst), 0);
        other.settle();
        assert_eq!(flag.0.load(Ordering::SeqCst), 1);
        assert!(window.may_read(&waker));
    }

    #[test]
    fn the_budget_bounds_but_never_starves_an_empty_window() {
        let flag: Arc<dyn Wake> = Arc::new(Flag(AtomicUsize::new(0)));
        let budget = Budget::new(10);
        let hog = Window::new(1000, None, Arc::clone(&budget));
        let held = hog.ticket(50, 1);
        assert!(!hog.may_read(&flag));
        assert!(Window::new(1000, None, budget).may_read(&flag));
        held.settle();
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
        let small = other.ticket(0, 0);
        small.waits_for(log.load());
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
        tickets.into_iter().chain([small]).for_each(Ticket::settle);
        log.close();
    }
}
