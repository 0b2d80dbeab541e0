//! The ledger, read from the engine's counters.
//!
//! The counters move while they are read, so a row may be caught between two of its numbers. A row that does
//! not add up is read again: what is really missing stays missing.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use control::{DropReason, Failures, Flow, Ledger, Row};
use engine::View;
use engine::ledger::{DestinationCounters, Drops, PathCounters, Reason, SourceCounters, StepCounters};
use parsers::correlation::StateCounters;

use crate::program::History;

/// How long a row is read again.
const SETTLE_MAX: Duration = Duration::from_millis(500);
const SETTLE_PAUSE: Duration = Duration::from_micros(200);
/// On a machine that is busy with other things the time may be over before anybody here had a turn.
const LOOKS_MIN: usize = 100;

/// What is counted at one place.
#[derive(Clone)]
pub enum Account {
    Source(Arc<SourceCounters>),
    Made(Arc<StateCounters>),
    Path(Arc<PathCounters>),
    Step(Arc<StepCounters>),
    Destination(Arc<DestinationCounters>),
    /// A destination that is gone.
    Gone(Arc<DestinationCounters>),
}

impl Account {
    pub fn flow(&self) -> Flow {
        match self {
            Account::Source(counters) => of_source(counters),
            Account::Made(counters) => of_made(counters),
            Account::Path(counters) => of_path(counters),
            Account::Step(counters) => of_step(counters),
            Account::Destination(counters) => of_destination(counters),
            Account::Gone(counters) => of_gone(counters),
        }
    }

    pub fn settled(&self, until: Instant) -> Flow {
        settled(until, || self.flow())
    }

    /// What the destination said of the last message that it refused.
    fn refused_with(&self) -> String {
        match self {
            Account::Destination(counters) | Account::Gone(counters) => counters.remains.refused_with(),
            _ => String::new(),
        }
    }

    /// Whether the ledger shows it with these numbers.
    pub fn is_shown(&self, flow: &Flow) -> bool {
        match self {
            Account::Made(_) => flow.received > 0,
            // Only those that something ended at: the others are as many as the configuration has.
            Account::Step(_) => flow.filtered > 0,
            _ => true,
        }
    }

    /// They are the counters of one object.
    pub fn is(&self, other: &Account) -> bool {
        match (self, other) {
            (Account::Source(a), Account::Source(b)) => Arc::ptr_eq(a, b),
            (Account::Made(a), Account::Made(b)) => Arc::ptr_eq(a, b),
            (Account::Path(a), Account::Path(b)) => Arc::ptr_eq(a, b),
            (Account::Step(a), Account::Step(b)) => Arc::ptr_eq(a, b),
            (Account::Destination(a) | Account::Gone(a), Account::Destination(b) | Account::Gone(b)) => {
                Arc::ptr_eq(a, b)
            }
            _ => false,
        }
    }

    /// The same once its object is gone.
    pub fn removed(self) -> Account {
        match self {
            Account::Destination(counters) => Account::Gone(counters),
            account => account,
        }
    }
}

/// An account and whose it is.
pub struct Kept {
    pub name: String,
    pub detail: String,
    pub account: Account,
}

/// The accounts of everything in a view, in the parts of the ledger.
pub struct Accounts {
    pub sources: Vec<Kept>,
    pub paths: Vec<Kept>,
    pub destinations: Vec<Kept>,
}

pub fn accounts(view: &View) -> Accounts {
    let kept = |name: &str, detail: String, account| Kept { name: name.to_owned(), detail, account };
    let sources = view.sources.iter().map(|source| {
        let account = Account::Source(Arc::clone(&source.counters));
        kept(&source.id, detail(source.driver, &source.instance), account)
    });
    // Messages that contexts of parsers have made came in there.
    let made = view
        .states
        .iter()
        .map(|(name, state)| kept(name, "generated".to_owned(), Account::Made(Arc::clone(state.counters()))));
    let paths = view
        .paths
        .iter()
        .map(|(name, counters)| kept(name, String::new(), Account::Path(Arc::clone(counters))));
    let steps = view
        .steps
        .iter()
        .map(|step| kept(&step.name, step.detail.clone(), Account::Step(Arc::clone(&step.counters))));
    let destinations = view.destinations.iter().map(|(id, destination)| {
        let (driver, instance) = destination.described();
        kept(id, detail(driver, &instance), Account::Destination(Arc::clone(destination.counters())))
    });
    Accounts {
        sources: sources.chain(made).collect(),
        paths: paths.chain(steps).collect(),
        destinations: destinations.collect(),
    }
}

pub fn of(view: &View, removed: &History) -> Ledger {
    let until = Instant::now() + SETTLE_MAX;
    let accounts = accounts(view);
    let rows = |kept: Vec<Kept>| -> Vec<Row> {
        let rows = kept.into_iter().map(|kept| (kept.account.settled(until), kept));
        let shown = rows.filter(|(flow, kept)| kept.account.is_shown(flow));
        let row = |(flow, kept): (Flow, Kept)| {
            let refused_with = kept.account.refused_with();
            Row { name: kept.name, detail: kept.detail, flow, refused_with }
        };
        shown.map(row).collect()
    };
    let mut ledger = Ledger {
        sources: rows(accounts.sources),
        paths: rows(accounts.paths),
        destinations: rows(accounts.destinations),
        failures: failures(view),
        ..Ledger::default()
    };
    removed.complete_ledger(&mut ledger, view, until);
    ledger
}

