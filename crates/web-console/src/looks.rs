//! What the page asks for beside the stream: the last hour of a row, dropped messages, those that come next,
//! a line that is only tried, queues on disk, the log.

use control::explain::ExplainRequest;
use control::tap::TapRequest;
use control::{Counter, Subject};
use http_server::{Answer, Query};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// Messages that are waited for at a time, and for how long at most.
const COUNT_MAX: usize = 20;
const PATIENCE_MAX: u64 = 20;
/// A line that is tried.
const LINE_BYTES_MAX: usize = 8 << 10;

/// A sentence that is no answer.
fn refused(why: &str) -> Answer {
    Answer::json(422, json!({ "version": VERSION, "error": oplog::hidden(why) }).to_string())
}

fn given(outcome: Result<String, String>) -> Answer {
    outcome.map_or_else(|why| refused(&why), |text| Answer::json(200, oplog::hidden(&text).into_owned()))
}

pub fn configuration(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let node = query.get("node").unwrap_or_default();
    match subject.statement(&node) {
        Some(text) => {
            Answer::json(200, json!({ "version": VERSION, "node": node, "text": text }).to_string())
        }
        None => refused("there is no such statement"),
    }
}

/// `destination` and `reason`, both may be left out.
pub fn dropped(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let reason = query.get("reason").map(|name| name.parse()).transpose();
    match reason {
        Ok(reason) => given(subject.tap(&TapRequest { reason, destination: query.get("destination") })),
        Err(why) => refused(&why),
    }
}

/// The messages that come next, step by step: `source`, `filter`, `count`, `seconds`, `lost`.
pub fn next(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let number = |name: &str| query.get(name).and_then(|text| text.parse::<u64>().ok());
    let request = ExplainRequest {
        json: true,
        is_lost: query.is_on("lost"),
        count: (number("count").unwrap_or(1) as usize).clamp(1, COUNT_MAX),
        patience: Duration::from_secs(number("seconds").unwrap_or(10).clamp(1, PATIENCE_MAX)),
        source: query.get("source").filter(|name| !name.is_empty()),
        from: None,
        filter: query.get("filter").filter(|text| !text.trim().is_empty()),
    };
    given(subject.explain(&request))
}

/// `line`, and `source` where several fit.
pub fn rehearse(query: Query<'_>, subject: &dyn Subject) -> Answer {
    let line = query.get("line").unwrap_or_default();
    if line.is_empty() || line.len() > LINE_BYTES_MAX {
        return refused("one line of text is needed, of at most 8 kB");
    }
    let source = query.get("source").filter(|name| !name.is_empty());
    given(subject.rehearse(source.as_deref(), &line))
}

/// From the counters of queues on disk.
pub fn queues(subject: &dyn Subject) -> Answer {
    let mut queues: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for Counter { prom, value, .. } in subject.counters() {
        let Some(prom) = prom else { continue };
        let Some(what) = prom.name.strip_prefix("disk_queue_") else { continue };
        let label =
            |name: &str| prom.labels.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let Some(id) = label("id") else { continue };
        let queue = queues.entry(id).or_default();
        queue.insert(what.to_owned(), value.into());
        for name in ["path", "queue", "dir", "driver_instance"] {
            if let Some(value) = label(name) {
                queue.insert(name.to_owned(), value.into());
            }
        }
    }
    let list: Vec<Value> = queues
        .into_iter()
        .map(|(id, mut queue)| {
            queue.insert("destination".to_owned(), id.into());
            Value::Object(queue)
        })
        .collect();
    Answer::json(200, json!({ "version": VERSION, "queues": list }).to_string())
}

/// The last lines that the program has said.
pub fn log() -> Answer {
    let lines: Vec<Value> = oplog::recent()
        .into_iter()
        .map(|entry| {
            json!({
                "time": entry.time.as_millisecond(),
                "level": entry.level.name(),
                "text": entry.message,
            })
        })
        .collect();
    Answer::json(200, json!({ "version": VERSION, "lines": lines }).to_string())
}
