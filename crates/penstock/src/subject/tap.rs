//! The last messages that destinations dropped, for whoever asks what they were.

use control::DropReason;
use control::tap::TapRequest;
use engine::View;
use engine::ledger::{Reason, Remain, Remains};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub fn answer(view: &View, request: &TapRequest) -> Result<String, String> {
    let is_asked =
        |reason: &Reason| request.reason.is_none_or(|asked| asked.name() == reason.name().replace('_', "-"));
    let reasons: Vec<Reason> = Remains::REASONS.into_iter().filter(is_asked).collect();
    if reasons.is_empty() {
        return Err(nothing_kept(request.reason));
    }
    let is_meant = |id: &str| {
        request.destination.as_ref().is_none_or(|name| id == name || id.split('#').next() == Some(name))
    };
    let meant: Vec<_> = view.destinations.iter().filter(|(id, _)| is_meant(id)).collect();
    if meant.is_empty() {
        let ids: Vec<&str> = view.destinations.iter().map(|(id, _)| id.as_str()).collect();
        let name = request.destination.as_deref().unwrap_or_default();
        return Err(format!("there is no destination `{name}`, there are {}", ids.join(", ")));
    }
    let mut messages = Vec::new();
    for (id, destination) in meant {
        for reason in &reasons {
            let kept = destination.counters().remains.since(*reason, 0);
            messages.extend(kept.into_iter().map(|remain| (remain.at, one(id, *reason, &remain))));
        }
    }
    messages.sort_by_key(|(at, _)| *at);
    let messages: Vec<Value> = messages.into_iter().map(|(_, message)| message).collect();
    Ok(json!({ "version": VERSION, "messages": messages }).to_string())
}

fn one(destination: &str, reason: Reason, remain: &Remain) -> Value {
    let since = remain.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({
        "destination": destination,
        "reason": reason.name().replace('_', "-"),
        "number": remain.number,
        "time": since.as_millis() as u64,
        "text": String::from_utf8_lossy(&remain.text),
        "bytes": remain.bytes,
    })
}

fn nothing_kept(reason: Option<DropReason>) -> String {
    let name = reason.map_or("", DropReason::name);
    match reason {
        Some(DropReason::Kernel | DropReason::NoCredit) => {
            format!("messages dropped for `{name}` are lost before they are read: nothing of them is known")
        }
        _ => format!("nothing is kept of messages dropped for `{name}`: only for queue-full and refused"),
    }
}
