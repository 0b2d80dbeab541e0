//! Explained messages as JSON, described in docs/explain.md.

use super::suspicion;
use super::tree::{Fate, Node, Tree};
use engine::watch::Verdict;
use engine::watch::inquiry::{Happened, Story, Text};
use engine::{Detail, End, Said};
use record::Peer;
use serde_json::{Map, Value, json};

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub fn render<'s, 't>(stories: impl Iterator<Item = (&'s Story, Tree<'t>)>) -> String {
    let messages: Vec<Value> = stories.map(|(story, tree)| one(story, &tree)).collect();
    format!("{:#}\n", json!({ "version": VERSION, "messages": messages }))
}

fn one(story: &Story, tree: &Tree<'_>) -> Value {
    let peer = match &story.peer {
        Peer::Inet { remote, .. } => Value::from(remote.to_string()),
        Peer::Local => Value::Null,
    };
    json!({
        "source": story.source,
        "instance": story.instance,
        "peer": peer,
        "time": story.came.map(|at| at.secs.saturating_mul(1_000_000).saturating_add(i64::from(at.usec))),
        "rcptid": story.received,
        "received": tree.received.map(text),
        "suspicious": suspicion::doubts(story, tree),
        "values": tree.values.iter().map(|event| happened(event)).collect::<Vec<_>>(),
        "steps": tree.roots.iter().map(node).collect::<Vec<_>>(),
        "destinations": tree.destinations,
        "complete": !story.is_cut,
    })
}

fn node(node: &Node<'_>) -> Value {
    let mut out = Map::new();
    out.insert("kind".into(), node.kind.name().into());
    out.insert("label".into(), node.label.as_str().into());
    out.insert("location".into(), node.location.as_str().into());
    out.insert("reached".into(), node.reached.is_some().into());
    if let Some(reached) = &node.reached {
        let verdict = reached.verdict.map(|verdict| match verdict {
            Verdict::Passed => "passed",
            Verdict::Stopped => "stopped",
            Verdict::Skipped => "skipped",
        });
        out.insert("verdict".into(), verdict.into());
        out.insert("nanoseconds".into(), reached.took.map(|took| took.as_nanos() as u64).into());
        out.insert("events".into(), reached.events.iter().map(|event| happened(event)).collect());
        if let Some(fate) = &reached.fate {
            out.insert("queue".into(), self::fate(fate, reached.said.as_ref()));
        }
    }
    if !node.children.is_empty() {
        out.insert("steps".into(), node.children.iter().map(self::node).collect());
    }
    Value::Object(out)
}

fn fate(fate: &Fate, said: Option<&Said>) -> Value {
    let mut told = match fate {
        Fate::Delivered => json!({ "state": "delivered" }),
        Fate::Dropped(reason) => json!({ "state": "dropped", "reason": reason }),
        Fate::Unknown => json!({ "state": "unknown" }),
        Fate::Waits { messages, why } => json!({ "state": "waits", "messages": messages, "why": why }),
        Fate::Rehearsed => json!({ "state": "rehearsed" }),
    };
    if let (Some(told), Some(said)) = (told.as_object_mut(), said) {
        let detail = |detail: &Detail| match detail {
            Detail::Text(text) => Value::from(text.as_str()),
            Detail::Number(number) => Value::from(*number),
        };
        let place: Map<String, Value> =
            said.place.iter().map(|(name, one)| ((*name).to_owned(), detail(one))).collect();
        told.insert("place".into(), place.into());
        told.insert("microseconds".into(), (said.after.as_micros() as u64).into());
        if let Some(End::Dropped(_, why)) = &said.end {
            told.insert("why".into(), why.as_str().into());
        }
    }
    told
}

fn happened(event: &Happened) -> Value {
    match event {
        Happened::Judged { function, operands, holds } => {
            let operands: Map<String, Value> =
                operands.iter().map(|(name, operand)| ((*name).to_owned(), text(operand))).collect();
            json!({ "event": "condition", "function": function, "operands": operands, "holds": holds })
        }
        Happened::Changed { name, is_tag: true, after, .. } => {
            json!({ "event": "tag", "name": name, "set": after.is_some() })
        }
        Happened::Changed { name, before, after, kind, .. } => json!({
            "event": "value",
            "name": name,
            "type": format!("{kind:?}").to_lowercase(),
            "before": before.as_ref().map(text),
            "after": after.as_ref().map(text),
        }),
        Happened::Queued { driver, name, output, .. } => {
            json!({ "event": "output", "driver": driver, "name": name, "output": text(output) })
        }
        Happened::MadeOf(parts) => {
            json!({ "event": "made of", "messages": parts.iter().map(text).collect::<Vec<_>>() })
        }
        Happened::NotQueued { driver } => json!({ "event": "no output", "driver": driver }),
        Happened::Received(received) => json!({ "event": "received", "text": text(received) }),
        Happened::Is { tags, .. } => json!({ "event": "look", "tags": tags }),
        Happened::Begins => json!({ "event": "begins" }),
        Happened::Ends(_) => json!({ "event": "ends" }),
    }
}

/// Of bytes that are not UTF-8 the replacement character, and all of them as `hex`; `bytes` says how many
/// there were before the cut.
fn text(text: &Text) -> Value {
    match std::str::from_utf8(&text.kept) {
        Ok(kept) => json!({ "text": kept, "bytes": text.bytes }),
        Err(_) => {
            let hex: String = text.kept.iter().map(|byte| format!("{byte:02x}")).collect();
            json!({ "text": String::from_utf8_lossy(&text.kept), "hex": hex, "bytes": text.bytes })
        }
    }
}
