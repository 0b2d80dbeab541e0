//! Elasticsearch and OpenSearch: the answer to `_bulk` has an item for each document, in their order.

use super::{Whereabouts, json};
use crate::action::again;
use crate::answer::Answer;
use flight::{Outcome, Verdict};
use serde_json::Value;

/// An answer in which all is well says so near its beginning.
const GOOD: &[u8] = b"\"errors\":false";
const GOOD_WITHIN: usize = 256;

/// What `filter_path` has of places.
pub const WHERE: &str = ",items.*._index,items.*._id";

/// Index and id of each document.
pub fn places(answer: &Answer) -> Vec<Whereabouts> {
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else { return Vec::new() };
    let items = value.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().map(place).collect()
}

fn place(item: &Value) -> Whereabouts {
    let item = item.as_object().and_then(|item| item.values().next());
    let text = |name, key| Some((name, item?.get(key)?.as_str()?.into()));
    [text("index", "_index"), text("_id", "_id")].into_iter().flatten().collect()
}

pub fn read(answer: &Answer, messages: usize) -> Option<Outcome> {
    if !answer.is_success() {
        return None;
    }
    let begin = answer.body.get(..answer.body.len().min(GOOD_WITHIN)).unwrap_or_default();
    if answer.is_whole && memchr::memmem::find(begin, GOOD).is_some() {
        return Some(Outcome::Delivered);
    }
    let value = match json(answer) {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    if value.get("errors").and_then(Value::as_bool) == Some(false) {
        return Some(Outcome::Delivered);
    }
    match value.get("items").and_then(Value::as_array) {
        Some(items) if items.len() == messages => {
            let verdicts = items.iter().map(verdict).collect();
            Some(Outcome::Judged { verdicts, after: answer.retry_after })
        }
        // It cannot be told which message an item is about.
        _ => Some(again(answer, true)),
    }
}

fn verdict(item: &Value) -> Verdict {
    let Some((op, item)) = item.as_object().and_then(|item| item.iter().next()) else {
        return Verdict::Again;
    };
    let error = item.get("error");
    let text = |name| error.and_then(|error| error.get(name)).and_then(Value::as_str).unwrap_or_default();
    match item.get("status").and_then(Value::as_u64) {
        Some(200..=299) => Verdict::Delivered,
        // A document of this id is there: the one that was sent before, and whose answer was lost.
        Some(409) if op == "create" => Verdict::Delivered,
        Some(429 | 500..=599) | None => Verdict::Again,
        Some(_) if text("type") == "es_rejected_execution_exception" => Verdict::Again,
        Some(status) => Verdict::Refused(format!("{status} {}: {}", text("type"), text("reason")).into()),
    }
}
