//! Reads the next piece of a file while the last one is looked at: a disk that is asked for one thing after
//! the other is at rest in between.

use super::window::aligned;
use crate::files::SegmentFile;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Queues that keep what they have read until they are read again, and let read ahead: each takes four times
/// [`super::BLOCK_MAX`].
const READERS_MAX: usize = 8;
/// A disk is faster when the next request is there before the last is answered.
const THREADS: usize = 2;
/// Memory that is kept for the next reader.
const SPARE_MAX: usize = 4;

/// What was read ahead.
pub struct Piece {
    pub memory: Vec<u8>,
    /// It is `memory[start..start + count]`.
    pub start: usize,
    pub count: usize,
}

/// A piece under way.
pub struct Pending {
    base: u64,
    length: usize,
    outcome: Arc<Outcome>,
}

/// An error is met again, and said, by who reads it then.
struct Unreadable;

#[derive(Default)]
struct Outcome {
    /// What the thread has come to.
    piece: Mutex<Option<Result<Piece, Unreadable>>>,
    there: Condvar,
}

impl Pending {
    pub fn base(&self) -> u64 {
        self.base
    }

    pub fn end(&self) -> u64 {
        self.base + self.length as u64
    }

    /// `None` when it cannot be read.
    pub fn wait(self) -> Option<Piece> {
        let mut piece = self.outcome.piece.lock();
        while piece.is_none() {
            self.outcome.there.wait(&mut piece);
        }
        piece.take()?.ok()
    }
}

struct Job {
    file: Arc<dyn SegmentFile>,
    base: u64,
    length: usize,
    memory: Vec<u8>,
    outcome: Arc<Outcome>,
}

impl Job {
    fn run(self) {
        let Job { file, base, length, mut memory, outcome } = self;
        let start = aligned(&mut memory, length);
        let count = file.read_pages(&mut memory[start..start + length], base);
        let piece = count.map(|count| Piece { memory, start, count: count.min(length) });
        *outcome.piece.lock() = Some(piece.map_err(|_| Unreadable));
        outcome.there.notify_one();
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    threaded: bool,
    threads: Vec<JoinHandle<()>>,
    ended: bool,
    readers: usize,
    spare: Vec<Vec<u8>>,
}

/// Of a log: its threads begin when they are first needed.
#[derive(Default)]
pub struct Ahead {
    state: Mutex<State>,
    work: Condvar,
}

/// The right to keep what was read.
pub struct Reader(Arc<Ahead>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.state.lock().readers -= 1;
    }
}

impl Ahead {
    /// From now on. Before, whatever is asked for is read at once, by who asks.
    pub fn use_thread(&self) {
        self.state.lock().threaded = true;
    }

    /// `None` when there are as many as may be.
    pub fn reader(self: &Arc<Ahead>) -> Option<Reader> {
        let mut state = self.state.lock();
        if state.readers >= READERS_MAX {
            return None;
        }
        state.readers += 1;
        Some(Reader(Arc::clone(self)))
    }

    pub fn spare(&self) -> Vec<u8> {
        self.state.lock().spare.pop().unwrap_or_default()
    }

    pub fn give_back(&self, memory: Vec<u8>) {
        let mut state = self.state.lock();
        if state.spare.len() < SPARE_MAX && !memory.is_empty() {
            state.spare.push(memory);
        }
    }

    /// Begins to read `length` bytes, whole pages. `None` when nobody can.
    pub fn fetch(
        self: &Arc<Ahead>,
        file: &Arc<dyn SegmentFile>,
        base: u64,
        length: usize,
        memory: Vec<u8>,
    ) -> Option<Pending> {
        let outcome = Arc::new(Outcome::default());
        let pending = Pending { base, length, outcome: Arc::clone(&outcome) };
        let mut job = Job { file: Arc::clone(file), base, length, memory, outcome };
        let mut state = self.state.lock();
        if !state.threaded {
            drop(state);
            job.run();
            return Some(pending);
        }
        if state.ended {
            return None;
        }
        if state.threads.len() < THREADS {
            let mine = Arc::clone(self);
            let thread = std::thread::Builder::new().name("store-ahead".to_owned());
            match thread.spawn(move || mine.run()) {
                Ok(thread) => state.threads.push(thread),
                Err(_) if state.threads.is_empty() => return None,
                Err(_) => {}
            }
        }
        if job.memory.is_empty() {
            job.memory = state.spare.pop().unwrap_or_default();
        }
        state.jobs.push_back(job);
        drop(state);
        self.work.notify_one();
        Some(pending)
    }

    /// Ends the threads, which do what was asked for before.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.ended = true;
        let threads = std::mem::take(&mut state.threads);
        drop(state);
        self.work.notify_all();
        for thread in threads {
            // It does nothing that could fail.
            let _ = thread.join();
        }
    }

    fn run(&self) {
        let mut state = self.state.lock();
        loop {
            match state.jobs.pop_front() {
                Some(job) => parking_lot::MutexGuard::unlocked(&mut state, || job.run()),
                None if state.ended => return,
                None => self.work.wait(&mut state),
            }
        }
    }
}
