//! The ledger, read from the engine's counters.
//!
//! The counters move while they are read, so a row may be caught between two of its numbers. A row that does not add up is read
//! again: what is really missing stays missing.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use control::{DropReason, Flow, Ledger, Row};
use engine::View;
use engine::ledger::{DestinationCounters, Drops, PathCounters, Reason, SourceCounters, StepCounters};
use parsers::correlation::StateCounters;

/// How long a row is read again.
const SETTLE_MAX: Duration = Duration::from_millis(500);
const SETTLE_PAUSE: Duration = Duration::from_micros(200);

pub fn of(view: &View) -> Ledger {
    let until = Instant::now() + SETTLE_MAX;
    let sources = view.sources.iter().map(|s| Row {
        name: s.id.clone(),
        detail: detail(s.driver, &s.instance),
        flow: settled(until, || of_source(&s.counters)),
    });
    let paths = view.paths.iter().map(|(name, counters)| Row {
        name: name.clone(),
        detail: String::new(),
        flow: settled(until, || of_path(counters)),
    });
    let steps = view.steps.iter().map(|step| Row {
        name: step.name.clone(),
        detail: step.detail.clone(),
        flow: of_step(&step.counters),
    });
    // Only those that something ended at: the others are as many as the configuration has.
    let steps = steps.filter(|row| row.flow.filtered > 0);
    let gone = view.gone.iter().map(|gone| Row {
        name: gone.id.clone(),
        detail: format!("{} (removed)", detail(gone.driver, &gone.instance)),
        flow: settled(until, || of_gone(&gone.counters)),
    });
    let destinations = view.destinations.iter().map(|(id, d)| {
        let (driver, instance) = d.described();
        Row {
            name: id.clone(),
            detail: detail(driver, &instance),
            flow: settled(until, || of_destination(d.counters())),
        }
    });
    let sources = sources.chain(made(view, until));
    Ledger {
        sources: sources.collect(),
        paths: paths.chain(steps).collect(),
        destinations: destinations.chain(gone).collect(),
    }
}

/// Messages that contexts of parsers have made came in there.
fn made(view: &View, until: Instant) -> impl Iterator<Item = Row> {
    let rows = view.states.iter().map(move |(name, state)| Row {
        name: name.clone(),
        detail: "generated".to_owned(),
        flow: settled(until, || of_made(state.counters())),
    });
    rows.filter(|row| row.flow.received > 0)
}

fn settled(until: Instant, read: impl Fn() -> Flow) -> Flow {
    loop {
        let flow = read();
        if flow.balanced() || Instant::now() >= until {
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

/// What a destination that is gone has left on disk is not its own any more: whoever takes it counts it, as recovered.
fn of_gone(counters: &DestinationCounters) -> Flow {
    let flow = of_destination(counters);
    Flow { received: flow.received.saturating_sub(flow.waiting), waiting: 0, ..flow }
}

fn drops(counted: &Drops) -> control::ledger::Drops {
    let mut drops = control::ledger::Drops::default();
    for reason in Reason::ALL {
        drops.add(named(reason), counted.value(reason));
    }
    drops
}

fn named(reason: Reason) -> DropReason {
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
            assert_eq!(reason.name().replace('_', "-"), named(reason).name());
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
