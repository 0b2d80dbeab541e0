//! Looks once a second at what waits, and knows why: which destination stands still since when, what it said
//! last, which sources it holds back and who gets nothing because of that. Says it in the log when it begins,
//! each minute while it lasts, and when it is over. The same of sources that are held, of disks that will be
//! full, and of messages that are dropped. And gives freed memory back to the system.
//!
//! Reads what outlets and sources know; nothing of it is on the way of a message.

pub mod bounds;
mod disks;
mod drops;
pub mod edges;
mod held;
mod memory;
mod spell;

use crate::program::{Daemon, Running};
use control::ledger::{Disk, Headroom, Held, LastError, RoomUnit, Wait, WaitState};
use disks::Disks;
use drops::{DropLog, Refusing};
use edges::Edge;
use engine::driver::Destination;
use engine::{Outlet, View};
use held::HeldSources;
use memory::FreedMemory;
pub use memory::keep_for_batches;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// Nothing left it for so long: it stands still.
const STILL: Duration = Duration::from_secs(3);
/// What waits for so long although something leaves: it is slow.
const SLOW: Duration = Duration::from_secs(5);
/// Between two lines of the log while it lasts.
const SAID_EVERY: Duration = Duration::from_secs(60);
/// So many looks without it, and it is over.
const LOOKS_OVER: u32 = 3;
/// How much the last second says of the rate at which room is used up: one part in so many.
const RATE_PARTS: f64 = 4.0;
/// What full_in_seconds says at most: ten years.
const FULL_IN_MAX: f64 = 3.2e8;

/// What was seen at the last look.
#[derive(Clone, Default)]
pub struct Observed {
    pub waits: Vec<Wait>,
    pub held: Vec<Held>,
    pub disks: Vec<Disk>,
    pub refusing: Vec<Refusing>,
}

/// Looks until the program ends or is given to another process.
pub fn start(program: &Arc<Daemon>) {
    let program = Arc::downgrade(program);
    let started = std::thread::Builder::new().name("lookout".into()).spawn(move || {
        let (mut lookout, mut disks, mut drops) = (Lookout::default(), Disks::default(), DropLog::default());
        let mut freed = FreedMemory::default();
        while let Some(program) = program.upgrade().filter(|program| !program.is_given()) {
            let (running, now) = (program.running(), Instant::now());
            let state_dir = program.shared.durable.state_dir();
            let (waits, held) = lookout.look(&running, now);
            let disks = disks.look(&running.view, state_dir, &program.bounds(), now);
            let refusing = drops.look(&running.view, now);
            program.observe(Observed { waits, held, disks, refusing });
            program.captures.expire();
            freed.look(now);
            drop(program);
            std::thread::sleep(EVERY);
        }
    });
    if let Err(error) = started {
        oplog::error("Cannot start the thread that looks at what waits", &[("error", &error)]);
    }
}

#[derive(Default)]
struct Lookout {
    /// Whose edges they are.
    running: Weak<Running>,
    edges: Vec<Edge>,
    /// Outlets with something in them, by their number.
    outlets: HashMap<u32, Quiet>,
    /// By name.
    destinations: HashMap<String, Known>,
    /// Sources that do not read, by name: looks since that was seen last.
    held: HashMap<String, u32>,
    standing: HeldSources,
}

/// An outlet in which nothing has moved.
struct Quiet {
    finished: u64,
    since: Instant,
    seen: bool,
}

/// What is remembered of a destination between two looks.
#[derive(Default)]
struct Known {
    accepted: u64,
    /// Headroom used, and how much more it becomes in a second.
    used: Option<u64>,
    rate: f64,
    looked: Option<Instant>,
    wait: Option<Waiting>,
}

/// One time of waiting.
struct Waiting {
    since: Instant,
    /// Looks since it was seen last.
    absent: u32,
    said: Instant,
    /// Counted when it was said last, and when it began.
    delivered: u64,
    dropped: u64,
    delivered_before: u64,
    dropped_before: u64,
}

