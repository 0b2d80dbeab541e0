//! Who gets what waits at a destination that a reload has changed.

use super::Engine;
use super::hearing::{ANSWERS_MAX, hear_out};
use crate::chunk::Chunk;
use crate::compile::{DestinationKey, Plan};
use crate::driver::Destination;
use crate::durable::Durable;
use crate::ledger::Reason;
use crate::outlet::Outlet;
use diag::Fault;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a destination that is removed may go on, while it moves.
const LAST_CHANCE_MAX: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(2);
const REMOVED: &str = "its destination was removed from the configuration";

/// Which destination of a new configuration goes on for which of the last one: the one that writes to the
/// same place, whatever it is called now, or else the one of the same name, unless that goes on for another
/// one.
pub(super) struct Successors {
    by_predecessor: BTreeMap<DestinationKey, DestinationKey>,
}

impl Successors {
    pub(super) fn new<'a>(
        before: impl Iterator<Item = &'a DestinationKey> + Clone,
        after: impl Iterator<Item = &'a DestinationKey> + Clone,
    ) -> Successors {
        let claimed: BTreeSet<&str> = before.clone().map(|key| key.place.as_str()).collect();
        let find = |key: &DestinationKey| {
            let by_place = after.clone().find(|next| next.place == key.place);
            let by_name =
                || after.clone().find(|next| next.id == key.id && !claimed.contains(next.place.as_str()));
            by_place.or_else(by_name)
        };
        let pairs = before.clone().filter_map(|key| Some((key.clone(), find(key)?.clone())));
        Successors { by_predecessor: pairs.collect() }
    }

    fn of(&self, key: &DestinationKey) -> Option<&DestinationKey> {
        self.by_predecessor.get(key)
    }
}

impl Engine {
    /// What is on the way at all destinations that have a successor is waited for together.
    pub(super) fn hear_out_replaced(
        &self,
        old: &BTreeMap<DestinationKey, Arc<dyn Destination>>,
        successors: &Successors,
    ) {
        let ends = |key: &DestinationKey| !self.existing.destinations.contains_key(key);
        let replaced = old.iter().filter(|(key, _)| ends(key) && successors.of(key).is_some());
        let outlets: Vec<_> = replaced.flat_map(|(_, destination)| destination.outlets()).collect();
        hear_out(&outlets, ANSWERS_MAX);
    }

    /// What still waits at a destination that changed goes to its successor. One that is gone has a last
    /// chance; what it leaves is kept among the dead letters, as far as it came over a path with flow-control
    /// and is not in `drops`.
    pub(super) fn hand_over(
        &self,
        key: &DestinationKey,
        old: &Arc<dyn Destination>,
        successors: &Successors,
        drops: &[String],
    ) {
        let id = key.id.as_str();
        let successor = successors.of(key).and_then(|next| self.existing.destinations.get(next));
        let outlets = old.outlets();
        outlets.iter().for_each(|outlet| outlet.pump());
        if let Some(new) = successor {
            divide(old, new, &outlets, &self.shared.durable);
        } else {
            let until = Instant::now() + LAST_CHANCE_MAX;
            while Instant::now() < until && outlets.iter().any(|outlet| outlet.is_settling()) {
                std::thread::park_timeout(LOOK);
            }
            hear_out(&outlets, ANSWERS_MAX);
        }
        let mut left = Left::default();
        for outlet in &outlets {
            let rest = outlet.end();
            left.add(self.bury(id, outlet, rest, is_named(drops, id)));
        }
        left.say(id);
    }

    /// Whether what waits at destinations that the plan does not have can be kept, or may be dropped. The
    /// error says what to do.
    pub(super) fn may_remove(&self, plan: &Plan) -> Result<(), Vec<Fault>> {
        let planned = plan.destinations.iter().map(|planned| &planned.key);
        let successors = Successors::new(self.existing.destinations.keys(), planned);
        let mut errors = self.wrong_drops(&plan.drops, &successors);
        for (key, destination) in &self.existing.destinations {
            if successors.of(key).is_some() || is_named(&plan.drops, &key.id) {
                continue;
            }
            let waiting: usize = destination.outlets().iter().map(|outlet| outlet.guarded()).sum();
            if waiting > 0
                && let Err(why) = self.shared.durable.letters()
            {
                let statement = key.id.rsplit_once('#').map_or(key.id.as_str(), |(statement, _)| statement);
                errors.push(format!(
                    "{}: {waiting} messages wait for it and cannot be kept as dead letters ({why}); \
                     `penstock ctl reload --drop {statement}` removes it and drops them",
                    key.id
                ));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors.into_iter().map(Fault::misconfigured).collect()) }
    }

