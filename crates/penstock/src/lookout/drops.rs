//! Messages that are lost at a source or destination, said: when it begins, the sum of each minute, and when
//! it has ended. Full queues say it themselves, and what somebody wanted to be dropped is nobody's trouble.

use super::SAID_EVERY;
use super::spell::{Manner, Spell, Word, note};
use crate::subject::balance::reason_of;
use control::DropReason;
use engine::View;
use engine::ledger::{Drops, Reason};
use std::collections::HashMap;
use std::time::{Duration, Instant};

const MANNER: Manner = Manner { every: SAID_EVERY, quiet: Duration::from_secs(10) };
/// Those that are said here.
const SAID: [Reason; 7] = [
    Reason::Refused,
    Reason::Contained,
    Reason::Kernel,
    Reason::NoCredit,
    Reason::Framing,
    Reason::Damaged,
    Reason::Oversized,
];

/// What is dropped where, by `source` or `destination`, its name and the reason.
#[derive(Default)]
pub struct DropLog(HashMap<(&'static str, String, usize), Loss>);

#[derive(Default)]
struct Loss {
    /// Messages that were dropped at the last look.
    count: u64,
    /// The same when it was said last, and when it began.
    said: u64,
    began: u64,
    spell: Option<Spell>,
}

impl DropLog {
    pub fn look(&mut self, view: &View, now: Instant) {
        for source in &view.sources {
            self.of(("source", source.id.as_str()), &source.counters.dropped, now);
        }
        for (id, destination) in &view.destinations {
            self.of(("destination", id.as_str()), &destination.counters().dropped, now);
        }
        self.0.retain(|(_, name, _), _| {
            view.sources.iter().any(|source| source.id == *name)
                || view.destinations.iter().any(|(id, _)| id == name)
        });
    }

    fn of(&mut self, place: (&'static str, &str), drops: &Drops, now: Instant) {
        for reason in SAID {
            let count = drops.value(reason);
            let key = (place.0, place.1.to_owned(), reason as usize);
            if count > 0 || self.0.contains_key(&key) {
                self.0.entry(key).or_default().note(place, reason_of(reason), count, now);
            }
        }
    }
}

impl Loss {
    fn note(&mut self, (kind, name): (&'static str, &str), reason: DropReason, count: u64, now: Instant) {
        // Counters may have been reset.
        let (before, is_more) = (self.count.min(count), count > self.count);
        self.count = count;
        let (word, why) = (note(&mut self.spell, is_more, MANNER, now), reason.help());
        let (name, reason) = (&name, &reason.name());
        match word {
            Word::Nothing => {}
            Word::Begins => {
                (self.said, self.began) = (count, before);
                let dropped = count.saturating_sub(before);
                oplog::error(
                    "Messages are dropped",
                    &[(kind, name), ("reason", reason), ("dropped", &dropped), ("why", &why)],
                );
            }
            Word::GoesOn => {
                let dropped = count.saturating_sub(self.said);
                let all = count.saturating_sub(self.began);
                self.said = count;
                oplog::error(
                    "Messages are still dropped",
                    &[(kind, name), ("reason", reason), ("dropped", &dropped), ("dropped_in_all", &all)],
                );
            }
            Word::Ended(lasted) => {
                let (all, seconds) = (count.saturating_sub(self.began), lasted.as_secs());
                oplog::notice(
                    "Messages are not dropped any more",
                    &[(kind, name), ("reason", reason), ("dropped_in_all", &all), ("seconds", &seconds)],
                );
            }
        }
    }
}