/// A destination at one look.
struct Seen {
    state: Option<WaitState>,
    since: Option<Instant>,
    messages: u64,
    oldest: Option<Instant>,
    next_try: Option<Instant>,
    stalled: bool,
    room: Option<(RoomUnit, u64, u64)>,
    dropped: u64,
    is_new: bool,
}

impl Lookout {
    fn look(&mut self, running: &Arc<Running>, now: Instant) -> (Vec<Wait>, Vec<Held>) {
        if !std::ptr::eq(self.running.as_ptr(), Arc::as_ptr(running)) {
            self.running = Arc::downgrade(running);
            self.edges = edges::of(&running.view);
        }
        let view = &running.view;
        let held: Vec<bool> = view.sources.iter().map(|source| self.is_held(source)).collect();
        self.outlets.values_mut().for_each(|quiet| quiet.seen = false);
        let seen: Vec<Seen> = view.destinations.iter().map(|(id, d)| self.see(id, &**d, now)).collect();
        self.outlets.retain(|_, quiet| quiet.seen);
        let mut waits = Vec::new();
        for (at, (id, destination)) in view.destinations.iter().enumerate() {
            let Some(one) = seen.get(at) else { continue };
            let wait = one.state.map(|state| {
                let (holds, starves) = self.who(at, one, &held, &seen);
                let name = |list: Vec<usize>, of: &dyn Fn(usize) -> Option<String>| {
                    list.into_iter().filter_map(of).collect()
                };
                Wait {
                    state,
                    holds: name(holds, &|at| view.sources.get(at).map(|source| source.id.clone())),
                    starves: name(starves, &|at| view.destinations.get(at).map(|(id, _)| id.clone())),
                    ..self.told(id, &**destination, one, now)
                }
            });
            self.say(id, &**destination, wait.as_ref(), one.since, now);
            waits.extend(wait);
        }
        self.destinations.retain(|id, _| view.destinations.iter().any(|(known, _)| known == id));
        self.held.retain(|id, _| view.sources.iter().any(|source| source.id == *id));
        let by = |source: usize| holders(&self.edges, source, &seen, view);
        let held = self.standing.look(&view.sources, &held, &by, now);
        (waits, held)
    }

    /// A source that waits for room reads now and then all the same: a few looks have the last word.
    fn is_held(&mut self, source: &engine::source::Source) -> bool {
        let looks = self.held.entry(source.id.clone()).or_insert(LOOKS_OVER);
        *looks = if source.counters.held.value() > 0 { 0 } else { looks.saturating_add(1) };
        *looks < LOOKS_OVER
    }

    /// Sources that a destination holds back, and destinations that get nothing because of that.
    fn who(&self, at: usize, one: &Seen, held: &[bool], seen: &[Seen]) -> (Vec<usize>, Vec<usize>) {
        // With a disk part that has room nobody is held for long.
        let has_room =
            one.room.is_some_and(|(unit, used, max)| unit == RoomUnit::Bytes && used < max / 10 * 9);
        let holds = |edge: &&Edge| {
            edge.destination == at
                && !has_room
                && (edge.flow_control || !one.stalled)
                && held.get(edge.source) == Some(&true)
        };
        let sources: Vec<usize> = self.edges.iter().filter(holds).map(|edge| edge.source).collect();
        let mut starves: Vec<usize> = Vec::new();
        for edge in self.edges.iter().filter(|edge| edge.destination != at && sources.contains(&edge.source))
        {
            let is_idle =
                seen.get(edge.destination).is_some_and(|other| other.state.is_none() && !other.is_new);
            if is_idle && !starves.contains(&edge.destination) {
                starves.push(edge.destination);
            }
        }
        (sources, starves)
    }

