//! The health check of a configuration on trial: is anything worse with it than it was before?

use std::sync::Arc;

use engine::driver::Destination;
use engine::source::Source;
use engine::{Shared, View};

use crate::subject::health;

/// A configuration that drops more than this share of what its destinations got, and more than twice the
/// share of before, has failed.
const DROPPED_PERCENT_MAX: u64 = 10;
/// Fewer messages say nothing about a share.
const MESSAGES_MIN: u64 = 100;

/// How it was before the configuration was replaced.
pub struct Before {
    destinations: Vec<Known>,
    /// With the connections it had.
    sources: Vec<(Arc<Source>, u64)>,
}

struct Known {
    id: String,
    destination: Arc<dyn Destination>,
    stuck: bool,
    accepted: u64,
    dropped: u64,
}

impl Before {
    pub fn new(view: &View) -> Before {
        let destinations = view.destinations.iter().map(|(id, d)| Known {
            id: id.clone(),
            stuck: is_stuck(&**d),
            accepted: d.counters().accepted.value(),
            dropped: d.counters().dropped.total(),
            destination: Arc::clone(d),
        });
        let sources = view.sources.iter().map(|s| (Arc::clone(s), s.counters.connections.value()));
        Before { destinations: destinations.collect(), sources: sources.collect() }
    }

    fn known(&self, destination: &dyn Destination) -> Option<&Known> {
        self.destinations
            .iter()
            .find(|known| Arc::ptr_eq(known.destination.counters(), destination.counters()))
    }
}

/// Messages wait and nothing moves.
fn is_stuck(destination: &dyn Destination) -> bool {
    destination.outlets().iter().any(|outlet| outlet.waiting() > 0 && !outlet.is_moving())
}

/// Why the configuration that runs has failed.
pub fn verdict(before: &Before, now: &View, shared: &Shared) -> Result<(), String> {
    if let Some(complaint) = health::of(shared).complaints.into_iter().next() {
        return Err(complaint);
    }
    unreachable(before, now)?;
    rejecting(before, now)?;
    dropping(before, now)
}

/// A destination that is new or changed, to which nothing gets through. One that was so before is no worse,
/// and one that did not change is not the configuration's fault.
fn unreachable(before: &Before, now: &View) -> Result<(), String> {
    for (id, destination) in now.destinations.iter().filter(|(_, d)| is_stuck(&**d)) {
        let was_stuck = before.destinations.iter().any(|known| known.id == *id && known.stuck);
        if before.known(&**destination).is_none() && !was_stuck {
            let (driver, instance) = destination.described();
            let waiting: usize = destination.outlets().iter().map(|outlet| outlet.waiting()).sum();
            let waits = stdio::counted(waiting as u64, "message waits", "messages wait");
            return Err(format!("destination {id} ({driver} {instance}) is not reached, {waits}"));
        }
    }
    Ok(())
}

/// A source that is new or changed and turns everybody away, where somebody was connected before.
fn rejecting(before: &Before, now: &View) -> Result<(), String> {
    let changed = |s: &&Arc<Source>| !before.sources.iter().any(|(old, _)| Arc::ptr_eq(old, s));
    for source in now.sources.iter().filter(changed) {
        let had =
            |(old, connections): &(Arc<Source>, u64)| old.instance == source.instance && *connections > 0;
        let rejected = source.counters.rejected_connections.value();
        let nobody = source.counters.connections.value() == 0 && source.counters.received.value() == 0;
        if rejected > 0 && nobody && before.sources.iter().any(had) {
            let all = stdio::counted(rejected, "connection", "connections");
            return Err(format!("source {} ({}) has rejected all of {all}", source.id, source.instance));
        }
    }
    Ok(())
}

/// More is dropped than before.
fn dropping(before: &Before, now: &View) -> Result<(), String> {
    let (mut got, mut lost) = (0, 0);
    for (_, destination) in &now.destinations {
        let (accepted, dropped) =
            before.known(&**destination).map_or((0, 0), |known| (known.accepted, known.dropped));
        got += destination.counters().accepted.value().saturating_sub(accepted);
        lost += destination.counters().dropped.total().saturating_sub(dropped);
    }
    let percent = |lost: u64, got: u64| lost.saturating_mul(100) / got.max(1);
    let was_got = before.destinations.iter().map(|known| known.accepted).sum();
    let was_lost = before.destinations.iter().map(|known| known.dropped).sum();
    let (is, was) = (percent(lost, got), percent(was_lost, was_got));
    match got >= MESSAGES_MIN && is > DROPPED_PERCENT_MAX && is > 2 * was {
        true => Err(format!("{lost} of {got} messages were dropped by destinations")),
        false => Ok(()),
    }
}
