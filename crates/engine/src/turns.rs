//! Whose turn it is at a parser with contexts: several workers may have batches of one connection, and the
//! contexts see them in order.
//!
//! A batch waits in front of such a parser until every earlier one of its connection has left it, or has
//! ended without coming by. Jobs are taken in the order in which they were given, so the earliest is always
//! in work and waits for nobody.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// Parsers with contexts that a program may have to be worked on by several workers at once.
pub const PLACES_MAX: usize = 64;

#[derive(Default)]
pub struct Turns {
    under_way: Mutex<VecDeque<Passing>>,
    moved: Condvar,
}

struct Passing {
    number: u64,
    /// The places it has left, a bit for each.
    left: u64,
}

impl Turns {
    /// Batches begin in the order of their numbers.
    pub fn begin(&self, number: u64) {
        self.under_way.lock().push_back(Passing { number, left: 0 });
    }

    /// Returns when it is this batch's turn at a place.
    pub fn wait(&self, number: u64, place: usize) {
        let before = |passing: &Passing| passing.number < number && passing.left >> place & 1 == 0;
        let mut under_way = self.under_way.lock();
        self.moved.wait_while(&mut under_way, |under_way| under_way.iter().any(before));
    }

    pub fn leave(&self, number: u64, place: usize) {
        if let Some(passing) = self.under_way.lock().iter_mut().find(|p| p.number == number) {
            passing.left |= 1 << place;
        }
        self.moved.notify_all();
    }

    /// The batch is through, or was given up: it comes to no further place.
    pub fn end(&self, number: u64) {
        self.under_way.lock().retain(|passing| passing.number != number);
        self.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn each_place_sees_the_batches_in_order_whoever_is_first() {
        const BATCHES: u64 = 40;
        let turns = Arc::new(Turns::default());
        let seen: Arc<[Mutex<Vec<u64>>; 2]> = Arc::default();
        (0..BATCHES).for_each(|number| turns.begin(number));
        let workers = (0..BATCHES).rev().map(|number| {
            let (turns, seen) = (Arc::clone(&turns), Arc::clone(&seen));
            thread::spawn(move || {
                // Every third batch has nothing for the second place.
                let places = if number % 3 == 0 { 1 } else { 2 };
                for (place, seen) in seen.iter().enumerate().take(places) {
                    turns.wait(number, place);
                    seen.lock().push(number);
                    turns.leave(number, place);
                }
                turns.end(number);
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().for_each(|worker| worker.join().expect("worker"));
        assert_eq!(*seen[0].lock(), (0..BATCHES).collect::<Vec<_>>());
        assert_eq!(*seen[1].lock(), (0..BATCHES).filter(|n| n % 3 != 0).collect::<Vec<_>>());
        assert!(turns.under_way.lock().is_empty());
    }
}
