//! What counters of objects that are gone had counted, and from where counters that were reset count.
//!
//! The counters of the engine themselves are never reset: the ledger has to add up over the whole life of the
//! program.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use control::{Counter, Ledger, State};
use engine::View;
use parking_lot::Mutex;

use super::removed::Removed;
use crate::subject::balance::Account;
use crate::subject::statistics;

/// Counters of vanished objects that are kept; the program has no use for more than a person can read.
const ORPHANS_MAX: usize = 10_000;

/// Identity of a counter: its name of old, and that of the metric with its labels.
type Key = (String, String);

#[derive(Default)]
pub struct History(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    orphans: BTreeMap<Key, Counter>,
    /// Values at the last reset.
    resets: BTreeMap<Key, u64>,
    received: u64,
    queued: u64,
    removed: Removed,
}

/// Messages that sources which are gone had received, and destinations which are gone were given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gone {
    pub received: u64,
    pub queued: u64,
}

impl History {
    /// Notes what a reload has removed.
    pub fn replaced(&self, old: &View, new: &View) {
        let mut inner = self.0.lock();
        inner.removed.note(old, new);
        for source in old.sources.iter().filter(|s| !new.sources.iter().any(|n| Arc::ptr_eq(s, n))) {
            inner.received += source.counters.received.value();
        }
        let stays = |counters| new.destinations.iter().any(|(_, d)| Arc::ptr_eq(d.counters(), counters));
        for (_, destination) in old.destinations.iter().filter(|(_, d)| !stays(d.counters())) {
            inner.queued += destination.counters().accepted.value();
        }
        let now: BTreeMap<Key, ()> = statistics::of_view(new).iter().map(|c| (key(c), ())).collect();
        inner.orphans.retain(|key, _| !now.contains_key(key));
        for counter in statistics::of_view(old) {
            let key = key(&counter);
            if !now.contains_key(&key) && inner.orphans.len() < ORPHANS_MAX {
                inner.orphans.insert(key, Counter { state: State::Orphaned, ..counter });
            }
        }
    }

    /// Adds to a ledger of `view` what objects that are gone had counted.
    pub fn complete_ledger(&self, ledger: &mut Ledger, view: &View, until: Instant) {
        self.0.lock().removed.complete(ledger, view, until);
    }

    /// Sources and destinations that are gone, as far as their accounts are still known one by one.
    pub fn removed(&self) -> Vec<(String, Account)> {
        self.0.lock().removed.accounts()
    }

    pub fn gone(&self) -> Gone {
        let inner = self.0.lock();
        Gone { received: inner.received, queued: inner.queued }
    }

    /// Adds the orphans and lets every counter count from its last reset.
    pub fn complete(&self, mut counters: Vec<Counter>) -> Vec<Counter> {
        let mut inner = self.0.lock();
        counters.extend(inner.orphans.values().cloned());
        for counter in &mut counters {
            let key = key(counter);
            let Some(from) = inner.resets.get(&key).copied() else { continue };
            match counter.value.checked_sub(from) {
                Some(value) => counter.value = value,
                // Its object was made anew since then and counts from 0.
                None => drop(inner.resets.remove(&key)),
            }
        }
        counters
    }

    /// The counters given here, as the engine has them, count from 0 again.
    pub fn reset(&self, counters: impl Iterator<Item = Counter>) {
        let mut inner = self.0.lock();
        for counter in counters.filter(counts_events) {
            inner.resets.insert(key(&counter), counter.value);
        }
    }

    /// What the engine does not have any more.
    pub fn orphans(&self) -> Vec<Counter> {
        self.0.lock().orphans.values().cloned().collect()
    }

    pub fn remove_orphans(&self) {
        self.0.lock().orphans.clear();
    }
}

/// A moment or a number of things that are somewhere cannot be reset, and the ledger must not be.
fn counts_events(counter: &Counter) -> bool {
    if counter.has_legacy_name() {
        return !matches!(counter.kind, "queued" | "memory_usage" | "connections" | "stamp" | "value");
    }
    counter.prom.as_ref().is_some_and(|p| p.name.ends_with("_total") && !p.name.starts_with("ledger_"))
}

fn key(counter: &Counter) -> Key {
    let metric = counter.prom.as_ref().map(|p| format!("{}{:?}", p.name, p.labels)).unwrap_or_default();
    (counter.key(), metric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(kind: &'static str, value: u64) -> Counter {
        Counter::new("dst.file", "d#0", "/x", kind, value)
    }

    fn values(history: &History, counters: &[Counter]) -> Vec<u64> {
        history.complete(counters.to_vec()).iter().map(|c| c.value).collect()
    }

    #[test]
    fn a_reset_counter_goes_on_from_zero() {
        let history = History::default();
        history.reset([counter("written", 10), counter("queued", 3)].into_iter());
        assert_eq!(values(&history, &[counter("written", 12), counter("queued", 3)]), [2, 3]);
        assert_eq!(values(&history, &[counter("dropped", 4)]), [4]);
    }

    #[test]
    fn a_counter_made_anew_is_not_held_back_by_an_old_reset() {
        let history = History::default();
        history.reset([counter("written", 10)].into_iter());
        assert_eq!(values(&history, &[counter("written", 4)]), [4]);
        assert_eq!(values(&history, &[counter("written", 11)]), [11]);
    }
}
