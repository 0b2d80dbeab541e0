//! Splunk's HTTP Event Collector: its own code decides, not the status.

use super::json;
use crate::action::again;
use crate::answer::Answer;
use flight::{Outcome, Verdict};
use serde_json::Value;
use std::time::Duration;

pub fn read(answer: &Answer, messages: usize) -> Option<Outcome> {
    let value = match json(answer) {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    let Some(code) = value.get("code").and_then(Value::as_u64) else {
        return answer.is_success().then(|| Outcome::Hold(format!("no code: {}", answer.words())));
    };
    Some(match code {
        0 => Outcome::Delivered,
        // The token, the channel, the address.
        1..=4 | 10 | 11 | 14 | 16 => Outcome::Hold(answer.words()),
        // Something is wrong with the data: of one event, when it is named. A server that is busy names one
        // too, and means nothing by it.
        code if speaks_of_data(code) => {
            match place(&value, messages) {
                Some(bad) => {
                    let mut verdicts = vec![Verdict::Again; messages];
                    if let Some(verdict) = verdicts.get_mut(bad) {
                        *verdict = Verdict::Refused(answer.words().into());
                    }
                    // The others need not wait.
                    Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
                }
                None => Outcome::Split(answer.words()),
            }
        }
        _ => again(answer, false),
    })
}

/// The place of the event that is bad, where an answer says it in this form, whoever gave it.
pub fn named(answer: &Answer, messages: usize) -> Option<usize> {
    let value: Value = serde_json::from_slice(&answer.body).ok()?;
    let code = value.get("code").and_then(Value::as_u64)?;
    speaks_of_data(code).then(|| place(&value, messages))?
}

fn speaks_of_data(code: u64) -> bool {
    matches!(code, 5 | 6 | 7 | 12 | 13 | 15)
}

fn place(value: &Value, messages: usize) -> Option<usize> {
    let place = value.get("invalid-event-number").and_then(Value::as_u64)?;
    usize::try_from(place).ok().filter(|place| *place < messages)
}
