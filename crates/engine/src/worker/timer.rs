//! Outlets that want to be tried again at a time.

use crate::outlet::Outlet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Weak};
use std::time::Instant;

struct Entry(Instant, Weak<Outlet>);

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.0 == other.0
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

#[derive(Default)]
pub(super) struct Timers(BinaryHeap<Reverse<Entry>>);

impl Timers {
    pub fn add(&mut self, at: Instant, outlet: Weak<Outlet>) {
        self.0.push(Reverse(Entry(at, outlet)));
    }

    pub fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse(entry)| entry.0)
    }

    /// One outlet whose time has come.
    pub fn due(&mut self, now: Instant) -> Option<Arc<Outlet>> {
        while self.next().is_some_and(|at| at <= now) {
            if let Some(outlet) = self.0.pop().and_then(|Reverse(entry)| entry.1.upgrade()) {
                return Some(outlet);
            }
        }
        None
    }
}
