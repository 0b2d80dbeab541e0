//! Single messages explained while the program runs.

mod lines;

use super::balance;
use crate::explain::render;
use crate::explain::tree::{Fate, Fates};
use crate::program::{Daemon, Running};
use control::explain::ExplainRequest;
use control::ledger::Wait;
use control::{DropReason, Refusal, asker};
use engine::Receipt;
use engine::ledger::{DestinationCounters, REMAINS_MAX, Reason, Remain, Remains};
use engine::plan_map::{Counters, PlanMap, StepId};
use engine::watch::inquiry::{self, Asked, Happened, Story, Text};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// By then a batch is in the queues of its destinations.
const QUEUED: Duration = Duration::from_millis(20);
/// How long it may take to be delivered, for the answer to say so.
const DELIVERED_MAX: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(2);

/// Messages that are gone through at a time, and for how long, where dropped ones are looked for.
const SEARCHED: usize = 256;
const SEARCH: Duration = Duration::from_millis(200);
/// The same where it takes long until it is known that they are too large.
const LARGE: Duration = Duration::from_secs(3);

/// Waits for the messages, and tells what happened to them.
pub fn answer(program: &Daemon, request: &ExplainRequest) -> Result<String, Refusal> {
    let running = program.running();
    if let Some(name) = &request.source {
        is_known(&running, name)?;
    }
    let filter = request.filter.as_deref().map(|text| program.filter(text)).transpose()?;
    let asked = |count: usize| Asked {
        source: request.source.clone(),
        from: request.from.map(|from| from.to_canonical()),
        filter: filter.clone(),
        is_lost: request.is_lost,
        count,
        is_given_up: Some(asker::is_gone),
        ..Asked::default()
    };
    let (stories, fates) = match request.dropped {
        None => {
            let stories = inquiry::ask(asked(request.count), request.patience);
            let fates = fates(program, &stories, request.wait);
            (stories, fates)
        }
        Some(reason) => {
            let until = Instant::now() + request.patience;
            let (mut stories, mut all) = (Vec::new(), Fates::default());
            while stories.len() < request.count && Instant::now() < until && !asker::is_gone() {
                let window = if reason == DropReason::Oversized { LARGE } else { SEARCH };
                let patience = window.min(until.saturating_duration_since(Instant::now()));
                let some = inquiry::ask(asked(SEARCHED), patience);
                let fates = fates(program, &some, Duration::ZERO);
                stories.extend(some.into_iter().filter(|story| was_dropped(story, &fates, reason)));
                all.single.extend(fates.single);
                all.by_step.extend(fates.by_step);
                all.unqueued.extend(fates.unqueued);
            }
            stories.truncate(request.count);
            (stories, all)
        }
    };
    if stories.is_empty() {
        let what = match (request.is_lost, request.dropped) {
            (true, _) => "message without a destination".to_owned(),
            (_, Some(reason)) => format!("message that a destination drops for {}", reason.name()),
            _ => "message that fits".to_owned(),
        };
        let before = request.dropped.filter(|reason| has_dropped(&program.running(), *reason));
        let before = before.map_or_else(String::new, |reason| {
            format!("; `penstock tap --dropped {} --past` shows those of before", reason.name())
        });
        return Err(format!("no {what} came within {} s{before}", request.patience.as_secs()).into());
    }
    lines::count(
        stories.iter().flat_map(outputs).filter_map(|(_, output, receipt)| Some((output, receipt?))),
    );
    // The one that was in effect when they came, unless a reload came between.
    let map = &program.running().view.map;
    Ok(render(&stories, map, &fates, request.json, &program.running().veil))
}

/// Something was dropped for this reason.
fn has_dropped(running: &Running, reason: DropReason) -> bool {
    let of_reason = |counters: &DestinationCounters| {
        Reason::ALL
            .into_iter()
            .any(|known| balance::reason_of(known) == reason && counters.dropped.value(known) > 0)
    };
    running.view.destinations.iter().any(|(_, destination)| of_reason(destination.counters()))
}

/// A destination has dropped it for this reason.
fn was_dropped(story: &Story, fates: &Fates, reason: DropReason) -> bool {
    let is_it = |fate: Fate| matches!(fate, Fate::Dropped(name) if name == reason.name());
    outputs(story).any(|(id, output, receipt)| fates.of(id, output, receipt).is_some_and(is_it))
        || unqueued(story).any(|(id, received)| fates.of_unqueued(id, received).is_some_and(is_it))
}

/// Destinations that had nothing to write for it, with its text as it was received.
fn unqueued(story: &Story) -> impl Iterator<Item = (StepId, &Text)> {
    let received = story.told.iter().find_map(|told| match &told.what {
        Happened::Received(text) => Some(text),
        _ => None,
    });
    story.told.iter().filter_map(move |told| match (&told.step, &told.what) {
        (Some((id, _)), Happened::NotQueued { .. }) => Some((*id, received?)),
        _ => None,
    })
}

/// What was put into queues, at which step.
fn outputs(story: &Story) -> impl Iterator<Item = (StepId, &Text, Option<&Receipt>)> {
    story.told.iter().filter_map(|told| match (&told.step, &told.what) {
        (Some((id, _)), Happened::Queued { output, receipt, .. }) => Some((*id, output, receipt.as_ref())),
        _ => None,
    })
}

