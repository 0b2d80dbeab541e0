//! `penstock tap PLACE`: messages that come by a source, a step or a destination, in passing.

use super::tap::{TapArgs, messages, plain};
use crate::client::ANSWER_MAX;
use crate::look::LookRequest;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Between two questions.
const EVERY: Duration = Duration::from_millis(200);
/// For how long the program waits for messages at a time.
const PATIENCE: Duration = Duration::from_secs(2);
/// Messages of one question.
const COUNT_MAX: u32 = 1000;
/// All values, for `--format json`.
const JSON: &str = "$(format-json --scope rfc5424,nv-pairs --key SOURCEIP --key TAGS)";

/// How many were shown.
pub fn look(args: &TapArgs, place: &str, socket: &Path) -> Result<usize, CommandError> {
    let template =
        args.format.as_deref().map(|format| if format == "json" { JSON } else { format }.to_owned());
    let until = Instant::now() + Duration::from_secs(args.timeout);
    let mut shown = 0;
    while shown < args.limit as usize {
        let began = Instant::now();
        let left = until.saturating_duration_since(began);
        if left.is_zero() {
            break;
        }
        let at_a_time = (args.rate / 5).clamp(1, COUNT_MAX) as usize;
        let asked = LookRequest {
            place: place.to_owned(),
            filter: args.filter.clone(),
            template: template.clone(),
            count: at_a_time.min(args.limit as usize - shown),
            patience: PATIENCE.min(left),
        };
        let messages = ask(&asked, socket)?;
        messages.iter().for_each(|message| show(message, args.json));
        shown += messages.len();
        let pause = EVERY.mul_f64(messages.len() as f64 / at_a_time as f64).saturating_sub(began.elapsed());
        std::thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
    }
    Ok(shown)
}

fn ask(asked: &LookRequest, socket: &Path) -> Result<Vec<Value>, CommandError> {
    messages(socket, &asked.line(), asked.patience + ANSWER_MAX)
}

fn show(message: &Value, json: bool) {
    if json {
        stdio::out_text!("{message}\n");
        return;
    }
    let text = message.get("text").and_then(Value::as_str).unwrap_or_default();
    let shown: String = text.trim_end_matches('\n').chars().flat_map(plain).collect();
    stdio::out_text!("{shown}\n");
}
