//! `--record`: cases made of what the running program does with its next messages.

use super::play::{Output, State};
use super::read::written;
use super::update::expectations;
use control::cli::TestArgs;
use control::client;
use control::explain::ExplainRequest;
use record::Stamp;
use serde_json::Value;
use std::time::Duration;
use stdio::CommandError;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

/// Given to the program beyond the time for which it waits for messages.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// Characters of a message that its case is named after.
const TITLE_CHARS_MAX: usize = 40;

/// Prints the cases; `false` when there is none.
pub fn run(args: &TestArgs, count: u32) -> Result<bool, CommandError> {
    let request = ExplainRequest {
        json: true,
        count: count as usize,
        patience: Duration::from_secs(args.timeout),
        source: args.source.clone(),
        ..ExplainRequest::default()
    };
    let answer = client::ask(&args.running.socket()?, &request.line(), request.patience + ANSWER_MAX)?;
    let answer: Value = serde_json::from_str(&answer).map_err(|error| format!("not an answer: {error}"))?;
    let messages = answer.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut cases = ArrayOfTables::new();
    let mut left_out = 0;
    for (number, message) in (1..).zip(&messages) {
        match case(number, message) {
            Some(case) => cases.push(case),
            None => left_out += 1,
        }
    }
    if left_out > 0 {
        let left_out = stdio::counted(left_out, "message is", "messages are");
        stdio::err!("{left_out} left out: of texts that long, only the beginning is known");
    }
    let is_empty = cases.is_empty();
    let mut document = DocumentMut::new();
    document.insert("case", Item::ArrayOfTables(cases));
    stdio::out_text!("{document}");
    Ok(!is_empty)
}

/// `None` when not all of its texts are known.
fn case(number: usize, message: &Value) -> Option<Table> {
    let received = message.get("received")?;
    is_whole(received)?;
    let text = received.get("text")?.as_str()?;
    let mut case = Table::new();
    let title: String = text.chars().filter(|c| !c.is_control()).take(TITLE_CHARS_MAX).collect();
    case.insert("name", value(format!("{number}: {title}")));
    case.insert("source", value(message.get("source")?.as_str()?));
    if let Some(micros) = message.get("time").and_then(Value::as_i64) {
        let usec = u32::try_from(micros.rem_euclid(1_000_000)).unwrap_or_default();
        let now = written(Stamp { secs: micros.div_euclid(1_000_000), usec, offset: 0 });
        case.insert("now", value(now.parse::<toml_edit::Datetime>().ok()?));
    }
    if let Some(peer) = message.get("peer").and_then(Value::as_str) {
        case.insert("from", value(peer));
    }
    match received.get("hex").and_then(Value::as_str) {
        Some(hex) => {
            let mut line = InlineTable::new();
            line.insert("hex", hex.into());
            case.insert("line", value(line));
        }
        None => {
            case.insert("line", value(text));
        }
    }
    let mut outputs = Vec::new();
    for step in message.get("steps")?.as_array()? {
        written_by(step, &mut outputs)?;
    }
    if outputs.is_empty() {
        case.insert("dropped", value(true));
    } else {
        case.insert("expect", Item::ArrayOfTables(expectations(&outputs)));
    }
    Some(case)
}

fn is_whole(text: &Value) -> Option<()> {
    let kept = match text.get("hex").and_then(Value::as_str) {
        Some(hex) => hex.len() / 2,
        None => text.get("text")?.as_str()?.len(),
    };
    (text.get("bytes")?.as_u64()? == kept as u64).then_some(())
}

/// What a step, and those in it, wrote.
fn written_by(step: &Value, outputs: &mut Vec<Output>) -> Option<()> {
    let label = step.get("label").and_then(Value::as_str).unwrap_or_default();
    let events = step.get("events").and_then(Value::as_array);
    for event in events.into_iter().flatten().filter(|event| event.get("event") == Some(&"output".into())) {
        let output = event.get("output")?;
        is_whole(output)?;
        let text = output.get("text")?.as_str()?;
        outputs.push(Output {
            destination: label.strip_prefix("destination ").unwrap_or(label).to_owned(),
            to: event.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            text: text.strip_suffix('\n').unwrap_or(text).as_bytes().to_vec(),
            state: State::default(),
        });
    }
    for inner in step.get("steps").and_then(Value::as_array).into_iter().flatten() {
        written_by(inner, outputs)?;
    }
    Some(())
}
