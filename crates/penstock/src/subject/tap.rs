//! The last messages that destinations and sources dropped, for whoever asks what they were.

use super::balance::{Account, reason_of};
use super::secrets::Veil;
use crate::program::Daemon;
use control::tap::TapRequest;
use control::{DropReason, Refusal};
use engine::ledger::{Reason, Remain, Remains};
use serde_json::{Value, json};
use std::time::UNIX_EPOCH;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

/// Where messages are dropped.
struct Dropping {
    name: String,
    account: Account,
    /// A reload has removed it.
    is_removed: bool,
}

pub fn answer(program: &Daemon, request: &TapRequest) -> Result<String, Refusal> {
    if let Some(reason @ (DropReason::Kernel | DropReason::NoCredit)) = request.reason {
        return Err(format!(
            "messages dropped for `{}` are lost before they are read: nothing of them is known",
            reason.name()
        )
        .into());
    }
    let (mut messages, running) = (Vec::new(), program.running());
    let veil = &running.veil;
    for place in places(program, request)? {
        let Some(remains) = remains(&place.account) else { continue };
        for reason in Reason::ALL {
            if request.reason.is_none_or(|asked| asked == reason_of(reason)) {
                let kept = remains.since(reason, 0).into_iter();
                messages.extend(kept.map(|remain| (remain.at, one(&place, reason, &remain, veil))));
            }
        }
    }
    messages.sort_by_key(|(at, _)| *at);
    let messages: Vec<Value> = messages.into_iter().map(|(_, message)| message).collect();
    Ok(json!({ "version": VERSION, "messages": messages }).to_string())
}

/// Those that are asked for: of the configuration in effect, and of those before it.
fn places(program: &Daemon, request: &TapRequest) -> Result<Vec<Dropping>, Refusal> {
    let view = &program.running().view;
    let sources = view.sources.iter().map(|source| {
        let account = Account::Source(source.counters.clone());
        Dropping { name: source.id.clone(), account, is_removed: false }
    });
    let destinations = view.destinations.iter().map(|(id, destination)| {
        let account = Account::Destination(destination.counters().clone());
        Dropping { name: id.clone(), account, is_removed: false }
    });
    let mut all: Vec<Dropping> = sources.chain(destinations).collect();
    for (name, account) in program.history.removed() {
        if !all.iter().any(|place| place.account.is(&account)) {
            all.push(Dropping { name, account, is_removed: true });
        }
    }
    let asked = match (&request.destination, &request.source) {
        (Some(name), _) => Some((name, false)),
        (None, Some(name)) => Some((name, true)),
        (None, None) => None,
    };
    let Some((name, of_source)) = asked else { return Ok(all) };
    let is_of_kind = |place: &Dropping| matches!(place.account, Account::Source(_)) == of_source;
    let of_kind: Vec<Dropping> = all.into_iter().filter(is_of_kind).collect();
    let is_meant = |id: &str| id == name || id.split('#').next() == Some(name);
    if !of_kind.iter().any(|place| is_meant(&place.name)) {
        let ids: Vec<&str> =
            of_kind.iter().filter(|place| !place.is_removed).map(|place| place.name.as_str()).collect();
        let kind = if of_source { "source" } else { "destination" };
        return Err(format!("there is no {kind} `{name}`, there are {}", ids.join(", ")).into());
    }
    Ok(of_kind.into_iter().filter(|place| is_meant(&place.name)).collect())
}

fn remains(account: &Account) -> Option<&Remains> {
    match account {
        Account::Source(counters) => Some(&counters.remains),
        Account::Destination(counters) | Account::Gone(counters) => Some(&counters.remains),
        _ => None,
    }
}

fn one(place: &Dropping, reason: Reason, remain: &Remain, veil: &Veil) -> Value {
    let text = veil.over_bytes(&remain.text, remain.text.len() < remain.bytes);
    let since = remain.at.duration_since(UNIX_EPOCH).unwrap_or_default();
    let of_source = matches!(place.account, Account::Source(_));
    let mut message = json!({
        "destination": (!of_source).then_some(&place.name),
        "source": of_source.then_some(&place.name),
        "removed": place.is_removed,
        "reason": reason_of(reason).name(),
        "account": remain.account,
        "number": remain.number,
        "time": since.as_millis() as u64,
        "text": String::from_utf8_lossy(&text),
        "kept": remain.text.len(),
        "bytes": remain.bytes,
    });
    if std::str::from_utf8(&text).is_err() {
        let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
        message["hex"] = hex.into();
    }
    message
}