fn is_known(running: &Running, name: &str) -> Result<(), Refusal> {
    let sources = &running.view.sources;
    if sources.iter().any(|source| &*source.group == name || source.id == name) {
        return Ok(());
    }
    let ids: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
    Err(format!("there is no source `{name}`, there are {}", ids.join(", ")).into())
}

/// What has become of what was put into queues for the messages.
fn fates(program: &Daemon, stories: &[Story], wait: Duration) -> Fates {
    let map = &program.running().view.map;
    let counters: BTreeMap<StepId, Arc<DestinationCounters>> = stories
        .iter()
        .flat_map(outputs)
        .filter_map(|(id, ..)| match &map.entry(id)?.counters {
            Counters::Destination(counters) => Some((id, Arc::clone(counters))),
            _ => None,
        })
        .collect();
    std::thread::park_timeout(QUEUED);
    let until = Instant::now() + DELIVERED_MAX.max(wait);
    // What was there by now includes the messages; queues go in order.
    let targets: BTreeMap<StepId, u64> =
        counters.iter().map(|(id, counters)| (*id, counters.accepted.value())).collect();
    let is_settled = |id: &StepId| {
        let mut of_step = stories.iter().flat_map(outputs).filter(|(step, ..)| step == id);
        of_step.all(|(.., receipt)| receipt.is_some_and(Receipt::is_ended))
    };
    let fate = |id: &StepId, counters: &DestinationCounters| {
        let dealt_with = || counters.delivered.value() + counters.dropped.total();
        let target = targets.get(id).copied().unwrap_or_default();
        while dealt_with() < target && !is_settled(id) && Instant::now() < until {
            std::thread::park_timeout(LOOK);
        }
        match dealt_with() >= target {
            true => Fate::Delivered,
            false => {
                Fate::Waits { messages: counters.waiting.value(), why: why(program, map, *id, counters) }
            }
        }
    };
    let by_step = counters.iter().map(|(id, counters)| (*id, fate(id, counters))).collect();
    let mut single = HashMap::new();
    let of_all = stories.iter().flat_map(|story| outputs(story).map(move |one| (story, one)));
    for (story, (id, output, receipt)) in of_all {
        if receipt.is_some_and(Receipt::is_ended) {
            continue;
        }
        let fate = counters.get(&id).and_then(|counters| lost(&counters.remains, story, output));
        single.extend(fate.map(|fate| ((id, output.kept.clone()), fate)));
    }
    let unqueued = stories.iter().flat_map(|story| unqueued(story).map(move |one| (story, one)));
    let unqueued = unqueued.filter_map(|(story, (id, received))| {
        let Counters::Destination(counters) = &map.entry(id)?.counters else { return None };
        let fate = lost(&counters.remains, story, received).filter(|fate| *fate != Fate::Unknown)?;
        Some(((id, received.kept.clone()), fate))
    });
    Fates { by_step, single, unqueued: unqueued.collect() }
}

/// Whether a destination has dropped this output since the message came, as far as that is remembered.
fn lost(remains: &Remains, story: &Story, output: &Text) -> Option<Fate> {
    let came = story.came.map_or(UNIX_EPOCH, |at| {
        UNIX_EPOCH + Duration::new(at.secs.unsigned_abs(), at.usec.saturating_mul(1000))
    });
    let is_it = |remain: &Remain| remain.bytes == output.bytes && output.kept.starts_with(&remain.text);
    let mut is_over = false;
    for reason in Reason::ALL {
        let mut kept = remains.since(reason, 0);
        let all = kept.len();
        kept.retain(|remain| remain.at >= came);
        if kept.iter().any(is_it) {
            return Some(Fate::Dropped(balance::reason_of(reason).name()));
        }
        // All that is remembered is newer than the message.
        is_over |= all == REMAINS_MAX && kept.len() == all;
    }
    is_over.then_some(Fate::Unknown)
}

/// The sentence of the ledger about this destination. It says nothing of what waits for less than a few
/// seconds: then the last error, or that nothing is late.
fn why(program: &Daemon, map: &PlanMap, id: StepId, counters: &DestinationCounters) -> Option<String> {
    let label = map.entry(id)?.label();
    let name = label.strip_prefix("destination ")?;
    let said = program.observed().waits.iter().find(|wait| wait.destination == name).map(Wait::sentence);
    said.or_else(|| {
        let setback = counters.setbacks.last()?;
        let left = setback.next_try.and_then(|at| at.checked_duration_since(Instant::now()));
        let next = left.map_or_else(String::new, |left| format!("; next try in {} ms", left.as_millis()));
        Some(format!("the last try failed: {}{next}", setback.why))
    })
    .or_else(|| {
        let running = program.running();
        let (_, destination) = running.view.destinations.iter().find(|(id, _)| id == name)?;
        let standing: Vec<_> = destination.outlets().iter().map(|outlet| outlet.standing()).collect();
        let mut waiting = standing.iter().filter(|standing| standing.messages > 0).peekable();
        let is_well = waiting.peek().is_some() && waiting.all(|standing| standing.is_well);
        is_well.then(|| "it waits for the rest of a batch, for an answer or for its rate".to_owned())
    })
}