    fn see(&mut self, id: &str, destination: &dyn Destination, now: Instant) -> Seen {
        let mut seen = Seen {
            state: None,
            since: None,
            messages: 0,
            oldest: None,
            next_try: None,
            stalled: true,
            room: None,
            dropped: 0,
            is_new: false,
        };
        for outlet in destination.outlets() {
            self.see_outlet(&outlet, &mut seen, now);
        }
        let age = |at: Option<Instant>| at.map(|at| now.saturating_duration_since(at)).unwrap_or_default();
        seen.state = match seen.since {
            _ if seen.dropped > 0 => Some(WaitState::Drops),
            since if age(since) >= STILL => Some(WaitState::StandsStill),
            _ if age(seen.oldest) >= SLOW => Some(WaitState::IsSlow),
            _ => None,
        };
        let known = self.destinations.entry(id.to_owned()).or_default();
        let accepted = destination.counters().accepted.value();
        seen.is_new = accepted != std::mem::replace(&mut known.accepted, accepted);
        known.note_use(seen.room.map(|(_, used, _)| used), now);
        seen
    }

    fn see_outlet(&mut self, outlet: &Arc<Outlet>, seen: &mut Seen, now: Instant) {
        let standing = outlet.standing();
        seen.dropped += outlet.sheds().unwrap_or(0) as u64;
        if standing.messages == 0 {
            return;
        }
        seen.messages += standing.messages as u64;
        seen.stalled &= standing.stalled;
        seen.next_try = earlier(seen.next_try, standing.next_try);
        let (unit, used, max) = match standing.room {
            Some(engine::Headroom::Messages { used, max }) => (RoomUnit::Messages, used, max),
            Some(engine::Headroom::DiskBytes { used, max }) => (RoomUnit::Bytes, used, max),
            None => (RoomUnit::Messages, 0, 0),
        };
        // Of several outlets, the fullest.
        let share = |(_, used, max): &(RoomUnit, u64, u64)| *used as f64 / (*max).max(1) as f64;
        if max > 0 && seen.room.as_ref().is_none_or(|room| share(room) < share(&(unit, used, max))) {
            seen.room = Some((unit, used, max));
        }
        let fresh = Quiet { finished: standing.finished, since: now, seen: true };
        let quiet = self.outlets.entry(outlet.id).or_insert(fresh);
        quiet.seen = true;
        if quiet.finished != standing.finished || standing.is_well {
            (quiet.finished, quiet.since) = (standing.finished, now);
        }
        if standing.is_well {
            return;
        }
        seen.since = earlier(seen.since, Some(quiet.since));
        seen.oldest = earlier(seen.oldest, standing.oldest);
    }

    /// What there is to say of a destination that waits, but for who waits for whom.
    fn told(&self, id: &str, destination: &dyn Destination, one: &Seen, now: Instant) -> Wait {
        let ago = |at: Instant| now.saturating_duration_since(at).as_secs();
        let setback = destination.counters().setbacks.last();
        let next_try = one.next_try.or(setback.as_ref().and_then(|setback| setback.next_try));
        let known = self.destinations.get(id);
        let began = known.and_then(|known| known.wait.as_ref()).map(|wait| wait.since);
        let rate = known.map_or(0.0, |known| known.rate);
        let room = one.room.map(|(unit, used, max)| {
            let seconds = max.saturating_sub(used) as f64 / rate;
            let full_in_seconds = (rate >= 1.0).then_some(seconds.min(FULL_IN_MAX) as u64);
            Headroom { unit, used, max, full_in_seconds }
        });
        let (driver, instance) = destination.described();
        Wait {
            destination: id.to_owned(),
            detail: format!("{driver} {instance}").trim_end().to_owned(),
            state: WaitState::StandsStill,
            since_seconds: earlier(began, one.since).map_or(0, ago),
            // As the ledger counts them: what a peer has not taken of a batch under way is among them.
            waiting: one.messages.max(destination.counters().waiting.value()),
            oldest_seconds: one.oldest.map(ago),
            next_try_seconds: next_try
                .and_then(|at| at.checked_duration_since(now))
                .map(|left| left.as_secs()),
            error: setback.map(|setback| LastError {
                text: setback.why,
                seconds_ago: ago(setback.last),
                times: setback.times,
            }),
            room,
            dropped: one.dropped,
            holds: Vec::new(),
            starves: Vec::new(),
        }
    }

