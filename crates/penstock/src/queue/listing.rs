//! `ls` and `stat`: which queues there are and what waits in them.

use super::output::{name, size, time};
use super::{QueueArgs, find, names, view};
use engine::QueueNames;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use stdio::CommandError;
use store::{QueueInfo, View};

/// The folders that are meant: the one that is given, else all that the running program uses, and the state
/// folder.
fn folders(asked: &QueueArgs) -> Vec<PathBuf> {
    if let Some(dir) = &asked.dir {
        return vec![dir.clone()];
    }
    let mut folders = asked.open_folders();
    let own = asked.state_dir.canonicalize().unwrap_or_else(|_| asked.state_dir.clone());
    if !folders.contains(&own) && (folders.is_empty() || View::open(&own).is_ok()) {
        folders.insert(0, own);
    }
    folders
}

pub fn ls(asked: &QueueArgs) -> Result<bool, CommandError> {
    let mut lines = String::new();
    let folders = folders(asked);
    for folder in &folders {
        let view = view(folder)?;
        let names = names(&view);
        if asked.json {
            for queue in view.queues() {
                let object = facts(&view, &names, &queue);
                lines += &(Value::Object(object).to_string() + "\n");
            }
            continue;
        }
        if folders.len() > 1 {
            lines += &format!("{}:\n", folder.display());
        }
        lines += &table(&view, &names);
    }
    crate::printing::written(io::stdout().write_all(lines.as_bytes()))?;
    Ok(true)
}

fn table(view: &View, names: &QueueNames) -> String {
    let queues = view.queues();
    let destination = |queue: &QueueInfo| names.destination(&queue.name).unwrap_or("-").to_owned();
    let width = queues.iter().map(|queue| destination(queue).chars().count()).max().unwrap_or(0).max(11);
    let mut text = format!(
        "{:>4} {:>12} {:>10} {:>14}  {:width$}  QUEUE\n",
        "ID", "WAITING", "BYTES", "DELIVERED", "DESTINATION"
    );
    for queue in queues {
        let (waiting, done) = (queue.waiting, queue.done.messages);
        let (messages, bytes) = (waiting.messages, size(waiting.bytes));
        let (destination, name) = (destination(&queue), name(&queue.name));
        text +=
            &format!("{:>4} {messages:>12} {bytes:>10} {done:>14}  {destination:width$}  {name}\n", queue.id);
    }
    text
}

fn facts(view: &View, names: &QueueNames, queue: &QueueInfo) -> Map<String, Value> {
    let folder = view.folder().parent().unwrap_or(view.folder());
    let mut object = Map::new();
    for (key, value) in [
        ("id", json!(queue.id)),
        ("destination", json!(names.destination(&queue.name))),
        ("folder", json!(folder.display().to_string())),
        ("waiting_messages", json!(queue.waiting.messages)),
        ("waiting_bytes", json!(queue.waiting.bytes)),
        ("stored_messages", json!(queue.appended.messages)),
        ("stored_bytes", json!(queue.appended.bytes)),
        ("done_messages", json!(queue.done.messages)),
        ("done_bytes", json!(queue.done.bytes)),
        ("first_waiting", json!(queue.first_waiting)),
        ("end", json!(queue.end)),
    ] {
        object.insert(key.to_owned(), value);
    }
    object.extend([super::output::text("queue", &queue.name)]);
    object
}

pub fn stat(asked: &QueueArgs, wanted: Option<&str>) -> Result<bool, CommandError> {
    let mut lines = String::new();
    for folder in folders(asked) {
        let view = view(&folder)?;
        let names = names(&view);
        let queues = match wanted {
            Some(wanted) => vec![find(&view, wanted)?],
            None => view.queues(),
        };
        if !asked.json {
            let space = view.space();
            lines += &format!("folder: {}\n", view.folder().display());
            let files = stdio::counted(space.segments as u64, "file", "files");
            lines += &format!("  on disk: {} in {files}", size(space.bytes));
            lines += &format!(", of these {} kept to be written over\n", size(space.bytes_free));
            for file in view.set_aside() {
                lines += &format!("  set aside because of damage: {file}\n");
            }
        }
        for queue in queues {
            let oldest = oldest(&view, &queue);
            if asked.json {
                let mut object = facts(&view, &names, &queue);
                object.insert("oldest".to_owned(), json!(oldest.map(time)));
                lines += &(Value::Object(object).to_string() + "\n");
                continue;
            }
            let part = |messages: u64, bytes: u64| {
                format!("{}, {}", stdio::counted(messages, "message", "messages"), size(bytes))
            };
            lines += &format!("queue {}: {}\n", queue.id, name(&queue.name));
            if let Some(destination) = names.destination(&queue.name) {
                lines += &format!("  destination: {destination}\n");
            }
            lines += &format!("  waiting: {}\n", part(queue.waiting.messages, queue.waiting.bytes));
            if let Some(oldest) = oldest {
                lines += &format!("  oldest: {}\n", time(oldest));
            }
            lines += &format!("  ever stored: {}\n", part(queue.appended.messages, queue.appended.bytes));
            lines += &format!("  delivered or dropped: {}\n", part(queue.done.messages, queue.done.bytes));
            lines += &format!("  numbers: {} to {}\n", queue.first_waiting, queue.end);
        }
    }
    crate::printing::written(io::stdout().write_all(lines.as_bytes()))?;
    Ok(true)
}

/// When the first message that waits was put in.
fn oldest(view: &View, queue: &QueueInfo) -> Option<u64> {
    let mut oldest = None;
    view.messages(queue.id, queue.first_waiting, |message, _| match message {
        Some(message) => {
            oldest = message.time;
            ControlFlow::Break(())
        }
        None => ControlFlow::Continue(()),
    });
    oldest
}
