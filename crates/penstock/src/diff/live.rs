//! `--live`: the next messages of the running program, as it received them.

use control::cli::DiffArgs;
use control::client;
use control::explain::ExplainRequest;
use serde_json::Value;
use std::time::Duration;
use stdio::CommandError;

/// Given to the program beyond the time for which it waits for messages.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Messages that are asked for; more than the program gives at a time would be cut.
const MESSAGES_MAX: usize = 1000;

/// What comes within so many seconds, at most [`MESSAGES_MAX`] messages. Those too long to be known whole are
/// left out.
pub fn messages(args: &DiffArgs, seconds: u64) -> Result<Vec<Vec<u8>>, CommandError> {
    let request = ExplainRequest {
        json: true,
        count: MESSAGES_MAX,
        patience: Duration::from_secs(seconds),
        source: args.source.clone(),
        from: args.from,
        ..ExplainRequest::default()
    };
    let answer = client::ask(&args.running.socket()?, &request.line(), request.patience + ANSWER_MAX)?;
    let answer: Value = serde_json::from_str(&answer).map_err(|error| format!("not an answer: {error}"))?;
    let messages = answer.get("messages").and_then(Value::as_array);
    Ok(messages.into_iter().flatten().filter_map(received).collect())
}

fn received(message: &Value) -> Option<Vec<u8>> {
    let received = message.get("received")?;
    let bytes = match received.get("hex").and_then(Value::as_str) {
        Some(hex) => unhex(hex)?,
        None => received.get("text")?.as_str()?.as_bytes().to_vec(),
    };
    (received.get("bytes")?.as_u64()? == bytes.len() as u64).then_some(bytes)
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = (0..text.len()).step_by(2).map(|at| text.get(at..at + 2));
    pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect()
}
