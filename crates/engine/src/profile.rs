//! What each worker does at this moment, for whoever looks: written by the worker while somebody profiles,
//! otherwise a relaxed load at each step of a batch.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// As many as there may be workers.
const WORKERS_MAX: usize = 256;

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doing {
    /// It waits for something to do.
    Sleeps,
    /// It goes from one thing to the next.
    Turns,
    /// It reads and frames what came to a source; the number is that of its step.
    Reads,
    /// It takes headers apart, of a source.
    Parses,
    /// It is at a step of a log path; the number is that of the step. At a destination it formats.
    Steps,
    /// It writes; the number is that of the outlet.
    Writes,
    /// It is at the handshake of an encrypted connection of a source.
    Handshakes,
}

const ALL: [Doing; 7] = [
    Doing::Sleeps,
    Doing::Turns,
    Doing::Reads,
    Doing::Parses,
    Doing::Steps,
    Doing::Writes,
    Doing::Handshakes,
];

/// Two cache lines: processors fetch them in pairs.
#[repr(align(128))]
struct Mark {
    /// The number of what is done, and behind it what is done.
    at: AtomicU64,
    /// As the kernel calls the thread; 0: there is none.
    thread: AtomicI32,
}

static MARKS: [Mark; WORKERS_MAX] =
    [const { Mark { at: AtomicU64::new(0), thread: AtomicI32::new(0) } }; WORKERS_MAX];
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// Connections that are not read at this moment, because their sender has no name yet.
static NAMELESS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MINE: Cell<Option<&'static Mark>> = const { Cell::new(None) };
}

/// This thread is the worker from now on.
pub(crate) fn enter(worker: usize) {
    let mark = MARKS.get(worker);
    if let Some(mark) = mark {
        mark.thread.store(rustix::thread::gettid().as_raw_nonzero().get(), Relaxed);
    }
    MINE.set(mark);
}

/// Whether somebody looks.
#[inline]
pub(crate) fn is_on() -> bool {
    WATCHERS.load(Relaxed) > 0
}

/// What this thread does from now on.
#[inline]
pub(crate) fn mark(doing: Doing, number: u32) {
    if is_on() {
        put(doing, number);
    }
}

/// The same for a part of what it does: [`mark_again`] takes it back. `None` where nobody looks.
#[inline]
pub(crate) fn mark_within(doing: Doing, number: u32) -> Option<u64> {
    if !is_on() {
        return None;
    }
    let before = MINE.get().map(|mark| mark.at.load(Relaxed));
    put(doing, number);
    before
}

#[inline]
pub(crate) fn mark_again(before: Option<u64>) {
    if let Some((before, mark)) = before.zip(MINE.get()) {
        mark.at.store(before, Relaxed);
    }
}

#[cold]
fn put(doing: Doing, number: u32) {
    if let Some(mark) = MINE.get() {
        mark.at.store(u64::from(number) << 8 | doing as u64, Relaxed);
    }
}

/// While it lives, a connection waits for the name of its sender.
pub struct Nameless(());

impl Nameless {
    pub fn begin() -> Nameless {
        NAMELESS.fetch_add(1, Relaxed);
        Nameless(())
    }

    /// How many there are.
    pub fn count() -> usize {
        NAMELESS.load(Relaxed)
    }
}

impl Drop for Nameless {
    fn drop(&mut self) {
        NAMELESS.fetch_sub(1, Relaxed);
    }
}

/// While it lives, workers say what they do.
pub struct Profiling(());

impl Profiling {
    pub fn begin() -> Profiling {
        // What a worker did when somebody looked last says nothing about now.
        MARKS.iter().for_each(|mark| mark.at.store(0, Relaxed));
        WATCHERS.fetch_add(1, Relaxed);
        Profiling(())
    }

    /// What a worker does, and the number of its thread.
    pub fn look(&self, worker: usize) -> Option<(Doing, u32, i32)> {
        let mark = MARKS.get(worker)?;
        let thread = mark.thread.load(Relaxed);
        let at = mark.at.load(Relaxed);
        let doing = ALL.get((at & 0xff) as usize).copied().unwrap_or(Doing::Turns);
        (thread != 0).then_some((doing, (at >> 8) as u32, thread))
    }
}

impl Drop for Profiling {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use parking_lot::Mutex;

    /// Who begins forgets what all workers do: tests that look take turns.
    pub(crate) static TURN: Mutex<()> = Mutex::new(());

    #[test]
    fn a_worker_says_what_it_does_while_somebody_looks() {
        let _turn = TURN.lock();
        let number = WORKERS_MAX - 1;
        enter(number);
        mark(Doing::Steps, 7);
        let profiling = Profiling::begin();
        assert!(profiling.look(number).is_some_and(|(doing, at, _)| (doing, at) == (Doing::Sleeps, 0)));
        mark(Doing::Writes, u32::MAX);
        let (doing, at, thread) = profiling.look(number).expect("a worker");
        assert_eq!((doing, at), (Doing::Writes, u32::MAX));
        let before = mark_within(Doing::Steps, 3);
        assert!(profiling.look(number).is_some_and(|(doing, at, _)| (doing, at) == (Doing::Steps, 3)));
        mark_again(before);
        assert!(profiling.look(number).is_some_and(|(doing, ..)| doing == Doing::Writes));
        assert_eq!(thread, rustix::thread::gettid().as_raw_nonzero().get());
        assert_eq!(profiling.look(number - 1), None);
    }
}
