//! Batches that wait for a free core, and who is there to take them.
//!
//! Workers with connections of their own take nobody else's batches: a batch that travels between two busy
//! workers costs both of them cache misses and brings no core more. Batches go to workers that have nothing
//! to do, the *helpers*; a sleeping one is woken only when more batches wait than helpers are awake. Where
//! nobody helps, the owner of a connection runs its batches itself, so that the connection comes home.

use super::handle::WorkerHandle;
use super::port::PortContext;
use crate::friction;
use crate::lane::{Lane, Turn};
use crate::source::Source;
use crate::window::Ticket;
use parking_lot::Mutex;
use record::Batch;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Batches that may wait for a free core, per worker: more would only fill the caches.
const JOBS_PER_WORKER: usize = 2;

/// A framed batch on its way to whichever core is free.
pub struct Job {
    pub batch: Batch,
    pub source: Arc<Source>,
    pub lane: Arc<Lane>,
    pub number: u64,
    pub ticket: Ticket,
    /// The worker that has read it.
    pub owner: usize,
}

impl Job {
    /// Runs the log paths and hands the output over in the lane's order.
    pub fn run(self, cx: &mut PortContext) {
        let Job { mut batch, source, lane, number, ticket, owner } = self;
        let at_home = owner == cx.handle.index();
        if !at_home {
            friction::handed_over();
        }
        cx.scratch.turn = Some(Turn { lane: Arc::clone(&lane), number });
        let run = || source.process(&mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.lane_outbox);
        // The lane must go on whatever happens to this batch.
        let in_work = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        cx.scratch.turn = None;
        if in_work.is_err() {
            source.contained(&batch);
            cx.lane_outbox.roll_back();
        }
        let parcels = cx.lane_outbox.take(&ticket);
        // What is not in the parcels was filtered out, or counted as dropped by a panic.
        ticket.settle();
        drop(in_work);
        match at_home {
            true => cx.recycle(batch),
            false => cx.shared.give_back(batch),
        }
        for outlet in lane.finish(number, parcels) {
            outlet.pump();
        }
    }
}

/// The workers that sleep: a bit for each.
struct Asleep(Vec<AtomicU64>);

impl Asleep {
    fn word_of(&self, index: usize) -> Option<(&AtomicU64, u64)> {
        Some((self.0.get(index / 64)?, 1 << (index % 64)))
    }

    fn is_any(&self) -> bool {
        self.0.iter().any(|word| word.load(Ordering::Relaxed) != 0)
    }

    fn count(&self) -> usize {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones() as usize).sum()
    }

    fn add(&self, index: usize) {
        if let Some((word, bit)) = self.word_of(index) {
            word.fetch_or(bit, Ordering::SeqCst);
        }
    }

    /// Whether it was there.
    fn remove(&self, index: usize) -> bool {
        self.word_of(index).is_some_and(|(word, bit)| word.fetch_and(!bit, Ordering::SeqCst) & bit != 0)
    }

    /// Takes one of them, a neighbour of `near` if there is one.
    fn take(&self, near: usize) -> Option<usize> {
        let words = self.0.len().max(1);
        for step in 0..words {
            let at = (near / 64 + step) % words;
            loop {
                let bits = self.0.get(at)?.load(Ordering::SeqCst);
                if bits == 0 {
                    break;
                }
                let turn = if step == 0 { (near % 64) as u32 } else { 0 };
                let bit = (bits.rotate_right(turn).trailing_zeros() + turn) % 64;
                let index = at * 64 + bit as usize;
                if self.remove(index) {
                    return Some(index);
                }
            }
        }
        None
    }
}

/// See the file's first lines.
pub(super) struct Jobs {
    queue: Mutex<VecDeque<Job>>,
    waiting: AtomicUsize,
    /// Workers awake that had nothing of their own to do when they last looked, those included that were
    /// woken for a job.
    helpers: AtomicUsize,
    asleep: Asleep,
    workers: usize,
    /// Batches given away since the start.
    given: AtomicU64,
}