    /// Names in `drops` of which nothing can be dropped: no such destination runs, or it goes on.
    fn wrong_drops(&self, drops: &[String], successors: &Successors) -> Vec<String> {
        let mut errors = Vec::new();
        for name in drops {
            let named = |id: &str| is_named(std::slice::from_ref(name), id);
            let found: Vec<_> = self.existing.destinations.keys().filter(|key| named(&key.id)).collect();
            if found.is_empty() {
                errors.push(format!("there is no destination {name} to drop messages of"));
                continue;
            }
            let heirs: Option<Vec<&str>> =
                found.iter().map(|key| Some(successors.of(key)?.id.as_str())).collect();
            if let Some(heirs) = heirs {
                let unnamed = heirs.iter().all(|heir| named(heir));
                let as_what = if unnamed { String::new() } else { format!(" as {}", heirs.join(" and ")) };
                errors.push(format!(
                    "the destination {name} goes on{as_what} in the new configuration, so nothing of it is dropped; \
                     `penstock queue drop` forgets what waits on disk"
                ));
            }
        }
        errors
    }

    /// What a destination leaves that is gone: letters, or messages that are dropped and counted.
    fn bury(&self, id: &str, outlet: &Outlet, rest: VecDeque<Chunk>, drops: bool) -> Left {
        let (mut left, mut lost) = (Left::default(), VecDeque::new());
        for mut chunk in rest {
            let messages = chunk.messages();
            if drops || !chunk.flow_control {
                let reason = if drops { Reason::Discarded } else { Reason::Abandoned };
                chunk.tickets.settle();
                outlet.counters.waiting.sub(messages);
                outlet.counters.dropped.add(reason, messages);
                outlet.counters.remains.keep_all(reason, messages, chunk.iter());
                left.dropped += messages;
                continue;
            }
            let letters = self.shared.durable.letters();
            match letters.and_then(|letters| letters.keep_all(id, REMOVED, outlet.form(), &mut chunk)) {
                Ok(kept) => {
                    outlet.counters.waiting.sub(kept);
                    outlet.counters.dropped.add(Reason::DeadLetter, kept);
                    outlet.counters.remains.keep_all(Reason::DeadLetter, kept, chunk.iter());
                    left.kept += kept;
                }
                Err(why) => {
                    outlet.counters.given_up.because(why.said());
                    left.why = Some(why);
                    lost.push_back(chunk);
                }
            }
        }
        outlet.abandon(lost);
        left
    }
}

/// What became of the messages of a destination that is gone.
#[derive(Default)]
struct Left {
    kept: usize,
    dropped: usize,
    why: Option<Fault>,
}

impl Left {
    fn add(&mut self, other: Left) {
        self.kept += other.kept;
        self.dropped += other.dropped;
        self.why = other.why.or(self.why.take());
    }

    fn say(&self, id: &str) {
        if self.kept > 0 {
            oplog::warning(
                "Messages of a destination that was removed are kept as dead letters",
                &[("destination", &id), ("messages", &self.kept)],
            );
        }
        if self.dropped > 0 {
            oplog::error(
                "Messages of a destination that was removed are dropped",
                &[("destination", &id), ("messages", &self.dropped)],
            );
        }
        if let Some(why) = &self.why {
            let text = "Messages of a destination that was removed cannot be kept, their sources have to bring them again";
            oplog::error(text, &[("destination", &id), ("error", why)]);
        }
    }
}

/// By statement or id.
fn is_named(names: &[String], id: &str) -> bool {
    let statement = id.rsplit_once('#').map_or(id, |(statement, _)| statement);
    names.iter().any(|name| name == id || name == statement)
}

/// As many outlets as before, for the same messages: each goes on where its predecessor stopped. Otherwise
/// nobody knows which of them the messages that wait would take now, so the first one gets them all, and the
/// others begin after it.
fn divide(
    old: &Arc<dyn Destination>,
    new: &Arc<dyn Destination>,
    outlets: &[Arc<Outlet>],
    durable: &Durable,
) {
    if new.names_outlets() {
        let same_kind = old.described().0 == new.described().0;
        for outlet in outlets.iter().filter(|outlet| same_kind && outlet.waiting() > 0) {
            if let Some(heir) = new.outlet_named(&outlet.name) {
                heir.inherit(outlet, durable);
            }
        }
        return;
    }
    let heirs = new.outlets();
    let alike = heirs.len() == outlets.len() && (heirs.len() == 1 || old.divides_by() == new.divides_by());
    if alike && !outlets.iter().any(|outlet| outlet.leads()) {
        for (heir, outlet) in heirs.iter().zip(outlets) {
            heir.inherit(outlet, durable);
        }
        return;
    }
    let Some((first, others)) = heirs.split_first() else { return };
    // The last one first: each queue goes in front of what is there.
    let messages = outlets.iter().rev().map(|outlet| first.inherit(outlet, durable)).sum();
    first.lead(others, messages);
}
