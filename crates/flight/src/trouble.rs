//! What the log and the ledger say of a destination that does not take messages: when that begins, once a
//! minute while it lasts, and when it is over.

use engine::ledger::DestinationCounters;
use std::sync::Arc;
use std::time::{Duration, Instant};

const AGAIN: Duration = Duration::from_secs(60);

pub struct Trouble {
    name: String,
    counters: Arc<DestinationCounters>,
    since: Option<Instant>,
    said: Option<Instant>,
    /// The ledger shows the destination as unreachable.
    noted: bool,
    worked_before: bool,
}

impl Trouble {
    pub fn new(name: String, counters: Arc<DestinationCounters>) -> Trouble {
        Trouble { name, counters, since: None, said: None, noted: false, worked_before: false }
    }

    /// It does not take messages. `outage`: it is away, or wants something done first.
    pub fn say(&mut self, text: &'static str, why: &str, outage: bool, pause: Duration, now: Instant) {
        let since = *self.since.get_or_insert(now);
        self.note(outage);
        self.counters.setbacks.failed(why, Some(pause));
        if self.said.is_some_and(|said| now.saturating_duration_since(said) < AGAIN) {
            return;
        }
        self.said = Some(now);
        let seconds = now.saturating_duration_since(since).as_secs();
        let fields: [oplog::Field<'_>; 4] = [
            ("location", &self.name),
            ("reason", &why),
            ("next_try_ms", &pause.as_millis()),
            ("seconds", &seconds),
        ];
        oplog::error(text, &fields);
    }

    /// It takes messages.
    pub fn is_over(&mut self, now: Instant) {
        let was_noted = self.noted;
        self.note(false);
        if was_noted && self.worked_before {
            self.counters.reconnects.add(1);
        }
        self.worked_before = true;
        if let Some(since) = self.since.take() {
            self.counters.setbacks.is_over();
            self.said = None;
            let seconds = now.saturating_duration_since(since).as_secs();
            oplog::notice(
                "Destination takes messages again",
                &[("location", &self.name), ("seconds", &seconds)],
            );
        }
    }

    fn note(&mut self, outage: bool) {
        match (std::mem::replace(&mut self.noted, outage), outage) {
            (false, true) => self.counters.unreachable.add(1),
            (true, false) => self.counters.unreachable.sub(1),
            _ => {}
        }
    }
}

impl Drop for Trouble {
    fn drop(&mut self) {
        self.note(false);
    }
}