    /// Once when it begins, each minute, once when it is over.
    fn say(
        &mut self,
        id: &str,
        destination: &dyn Destination,
        wait: Option<&Wait>,
        since: Option<Instant>,
        now: Instant,
    ) {
        let Some(known) = self.destinations.get_mut(id) else { return };
        let (delivered, dropped) =
            (destination.counters().delivered.value(), destination.counters().dropped.total());
        match (wait, &mut known.wait) {
            (None, None) => {}
            (Some(wait), None) => {
                oplog::warning("Destination waits", &[("why", &wait.sentence())]);
                known.wait = Some(Waiting {
                    since: since.unwrap_or(now),
                    absent: 0,
                    said: now,
                    delivered,
                    dropped,
                    delivered_before: delivered,
                    dropped_before: dropped,
                });
            }
            (Some(wait), Some(waiting)) => {
                waiting.absent = 0;
                if now.saturating_duration_since(waiting.said) >= SAID_EVERY {
                    let (more, lost) = (
                        delivered.saturating_sub(waiting.delivered),
                        dropped.saturating_sub(waiting.dropped),
                    );
                    (waiting.said, waiting.delivered, waiting.dropped) = (now, delivered, dropped);
                    oplog::warning(
                        "Destination still waits",
                        &[("why", &wait.sentence()), ("delivered", &more), ("dropped", &lost)],
                    );
                }
            }
            (None, Some(waiting)) => {
                waiting.absent += 1;
                if waiting.absent >= LOOKS_OVER {
                    let seconds = now.saturating_duration_since(waiting.since).as_secs();
                    let (more, lost) = (
                        delivered.saturating_sub(waiting.delivered_before),
                        dropped.saturating_sub(waiting.dropped_before),
                    );
                    oplog::notice(
                        "Destination does not wait any more",
                        &[
                            ("destination", &id),
                            ("seconds", &seconds),
                            ("delivered", &more),
                            ("dropped", &lost),
                        ],
                    );
                    known.wait = None;
                }
            }
        }
    }
}

impl Known {
    /// Follows how fast room is used up.
    fn note_use(&mut self, used: Option<u64>, now: Instant) {
        let before = std::mem::replace(&mut self.used, used);
        let looked = self.looked.replace(now);
        let (Some(used), Some(before), Some(looked)) = (used, before, looked) else {
            self.rate = 0.0;
            return;
        };
        let seconds = now.saturating_duration_since(looked).as_secs_f64();
        if seconds > 0.0 {
            let rate = (used as f64 - before as f64) / seconds;
            self.rate += (rate - self.rate) / RATE_PARTS;
        }
    }
}

/// Destinations at which messages of a source wait, so that it waits too.
fn holders(edges: &[Edge], source: usize, seen: &[Seen], view: &View) -> Vec<String> {
    let holds = |edge: &&Edge| {
        edge.source == source
            && seen
                .get(edge.destination)
                .is_some_and(|one| one.messages > 0 && (edge.flow_control || !one.stalled))
    };
    let at = edges.iter().filter(holds).map(|edge| edge.destination);
    at.filter_map(|at| view.destinations.get(at).map(|(id, _)| id.clone())).collect()
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_follows_what_is_used() {
        let begin = Instant::now();
        let mut known = Known::default();
        for second in 0..40 {
            known.note_use(Some(second * 100), begin + Duration::from_secs(second));
        }
        assert!((known.rate - 100.0).abs() < 1.0, "{}", known.rate);
        known.note_use(None, begin + Duration::from_secs(41));
        assert_eq!(known.rate, 0.0);
    }
}
