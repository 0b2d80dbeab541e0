//! What workers fight over, counted where it happens: locks that somebody had to wait for, workers that were
//! woken, batches that went to another worker.
//!
//! Counting costs nothing where nothing is fought over, and each thread counts on a cache line of its own:
//! counters that everybody writes would be one more thing to fight over.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Threads beyond these count together with earlier ones.
const LINES: usize = 64;

/// What one thread has met. Two cache lines: processors fetch them in pairs.
#[repr(align(128))]
struct Line {
    lock_waits: AtomicU64,
    wake_ups: AtomicU64,
    hand_overs: AtomicU64,
}

/// What all threads of the process have met since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Friction {
    /// Locks that were held by somebody else when they were wanted.
    pub lock_waits: u64,
    /// Workers that were woken, by a system call, for something that other threads had done.
    pub wake_ups: u64,
    /// Batches that were worked on by another worker than the one that read them.
    pub hand_overs: u64,
}

static ALL: [Line; LINES] = [const {
    Line { lock_waits: AtomicU64::new(0), wake_ups: AtomicU64::new(0), hand_overs: AtomicU64::new(0) }
}; LINES];
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static MINE: &'static Line = &ALL[NEXT.fetch_add(1, Relaxed) % LINES];
}

/// Takes a lock, and counts when it has to be waited for.
#[inline]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    match mutex.try_lock() {
        Some(guard) => guard,
        None => wait(mutex),
    }
}

#[cold]
fn wait<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    count(|line| &line.lock_waits);
    mutex.lock()
}

pub(crate) fn woken() {
    count(|line| &line.wake_ups);
}

pub(crate) fn handed_over() {
    count(|line| &line.hand_overs);
}

fn count(which: impl Fn(&'static Line) -> &'static AtomicU64) {
    // A thread that is ending has no line any more.
    let _ = MINE.try_with(|line| which(line).fetch_add(1, Relaxed));
}

/// The sum over all threads.
pub fn friction() -> Friction {
    let sum = |which: fn(&Line) -> &AtomicU64| ALL.iter().map(|line| which(line).load(Relaxed)).sum();
    Friction {
        lock_waits: sum(|line| &line.lock_waits),
        wake_ups: sum(|line| &line.wake_ups),
        hand_overs: sum(|line| &line.hand_overs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_lock_that_is_free_is_not_waited_for_and_one_that_is_held_is() {
        let mutex = Arc::new(Mutex::new(1));
        // Other tests count meanwhile: what this thread has met is on one line.
        let mine = || MINE.with(|line| line.lock_waits.load(Relaxed));
        let before = mine();
        *lock(&mutex) += 1;
        assert_eq!(mine(), before);
        let held = mutex.lock();
        let (say, heard) = std::sync::mpsc::channel();
        let other = Arc::clone(&mutex);
        let waiting = std::thread::spawn(move || {
            let line = MINE.with(|line| *line);
            say.send((line, line.lock_waits.load(Relaxed))).expect("the test");
            *lock(&other) += 1;
        });
        let (line, before) = heard.recv().expect("the one who waits");
        while line.lock_waits.load(Relaxed) == before {
            std::thread::yield_now();
        }
        drop(held);
        waiting.join().expect("the one who waits");
        assert_eq!(*mutex.lock(), 3);
        assert!(friction().lock_waits > before);
    }
}
