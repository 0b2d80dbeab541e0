//! `verify`: reads every file of a folder and says what is damaged.

use super::QueueArgs;
use super::output::{name, size};
use super::progress::Bar;
use serde_json::json;
use stdio::CommandError;
use store::Checked;

pub fn verify(asked: &QueueArgs) -> Result<bool, CommandError> {
    let view = asked.view()?;
    let space = view.space();
    let mut bar = Bar::new(space.bytes - space.bytes_free, false);
    let (mut files, mut messages, mut hurt) = (0u64, 0u64, Vec::new());
    view.verify(
        |bytes| bar.at(bytes),
        |checked| {
            files += 1;
            messages += checked.messages;
            hurt.extend((!checked.is_whole()).then_some(checked));
        },
    );
    drop(bar);
    if asked.json {
        let damaged: Vec<serde_json::Value> = hurt.iter().map(object).collect();
        let set_aside = view.set_aside();
        stdio::out!(
            "{}",
            json!({ "files": files, "messages": messages, "damaged": damaged, "set_aside": set_aside })
        );
        return Ok(hurt.is_empty());
    }
    for checked in &hurt {
        stdio::out!("{}", sentence(checked));
    }
    for file in view.set_aside() {
        stdio::out!("{file}: set aside because of damage, nothing of it waits any more");
    }
    let verdict = if hurt.is_empty() { "everything can be read" } else { "there is damage" };
    let files = stdio::counted(files, "file", "files");
    let messages = stdio::counted(messages, "message", "messages");
    stdio::out!("{files}, {messages}, {}: {verdict}", size(space.bytes));
    Ok(hurt.is_empty())
}

fn sentence(checked: &Checked) -> String {
    let mut text = format!("{}: ", checked.file);
    if checked.no_header {
        text += "its header cannot be read; ";
    }
    let damaged = stdio::counted(checked.damaged_bytes, "byte is", "bytes are");
    let missing = stdio::counted(checked.frames_lost, "record", "records");
    text += &format!("{damaged} damaged, {missing} missing");
    for (queue, messages) in &checked.lost {
        text += &format!(", {} of {}", stdio::counted(*messages, "message", "messages"), name(queue));
    }
    text
}

fn object(checked: &Checked) -> serde_json::Value {
    let lost: serde_json::Map<String, serde_json::Value> =
        checked.lost.iter().map(|(queue, messages)| (name(queue), json!(messages))).collect();
    json!({
        "file": checked.file,
        "damaged_bytes": checked.damaged_bytes,
        "records_missing": checked.frames_lost,
        "messages_lost": lost,
        "header": !checked.no_header,
    })
}
