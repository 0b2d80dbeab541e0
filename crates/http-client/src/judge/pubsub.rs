//! Google Pub/Sub: a success has an id for each message, in their order.

use super::{Whereabouts, json};
use crate::answer::Answer;
use flight::Outcome;
use serde_json::Value;

fn ids(value: &Value) -> &[Value] {
    value.get("messageIds").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The id of each message.
pub fn places(answer: &Answer) -> Vec<Whereabouts> {
    let Ok(value) = serde_json::from_slice::<Value>(&answer.body) else { return Vec::new() };
    ids(&value).iter().map(|id| id.as_str().map(|id| ("id", id.into())).into_iter().collect()).collect()
}

pub fn read(answer: &Answer, messages: usize) -> Option<Outcome> {
    if !answer.is_success() {
        return None;
    }
    let value = match json(answer) {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    Some(match ids(&value).len() {
        count if count == messages => Outcome::Delivered,
        count => {
            Outcome::Unknown(format!("the server has answered with {count} ids for {messages} messages"))
        }
    })
}