impl Jobs {
    pub fn new(workers: usize) -> Jobs {
        Jobs {
            queue: Mutex::default(),
            waiting: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            asleep: Asleep((0..workers.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()),
            workers,
            given: AtomicU64::new(0),
        }
    }

    /// Whether somebody would take up one more at once.
    #[inline]
    pub fn finds_help(&self) -> bool {
        self.asleep.is_any() || self.helpers.load(Ordering::Relaxed) > self.waiting.load(Ordering::Relaxed)
    }

    /// Whether there is anybody who takes jobs of others.
    pub fn has_helpers(&self) -> bool {
        self.helpers.load(Ordering::SeqCst) > 0 || self.asleep.is_any()
    }

    /// Workers that are not waiting for something to do.
    pub fn awake(&self) -> usize {
        self.workers.saturating_sub(self.asleep.count())
    }

    pub fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) >= JOBS_PER_WORKER * self.workers
    }

    pub fn is_any(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    pub fn given(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    pub fn give(&self, job: Job, workers: &[WorkerHandle]) {
        let owner = job.owner;
        self.given.fetch_add(1, Ordering::Relaxed);
        friction::lock(&self.queue).push_back(job);
        self.waiting.fetch_add(1, Ordering::SeqCst);
        self.call_help(owner, workers);
    }

    /// Wakes one worker when more batches wait than helpers are awake.
    fn call_help(&self, near: usize, workers: &[WorkerHandle]) {
        if self.waiting.load(Ordering::SeqCst) <= self.helpers.load(Ordering::SeqCst) {
            return;
        }
        if let Some(index) = self.asleep.take(near) {
            // It is counted before it is up, so that no second one is woken for the same batch.
            self.helpers.fetch_add(1, Ordering::SeqCst);
            if let Some(worker) = workers.get(index) {
                worker.wake();
            }
        }
    }

    /// The job that waits longest.
    pub fn take(&self) -> Option<Job> {
        self.take_if(|_| true)
    }

    /// The job that waits longest of those that a worker has read. The jobs of a lane are taken in their
    /// order by this too.
    pub fn take_own(&self, owner: usize) -> Option<Job> {
        self.take_if(|job| job.owner == owner)
    }

    fn take_if(&self, wanted: impl Fn(&Job) -> bool) -> Option<Job> {
        if !self.is_any() {
            return None;
        }
        let mut queue = friction::lock(&self.queue);
        let at = queue.iter().position(wanted)?;
        let job = queue.remove(at)?;
        drop(queue);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }

    /// A worker has nothing of its own to do, and looks for jobs.
    pub fn begin_to_help(&self) {
        self.helpers.fetch_add(1, Ordering::SeqCst);
    }

    /// It has something of its own, or goes to sleep. What it leaves here is for others.
    pub fn end_to_help(&self, index: usize, workers: &[WorkerHandle]) {
        self.helpers.fetch_sub(1, Ordering::SeqCst);
        if self.is_any() {
            self.call_help(index, workers);
        }
    }

    /// Notes that a worker is about to wait; `false` when there is work after all.
    pub fn fall_asleep(&self, index: usize) -> bool {
        self.asleep.add(index);
        // When it was taken off the list again by [`Jobs::call_help`], it is counted as a helper:
        // [`Jobs::wake_up`] says so.
        !self.is_any()
    }

    /// Notes that a worker is awake. Whether it was woken to help, and counts as a helper.
    pub fn wake_up(&self, index: usize) -> bool {
        !self.asleep.remove(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_sleeper_is_taken_first_and_each_once() {
        let jobs = Jobs::new(130);
        assert!(!jobs.finds_help() && !jobs.has_helpers());
        [3, 70, 71, 129].into_iter().for_each(|index| assert!(jobs.fall_asleep(index)));
        assert_eq!((jobs.awake(), jobs.finds_help()), (126, true));
        let taken: Vec<_> = std::iter::from_fn(|| jobs.asleep.take(71)).collect();
        assert_eq!(taken, [71, 70, 129, 3]);
        assert!(jobs.wake_up(71), "taken off the list to help");
        assert_eq!(jobs.awake(), 130);
        assert!(jobs.fall_asleep(5) && !jobs.wake_up(5), "woke by itself");
    }

    #[test]
    fn helpers_that_are_awake_are_enough_for_as_many_jobs() {
        let jobs = Jobs::new(4);
        assert!(jobs.fall_asleep(1) && jobs.fall_asleep(2));
        jobs.waiting.store(1, Ordering::SeqCst);
        jobs.call_help(0, &[]);
        assert_eq!((jobs.helpers.load(Ordering::SeqCst), jobs.asleep.count()), (1, 1));
        jobs.call_help(0, &[]);
        assert_eq!(jobs.asleep.count(), 1, "one job, one helper");
        jobs.waiting.store(2, Ordering::SeqCst);
        jobs.call_help(0, &[]);
        assert_eq!((jobs.helpers.load(Ordering::SeqCst), jobs.asleep.count()), (2, 0));
        assert!(jobs.has_helpers() && !jobs.finds_help(), "all have something to do");
        jobs.end_to_help(1, &[]);
        jobs.waiting.store(0, Ordering::SeqCst);
        jobs.end_to_help(2, &[]);
        assert!(!jobs.has_helpers());
    }
}
