//! Elasticsearch and OpenSearch: the answer to `_bulk` has an item for each document, in their order.

use super::{Whereabouts, another_server, json};
use crate::action::{Action, Actions, again};
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

pub fn read(answer: &Answer, actions: &Actions, messages: usize) -> Option<Outcome> {
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
            let verdicts = verdicts(items, actions);
            Some(Outcome::Judged { verdicts, after: answer.retry_after })
        }
        None if value.get("errors").is_none() => Some(another_server(answer)),
        // It cannot be told which message an item is about.
        _ => Some(again(answer, true)),
    }
}

fn verdicts(items: &[Value], actions: &Actions) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = items.iter().map(|item| verdict(item, actions)).collect();
    // A server that takes others is there, and knows the login: what it does not have, or does not allow, is
    // the index that this message names.
    if verdicts.contains(&Verdict::Delivered) {
        for (verdict, item) in verdicts.iter_mut().zip(items) {
            if let Verdict::Hold(why) = verdict
                && !is_state_of_all(item)
            {
                *verdict = Verdict::Refused(std::mem::take(why));
            }
        }
    }
    verdicts
}

fn verdict(item: &Value, actions: &Actions) -> Verdict {
    let Some((op, item)) = parts(item) else {
        return Verdict::Again;
    };
    let why = |status| format!("{status} {}: {}", said(item, "type"), said(item, "reason")).into();
    match status(item) {
        Some(200..=299) => Verdict::Delivered,
        // A document of this id is there: the one that was sent before, and whose answer was lost.
        Some(409) if op == "create" => Verdict::Delivered,
        Some(429 | 500..=599) | None => Verdict::Again,
        Some(_) if said(item, "type") == "es_rejected_execution_exception" => Verdict::Again,
        // An index that is blocked or missing, a right: somebody has to do something.
        Some(status @ (401 | 403 | 404)) => match actions.of(status as u16) {
            None => Verdict::Hold(why(status)),
            Some(Action::Success) => Verdict::Delivered,
            Some(Action::Drop) => Verdict::Refused(why(status)),
            Some(Action::Retry | Action::Disconnect) => Verdict::Again,
        },
        Some(status) => Verdict::Refused(why(status)),
    }
}

/// Whether this is no matter of the name that a message has made for its index.
fn is_state_of_all(item: &Value) -> bool {
    parts(item)
        .is_some_and(|(_, item)| status(item) == Some(401) || said(item, "type") == "cluster_block_exception")
}

/// What was done with a document, and what is said of it.
fn parts(item: &Value) -> Option<(&str, &Value)> {
    item.as_object()?.iter().next().map(|(op, item)| (op.as_str(), item))
}

fn status(item: &Value) -> Option<u64> {
    item.get("status").and_then(Value::as_u64)
}

/// What an item has of its error.
fn said<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get("error").and_then(|error| error.get(name)).and_then(Value::as_str).unwrap_or_default()
}
