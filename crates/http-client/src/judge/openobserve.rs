//! OpenObserve: a success may have refused some messages, and does not say which.

use super::json;
use crate::answer::Answer;
use flight::Outcome;
use serde_json::Value;

pub fn read(answer: &Answer) -> Option<Outcome> {
    if !answer.is_success() {
        return None;
    }
    let value = match json(answer) {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    let failed = value.get("status").and_then(Value::as_array).is_some_and(|streams| {
        streams.iter().any(|stream| stream.get("failed").and_then(Value::as_u64).unwrap_or(0) > 0)
    });
    // Halved until it is alone; the others of its half arrive twice.
    Some(if failed { Outcome::Split(answer.words()) } else { Outcome::Delivered })
}
