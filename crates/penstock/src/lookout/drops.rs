//! Messages that are lost at a source or destination, said: when it begins, the sum of each minute, and when
//! it has ended. Full queues say it themselves, and what somebody wanted to be dropped is nobody's trouble.

use super::SAID_EVERY;
use super::spell::{Manner, Spell, Word, note};
use crate::subject::balance::reason_of;
use control::DropReason;
use engine::View;
use engine::ledger::{Drops, Reason, Remains};
use std::collections::HashMap;
use std::time::{Duration, Instant};

const MANNER: Manner = Manner { every: SAID_EVERY, quiet: Duration::from_secs(10) };
/// Fewer messages that a destination loses are a matter of these messages, and not of the destination.
const MANY: u64 = 10;
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
    /// What the destination had delivered when it began.
    delivered_before: u64,
}

/// A destination that loses what comes to it, though its queue has room.
#[derive(Clone, Debug)]
pub struct Refusing {
    pub destination: String,
    pub reason: DropReason,
    /// Messages since that began.
    pub dropped: u64,
}

impl DropLog {
    /// Says what there is to say; the destinations that lose at least as much as they deliver.
    pub fn look(&mut self, view: &View, now: Instant) -> Vec<Refusing> {
        for source in &view.sources {
            self.of(("source", source.id.as_str()), (&source.counters.dropped, 0), None, now);
        }
        let mut refusing = Vec::new();
        for (id, destination) in &view.destinations {
            let (counters, place) = (destination.counters(), ("destination", id.as_str()));
            refusing.extend(self.of(
                place,
                (&counters.dropped, counters.delivered.value()),
                Some(&counters.remains),
                now,
            ));
        }
        self.0.retain(|(_, name, _), _| {
            view.sources.iter().any(|source| source.id == *name)
                || view.destinations.iter().any(|(id, _)| id == name)
        });
        refusing
    }

    fn of(
        &mut self,
        place: (&'static str, &str),
        (drops, delivered): (&Drops, u64),
        remains: Option<&Remains>,
        now: Instant,
    ) -> Option<Refusing> {
        let mut refusing = None;
        for reason in SAID {
            let count = drops.value(reason);
            let key = (place.0, place.1.to_owned(), reason as usize);
            if count > 0 || self.0.contains_key(&key) {
                let loss = self.0.entry(key).or_default();
                if loss.spell.is_none() {
                    loss.delivered_before = delivered;
                }
                let words = remains.filter(|_| reason == Reason::Refused).map(Remains::refused_with);
                loss.note(place, (reason_of(reason), words.as_deref()), count, now);
                if let Some(dropped) = loss.prevailing(delivered) {
                    let destination = place.1.to_owned();
                    refusing = Some(Refusing { destination, reason: reason_of(reason), dropped });
                }
            }
        }
        refusing
    }
}

impl Loss {
    /// What was lost since it began, while that is no exception among what is delivered.
    fn prevailing(&self, delivered: u64) -> Option<u64> {
        self.spell.as_ref()?;
        let dropped = self.count.saturating_sub(self.began);
        let prevails = dropped >= MANY && dropped >= delivered.saturating_sub(self.delivered_before);
        prevails.then_some(dropped)
    }

    /// `words`: what the destination said of the last one, where it has said something.
    fn note(
        &mut self,
        (kind, name): (&'static str, &str),
        (reason, words): (DropReason, Option<&str>),
        count: u64,
        now: Instant,
    ) {
        // Counters may have been reset.
        let (before, is_more) = (self.count.min(count), count > self.count);
        self.count = count;
        let word = note(&mut self.spell, is_more, MANNER, now);
        let why = match words.filter(|words| !words.is_empty()) {
            Some(words) => format!("{}; the last with {words}", reason.help()),
            None => reason.help().to_owned(),
        };
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
                    &[
                        (kind, name),
                        ("reason", reason),
                        ("dropped", &dropped),
                        ("dropped_in_all", &all),
                        ("why", &why),
                    ],
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
