//! The rows of the ledger as the page gets them: a state once, then what has changed.

use control::ledger::{Disk, Held, Row, Wait};
use control::{Flow, Ledger};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Grows when something is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// What a row is of.
pub type Key = (&'static str, String);

/// The rows at one moment. Rows of one name, the places of a path that stands twice, are one.
#[derive(Default)]
pub struct Rows(BTreeMap<Key, (String, Flow)>);

impl Rows {
    pub fn of(ledger: &Ledger) -> Rows {
        let mut rows = Rows::default();
        let sections =
            [("source", &ledger.sources), ("path", &ledger.paths), ("destination", &ledger.destinations)];
        for (kind, section) in sections {
            section.iter().for_each(|row| rows.add(kind, row));
        }
        rows
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Flow)> {
        self.0.iter().map(|(key, (_, flow))| (key, flow))
    }

    pub fn has(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }

    fn add(&mut self, kind: &'static str, row: &Row) {
        let (_, flow) =
            self.0.entry((kind, row.name.clone())).or_insert_with(|| (row.detail.clone(), Flow::default()));
        flow.add(&row.flow);
    }

    /// Those that are not what they were, by kind and name.
    fn changed(&self, before: &Rows) -> Value {
        let mut kinds: Map<String, Value> = Map::new();
        for (key, (detail, flow)) in &self.0 {
            if before.0.get(key).is_some_and(|(_, old)| old == flow) {
                continue;
            }
            let rows = kinds.entry(key.0).or_insert_with(|| json!({}));
            if let Some(rows) = rows.as_object_mut() {
                rows.insert(key.1.clone(), row(detail, flow));
            }
        }
        Value::Object(kinds)
    }

    fn gone(&self, before: &Rows) -> Vec<Value> {
        before
            .0
            .keys()
            .filter(|key| !self.0.contains_key(*key))
            .map(|(kind, name)| json!([kind, name]))
            .collect()
    }
}

fn row(detail: &str, flow: &Flow) -> Value {
    let drops: Map<String, Value> =
        flow.dropped.iter().map(|(reason, n)| (reason.name().to_owned(), n.into())).collect();
    json!({
        "detail": detail,
        "received": flow.received,
        "delivered": flow.delivered,
        "waiting": flow.waiting,
        "filtered": flow.filtered,
        "dropped": flow.dropped.total(),
        "reasons": drops,
        "received_bytes": flow.received_bytes,
        "delivered_bytes": flow.delivered_bytes,
    })
}

/// All of it: what a stream begins with.
pub fn state(rows: &Rows, ledger: &Ledger, configuration: &str) -> Value {
    json!({
        "version": VERSION,
        "time": now(),
        "configuration": configuration,
        "rows": rows.changed(&Rows::default()),
        "waits": said(&ledger.waits),
        "held": held(ledger),
        "disks": low(ledger),
    })
}

/// What is new since `before`.
pub fn change(before: &Rows, rows: &Rows, ledger: &Ledger, configuration: &str) -> Value {
    json!({
        "version": VERSION,
        "time": now(),
        "configuration": configuration,
        "rows": rows.changed(before),
        "gone": rows.gone(before),
        "waits": said(&ledger.waits),
        "held": held(ledger),
        "disks": low(ledger),
    })
}

fn held(ledger: &Ledger) -> Vec<Value> {
    ledger.held.iter().map(Held::to_json).collect()
}

/// File systems that will be full.
fn low(ledger: &Ledger) -> Vec<Value> {
    ledger.disks.iter().filter(|disk| disk.is_low).map(Disk::to_json).collect()
}

fn said(waits: &[Wait]) -> Vec<Value> {
    let with_sentence = |wait: &Wait| {
        let mut value = wait.to_json();
        if let Some(value) = value.as_object_mut() {
            value.insert("sentence".to_owned(), json!(wait.sentence()));
        }
        value
    };
    waits.iter().map(with_sentence).collect()
}

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(received: u64, names: &[&str]) -> Rows {
        let flow = Flow { received, delivered: received, ..Flow::default() };
        let row =
            |name: &&str| Row { name: (*name).to_owned(), detail: "x".to_owned(), flow, ..Row::default() };
        Rows::of(&Ledger { sources: names.iter().map(row).collect(), ..Ledger::default() })
    }

    #[test]
    fn only_what_has_changed_is_said_again() {
        let (one, two) = (rows(1, &["a", "b"]), rows(1, &["a"]));
        let ledger = Ledger::default();
        let same = change(&one, &rows(1, &["a", "b"]), &ledger, "id");
        assert_eq!((&same["rows"], &same["gone"]), (&json!({}), &json!([])));
        assert_eq!(change(&one, &two, &ledger, "id")["gone"], json!([["source", "b"]]));
        let more = change(&two, &rows(5, &["a"]), &ledger, "id");
        assert_eq!(more["rows"]["source"]["a"]["received"], 5);
        assert_eq!(state(&one, &ledger, "id")["rows"]["source"]["b"]["delivered"], 1);
        assert_eq!(state(&rows(3, &["a", "a"]), &ledger, "id")["rows"]["source"]["a"]["received"], 6);
    }
}
