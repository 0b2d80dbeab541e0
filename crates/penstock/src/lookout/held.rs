//! Sources of which nothing is read although something may be there: their windows are used up by what waits
//! at destinations.

use super::spell::{Manner, Spell, Word, note};
use super::{SAID_EVERY, STILL};
use control::ledger::Held;
use engine::source::Source;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MANNER: Manner = Manner { every: SAID_EVERY, quiet: Duration::from_secs(3) };

#[derive(Default)]
pub struct HeldSources(HashMap<String, Standing>);

/// How a source stands.
struct Standing {
    received: u64,
    /// Since when nothing has been read of it.
    since: Instant,
    /// Read when it began.
    received_before: u64,
    spell: Option<Spell>,
}

impl HeldSources {
    /// `is_held` says of each source whether it waits for room, `by` at which destinations its messages are.
    pub fn look(
        &mut self,
        sources: &[Arc<Source>],
        is_held: &[bool],
        by: &dyn Fn(usize) -> Vec<String>,
        now: Instant,
    ) -> Vec<Held> {
        self.0.retain(|id, _| sources.iter().any(|source| source.id == *id));
        let mut held = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let received = source.counters.received.value();
            let fresh = Standing { received, since: now, received_before: received, spell: None };
            let standing = self.0.entry(source.id.clone()).or_insert(fresh);
            let waits = is_held.get(at) == Some(&true);
            if !waits || received != standing.received {
                (standing.received, standing.since) = (received, now);
            }
            let since = now.saturating_duration_since(standing.since);
            let stands = waits && since >= STILL;
            let said = Held {
                source: source.id.clone(),
                detail: format!("{} {}", source.driver, source.instance).trim_end().to_owned(),
                since_seconds: since.as_secs(),
                by: if stands { by(at) } else { Vec::new() },
            };
            standing.say(stands, &said, now);
            held.extend(stands.then_some(said));
        }
        held
    }
}

impl Standing {
    fn say(&mut self, stands: bool, held: &Held, now: Instant) {
        let word = note(&mut self.spell, stands, MANNER, now);
        let more = self.received.saturating_sub(self.received_before);
        match word {
            Word::Nothing => {}
            Word::Begins => {
                self.received_before = self.received;
                oplog::warning("Source is held back", &[("why", &held.sentence())]);
            }
            Word::GoesOn => {
                oplog::warning(
                    "Source is still held back",
                    &[("why", &held.sentence()), ("received", &more)],
                );
            }
            Word::Ended(lasted) => {
                let seconds = lasted.as_secs() + STILL.as_secs();
                oplog::notice(
                    "Source is not held back any more",
                    &[("source", &held.source), ("seconds", &seconds), ("received", &more)],
                );
            }
        }
    }
}
