//! The last hour of each row of the ledger, in steps of ten seconds.

use crate::data::{Key, Rows, now};
use control::Flow;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

pub const STEP: Duration = Duration::from_secs(10);
/// An hour.
const STEPS_MAX: usize = 360;
/// Rows that are remembered, those of reloads in the last hour included.
const ROWS_MAX: usize = 2048;

/// What happened in a step, and what waited at its end.
#[derive(Clone, Copy, Default)]
struct Step {
    received: u32,
    delivered: u32,
    dropped: u32,
    waiting: u32,
}

#[derive(Default)]
struct Past {
    last: Flow,
    steps: VecDeque<Step>,
}

#[derive(Default)]
pub struct History(HashMap<Key, Past>);

impl History {
    /// A step has ended.
    pub fn add(&mut self, rows: &Rows) {
        for (key, flow) in rows.iter() {
            if !self.0.contains_key(key) && self.0.len() >= ROWS_MAX {
                continue;
            }
            let past = self.0.entry(key.clone()).or_insert_with(|| Past { last: *flow, ..Past::default() });
            past.steps.push_back(step(&past.last, flow));
            past.last = *flow;
            if past.steps.len() > STEPS_MAX {
                past.steps.pop_front();
            }
        }
        // What is gone fades.
        self.0.retain(|key, past| {
            if !rows.has(key) {
                past.steps.pop_front();
            }
            !past.steps.is_empty()
        });
    }

    pub fn of(&self, kind: &str, name: &str) -> Value {
        let past = self.0.iter().find(|(key, _)| key.0 == kind && key.1 == name).map(|(_, past)| past);
        let all = |of: fn(&Step) -> u32| -> Vec<u32> {
            past.into_iter().flat_map(|past| &past.steps).map(of).collect()
        };
        json!({
            "version": crate::data::VERSION,
            "step_seconds": STEP.as_secs(),
            "until": now(),
            "received": all(|step| step.received),
            "delivered": all(|step| step.delivered),
            "dropped": all(|step| step.dropped),
            "waiting": all(|step| step.waiting),
        })
    }
}

fn step(before: &Flow, after: &Flow) -> Step {
    let bound = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let more = |before: u64, after: u64| bound(after.saturating_sub(before));
    Step {
        received: more(before.received, after.received),
        delivered: more(before.delivered, after.delivered),
        dropped: more(before.dropped.total(), after.dropped.total()),
        waiting: bound(after.waiting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Ledger, Row};

    fn rows(received: u64) -> Rows {
        let flow = Flow { received, waiting: 3, delivered: received.saturating_sub(3), ..Flow::default() };
        let row = Row { name: "s".to_owned(), flow, ..Row::default() };
        Rows::of(&Ledger { sources: vec![row], ..Ledger::default() })
    }

    #[test]
    fn an_hour_is_kept_and_what_is_gone_fades() {
        let mut history = History::default();
        (0..400).for_each(|n| history.add(&rows(n * 10)));
        let said = history.of("source", "s");
        let received: Vec<u64> =
            said["received"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
        assert_eq!((received.len(), received[0], received[359]), (360, 10, 10));
        assert_eq!(said["waiting"][7], 3);
        (0..360).for_each(|_| history.add(&Rows::default()));
        assert_eq!(history.of("source", "s")["received"], json!([]));
        assert!(history.0.is_empty());
    }
}
