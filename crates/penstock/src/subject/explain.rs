//! Single messages explained while the program runs.

use crate::explain::render;
use crate::explain::tree::{Fate, Fates};
use crate::program::{Daemon, Running};
use control::explain::ExplainRequest;
use engine::ledger::DestinationCounters;
use engine::plan_map::{Counters, PlanMap, StepId};
use engine::watch::inquiry::{self, Asked, Happened, Story};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// By then a batch is in the queues of its destinations.
const QUEUED: Duration = Duration::from_millis(20);
/// How long it may take to be delivered, for the answer to say so.
const DELIVERED_MAX: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(2);

/// Waits for the messages, and tells what happened to them.
pub fn answer(program: &Daemon, request: &ExplainRequest) -> Result<String, String> {
    let running = program.running();
    if let Some(name) = &request.source {
        is_known(&running, name)?;
    }
    let filter = request.filter.as_deref().map(|text| program.filter(text)).transpose()?;
    let asked = Asked {
        source: request.source.clone(),
        from: request.from.map(|from| from.to_canonical()),
        filter,
        is_lost: request.is_lost,
        count: request.count,
        looks: None,
    };
    let stories = inquiry::ask(asked, request.patience);
    if stories.is_empty() {
        let what = if request.is_lost { "message without a destination" } else { "message that fits" };
        return Err(format!("no {what} came within {} s", request.patience.as_secs()));
    }
    // The one that was in effect when they came, unless a reload came between.
    let map = &program.running().view.map;
    Ok(render(&stories, map, &fates(map, &stories), request.json))
}

fn is_known(running: &Running, name: &str) -> Result<(), String> {
    let sources = &running.view.sources;
    if sources.iter().any(|source| &*source.group == name || source.id == name) {
        return Ok(());
    }
    let ids: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
    Err(format!("there is no source `{name}`, there are {}", ids.join(", ")))
}

/// What has become of the queues that the messages were put into.
fn fates(map: &PlanMap, stories: &[Story]) -> Fates {
    let told = stories.iter().flat_map(|story| &story.told);
    let queued = told.filter(|told| matches!(told.what, Happened::Queued { .. }));
    let steps = queued.filter_map(|told| told.step.as_ref().map(|(id, _)| *id));
    let counters: BTreeMap<StepId, Arc<DestinationCounters>> = steps
        .filter_map(|id| match &map.entry(id)?.counters {
            Counters::Destination(counters) => Some((id, Arc::clone(counters))),
            _ => None,
        })
        .collect();
    std::thread::park_timeout(QUEUED);
    let until = Instant::now() + DELIVERED_MAX;
    // What was there by now includes the messages; queues go in order.
    let targets: BTreeMap<StepId, u64> =
        counters.iter().map(|(id, counters)| (*id, counters.accepted.value())).collect();
    let fate = |id: &StepId, counters: &DestinationCounters| {
        let dealt_with = || counters.delivered.value() + counters.dropped.total();
        let target = targets.get(id).copied().unwrap_or_default();
        while dealt_with() < target && Instant::now() < until {
            std::thread::park_timeout(LOOK);
        }
        if dealt_with() >= target { Fate::Delivered } else { Fate::Waits(counters.waiting.value()) }
    };
    counters.iter().map(|(id, counters)| (*id, fate(id, counters))).collect()
}
