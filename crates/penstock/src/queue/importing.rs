//! `import`: messages of syslog-ng's own queue files, as text or JSON, or to a destination of the running
//! program.

use super::QueueArgs;
use super::output::{Printer, text};
use super::progress::Bar;
use crate::foreign_queue::{Foreign, line};
use crate::printing::written;
use control::queues::QueueRequest;
use record::ValueType;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::path::Path;
use stdio::CommandError;
use wire::queue_file::{Found, Message};

pub(super) fn import(asked: &QueueArgs, path: &Path, to: Option<String>) -> Result<bool, CommandError> {
    let file = Foreign::open(path).map_err(CommandError::failed)?;
    if let Some(to) = to {
        let path = path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))?;
        let alone = "no program runs that has a destination for them: start it first";
        return asked.tell(&QueueRequest::Import { file: path, to }, alone);
    }
    let mut bar = Bar::new(file.length, true);
    let mut outcome = Ok(());
    let mut printer = Printer::stdout(b"", true);
    let mut read = 0;
    let found = file.messages(|message| {
        read += message.values.iter().map(|(name, value, _)| (name.len() + value.len()) as u64).sum::<u64>();
        bar.at(read);
        outcome = match asked.json {
            true => printer.object(&object(message)),
            false => printer.line(&line(message)),
        };
        outcome.is_ok()
    });
    drop(bar);
    let outcome = outcome.and_then(|()| printer.finish().map(drop));
    let whole = outcome.is_ok();
    written(outcome)?;
    if whole {
        let _ = writeln!(io::stderr(), "{}", sentence(&found));
    }
    Ok(found.damaged + found.missing == 0)
}

/// What was read of a file.
pub fn sentence(found: &Found) -> String {
    let mut text = format!("{} read", stdio::counted(found.messages, "message", "messages"));
    if found.damaged > 0 {
        text += &format!(", {} damaged ones left out", found.damaged);
    }
    if found.missing > 0 {
        text += &format!(", {} cannot be found any more because of damage before them", found.missing);
    }
    text
}

/// All of a message.
fn object(message: &Message<'_>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("PRI".into(), json!(message.pri));
    object.insert("ISODATE".into(), json!(crate::foreign_queue::iso(&message.stamp)));
    object.insert("R_ISODATE".into(), json!(crate::foreign_queue::iso(&message.received)));
    object.extend(message.peer.map(|peer| ("SOURCEIP".to_owned(), json!(peer.to_string()))));
    let tags: Vec<_> = message.tags.iter().map(|tag| String::from_utf8_lossy(tag)).collect();
    object.insert("TAGS".into(), json!(tags));
    for (name, value, kind) in &message.values {
        let (key, plain) = text(&String::from_utf8_lossy(name), value);
        let typed = match (kind, plain.as_str()) {
            (ValueType::Null, _) => Some(Value::Null),
            (ValueType::Boolean | ValueType::Int | ValueType::Double | ValueType::Json, Some(text)) => {
                serde_json::from_str(text).ok()
            }
            _ => None,
        };
        object.insert(key, typed.unwrap_or(plain));
    }
    object
}