/// Blocks of FilterX that have failed for messages.
fn failures(view: &View) -> Vec<Failures> {
    let blocks = view.blocks.iter().map(|(place, counters)| Failures {
        place: place.clone(),
        causes: counters.values().filter(|(_, count)| *count > 0).map(|(c, n)| (c.to_owned(), n)).collect(),
    });
    blocks.filter(|block| !block.causes.is_empty()).collect()
}

fn settled(until: Instant, read: impl Fn() -> Flow) -> Flow {
    let mut looks = 0;
    loop {
        let flow = read();
        looks += 1;
        if flow.balanced() || (looks > LOOKS_MIN && Instant::now() >= until) {
            return flow;
        }
        std::thread::park_timeout(SETTLE_PAUSE);
    }
}

fn detail(driver: &str, instance: &str) -> String {
    if instance.is_empty() { driver.to_owned() } else { format!("{driver} {instance}") }
}

/// What left is read before what came, so that a message on its way shows as missing, never as counted twice.
fn of_source(counters: &SourceCounters) -> Flow {
    let (filtered, delivered) = (counters.unmatched.value(), counters.routed.value());
    let dropped = drops(&counters.dropped);
    let waiting = counters.in_work.value();
    let received_bytes = counters.received_bytes.value();
    Flow {
        received: counters.received.value(),
        delivered,
        waiting,
        filtered,
        dropped,
        received_bytes,
        ..Flow::default()
    }
}

fn of_path(counters: &PathCounters) -> Flow {
    let (delivered, filtered) = (counters.delivered.value(), counters.filtered.value());
    Flow { received: counters.ingress.value(), delivered, filtered, ..Flow::default() }
}

/// One number is the sum of the others: nothing waits in a step.
fn of_step(counters: &StepCounters) -> Flow {
    let (delivered, filtered) = (counters.matched.value(), counters.not_matched.value());
    Flow { received: delivered + filtered, delivered, filtered, ..Flow::default() }
}

fn of_made(counters: &StateCounters) -> Flow {
    let mut dropped = control::ledger::Drops::default();
    dropped.add(DropReason::Contained, counters.contained.load(Relaxed));
    Flow {
        delivered: counters.delivered.load(Relaxed),
        filtered: counters.filtered.load(Relaxed),
        dropped,
        waiting: counters.in_work.load(Relaxed),
        received: counters.generated.load(Relaxed),
        ..Flow::default()
    }
}

fn of_destination(counters: &DestinationCounters) -> Flow {
    let delivered = counters.delivered.value();
    let dropped = drops(&counters.dropped);
    Flow {
        delivered,
        dropped,
        delivered_bytes: counters.delivered_bytes.value(),
        waiting: counters.waiting.value(),
        received_bytes: counters.accepted_bytes.value(),
        received: counters.accepted.value(),
        recovered: counters.recovered.value(),
        filtered: 0,
    }
}

/// What a destination that is gone has left on disk is not its own any more: whoever takes it counts it, as
/// recovered.
fn of_gone(counters: &DestinationCounters) -> Flow {
    let flow = of_destination(counters);
    Flow { received: flow.received.saturating_sub(flow.waiting), waiting: 0, ..flow }
}

fn drops(counted: &Drops) -> control::ledger::Drops {
    let mut drops = control::ledger::Drops::default();
    for reason in Reason::ALL {
        drops.add(reason_of(reason), counted.value(reason));
    }
    drops
}

pub fn reason_of(reason: Reason) -> DropReason {
    match reason {
        Reason::QueueFull => DropReason::QueueFull,
        Reason::Refused => DropReason::Refused,
        Reason::Abandoned => DropReason::Abandoned,
        Reason::Contained => DropReason::Contained,
        Reason::Kernel => DropReason::Kernel,
        Reason::NoCredit => DropReason::NoCredit,
        Reason::Framing => DropReason::Framing,
        Reason::Damaged => DropReason::Damaged,
        Reason::Discarded => DropReason::Discarded,
        Reason::Repeated => DropReason::Repeated,
        Reason::DeadLetter => DropReason::DeadLetter,
        Reason::Oversized => DropReason::Oversized,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_name() {
        let counters = DestinationCounters::default();
        for (n, reason) in Reason::ALL.into_iter().enumerate() {
            counters.dropped.add(reason, n + 1);
            counters.accepted.add(n + 1);
            assert_eq!(reason.name().replace('_', "-"), reason_of(reason).name());
        }
        counters.accepted.add(7);
        counters.delivered.add(4);
        counters.waiting.add(3);
        let flow = of_destination(&counters);
        assert!(flow.balanced(), "{flow:?}");
        assert_eq!(flow.dropped.count(DropReason::Abandoned), 3);
    }

    #[test]
    fn sources_and_paths_add_up() {
        let source = SourceCounters::default();
        source.received.add(10);
        source.routed.add(4);
        source.unmatched.add(3);
        source.in_work.add(2);
        source.dropped.add(Reason::Kernel, 1);
        assert!(of_source(&source).balanced());
        let path = PathCounters::default();
        path.left(10, 5, 4);
        let flow = of_path(&path);
        assert_eq!((flow.filtered, flow.balanced()), (6, true));
    }

    #[test]
    fn what_is_missing_stays_missing() {
        let source = SourceCounters::default();
        source.received.add(1);
        assert_eq!(settled(Instant::now(), || of_source(&source)).difference(), 1);
    }
}
