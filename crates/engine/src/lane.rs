//! A lane keeps the order of one connection when its batches are worked on by several workers at once.

use crate::durable::together;
use crate::friction;
use crate::outbox::Parcels;
use crate::outlet::Outlet;
use crate::turns::Turns;
use crate::window::Wake;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
struct Order {
    next: u64,
    parked: BTreeMap<u64, Parcels>,
    /// Told when all batches are through.
    waiter: Option<Arc<dyn Wake>>,
}

/// Numbered batches go in, their output is handed to the outlets in number order.
#[derive(Default)]
pub struct Lane {
    given: AtomicU64,
    done: AtomicU64,
    order: Mutex<Order>,
    turns: Turns,
}

/// A numbered batch in work.
pub struct Turn {
    pub lane: Arc<Lane>,
    pub number: u64,
}

impl Turn {
    /// Runs what has to see the connection's batches in order.
    pub fn take<T>(&self, place: usize, run: impl FnOnce() -> T) -> T {
        self.lane.turns.wait(self.number, place);
        let done = run();
        self.lane.turns.leave(self.number, place);
        done
    }
}

impl Lane {
    /// The number of the next batch. Only the reader of the connection calls this.
    pub fn number(&self) -> u64 {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        self.turns.begin(number);
        number
    }

    /// Batches given out whose output is not handed over yet. Zero means that the reader may work inline.
    pub fn outstanding(&self) -> u64 {
        self.given.load(Ordering::Acquire) - self.done.load(Ordering::Acquire)
    }

    /// Batch `number` is through. Its output, and that of later ones which waited for it, goes to the
    /// outlets' queues while the lane is held; the writing is left to the caller.
    pub fn finish(&self, number: u64, parcels: Parcels) -> Vec<Arc<Outlet>> {
        self.turns.end(number);
        let mut touched = Vec::new();
        let mut order = friction::lock(&self.order);
        order.parked.insert(number, parcels);
        loop {
            let next = order.next;
            let Some(parcels) = order.parked.remove(&next) else { break };
            let together = together(parcels.iter().map(|(outlet, _)| outlet));
            for (outlet, chunk) in parcels {
                outlet.push(chunk);
                touched.push(outlet);
            }
            drop(together);
            order.next += 1;
            self.done.fetch_add(1, Ordering::Release);
        }
        let waiter = if self.outstanding() == 0 { order.waiter.take() } else { None };
        drop(order);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
        touched
    }

    /// Wakes `waiter` once the output of all batches given out is in the outlets' queues: now, when it is. A
    /// later call takes the place of an earlier one. Only the reader of the connection calls this.
    pub fn when_through(&self, waiter: Arc<dyn Wake>) {
        let mut order = friction::lock(&self.order);
        if self.outstanding() == 0 {
            drop(order);
            waiter.wake();
        } else {
            order.waiter = Some(waiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_batches_wait_for_early_ones() {
        let lane = Lane::default();
        let numbers: Vec<u64> = (0..3).map(|_| lane.number()).collect();
        lane.finish(numbers[2], Vec::new());
        lane.finish(numbers[1], Vec::new());
        assert_eq!(lane.outstanding(), 3, "nothing is handed over before the first");
        lane.finish(numbers[0], Vec::new());
        assert_eq!(lane.outstanding(), 0);
    }

    struct Woken(AtomicU64);
    impl Wake for Woken {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn who_waits_hears_of_the_last_batch() {
        let (lane, woken) = (Lane::default(), Arc::new(Woken(AtomicU64::new(0))));
        let wait = || lane.when_through(Arc::clone(&woken) as Arc<dyn Wake>);
        let heard = || woken.0.load(Ordering::SeqCst);
        wait();
        assert_eq!(heard(), 1, "nothing is under way");
        let (first, second) = (lane.number(), lane.number());
        wait();
        lane.finish(second, Vec::new());
        assert_eq!(heard(), 1, "the first is in work still");
        lane.finish(first, Vec::new());
        assert_eq!(heard(), 2);
        lane.finish(lane.number(), Vec::new());
        assert_eq!(heard(), 2, "once");
    }
}
