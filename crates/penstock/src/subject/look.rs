//! Messages that come by a place of the running program, looked at in passing.

use super::secrets::Veil;
use crate::program::Daemon;
use control::look::LookRequest;
use control::{Refusal, asker};
use engine::View;
use engine::plan_map::{Entry, PlanMap, StepId};
use engine::program::{Branch, Op, Step};
use engine::watch::Kind;
use engine::watch::inquiry::{self, Asked, Happened, Story, TEXT_BYTES_MAX};
use engine::watch::looks::{Looks, Places};
use record::Peer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use template::{NoScope, Template, TemplateOptions};

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;
/// How a message is shown that is not written anywhere yet.
const SHOWN: &str = "$ISODATE $HOST $MSGHDR$MSG";
/// Places that are named where none has the name.
const NAMED_MAX: usize = 30;

pub fn answer(program: &Daemon, request: &LookRequest) -> Result<String, Refusal> {
    let running = program.running();
    let steps = places(&running.view.map, &request.place)?;
    let filter = request.filter.as_deref().map(|text| program.filter(text)).transpose()?;
    let text = request.template.as_deref().unwrap_or(SHOWN);
    let template = Template::compile(text, &TemplateOptions::default(), &NoScope);
    let template = template.map_err(|error| format!("the template: {error}"))?;
    let looks = Looks {
        templates: vec![Arc::new(template)],
        places: Places::Steps(steps.clone()),
        filter,
        bytes_max: TEXT_BYTES_MAX,
    };
    let asked = Asked {
        count: request.count,
        reaching: reaching(&running.view, &steps),
        looks: Some(looks),
        is_given_up: Some(asker::is_gone),
        ..Asked::default()
    };
    let stories = inquiry::ask(asked, request.patience);
    let shown =
        stories.iter().filter_map(|story| one(story, &steps, request.template.is_none(), &running.veil));
    Ok(json!({ "version": VERSION, "messages": shown.collect::<Vec<Value>>() }).to_string())
}

/// The steps that a name stands for.
fn places(map: &PlanMap, place: &str) -> Result<BTreeSet<StepId>, Refusal> {
    let found: BTreeSet<StepId> =
        map.entries().filter(|entry| is_place(entry) && fits(entry, place)).map(|entry| entry.id).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let mut names: Vec<String> = map.entries().filter(|entry| is_place(entry)).map(Entry::label).collect();
    names.sort_unstable();
    names.dedup();
    let more = if names.len() > NAMED_MAX { " ..." } else { "" };
    names.truncate(NAMED_MAX);
    Err(format!(
        "there is no source, path, step or destination `{place}`; there are: {}{more}",
        names.join(", ")
    )
    .into())
}

/// The sources whose messages may come to one of the steps. None where it is not known of a step.
fn reaching(view: &View, steps: &BTreeSet<StepId>) -> Option<BTreeSet<String>> {
    let (mut sources, mut found) = (BTreeSet::new(), BTreeSet::new());
    for source in &view.sources {
        let settings = source.settings();
        let program = &settings.program;
        let mut way: BTreeSet<StepId> = settings.at.iter().map(|at| at.id).collect();
        steps_of(&program.source_steps, &mut way);
        branches_of(&program.branches.list, &mut way);
        let here: BTreeSet<StepId> = way.intersection(steps).copied().collect();
        if !here.is_empty() {
            sources.insert(source.id.clone());
        }
        found.extend(here);
    }
    (found == *steps).then_some(sources)
}

fn branches_of(branches: &[Branch], way: &mut BTreeSet<StepId>) {
    for branch in branches {
        way.insert(branch.id);
        steps_of(&branch.steps, way);
    }
}

fn steps_of(steps: &[Step], way: &mut BTreeSet<StepId>) {
    for step in steps {
        way.insert(step.id);
        if let Op::Fork(inner) | Op::Join(inner) = &step.op {
            branches_of(&inner.list, way);
        }
    }
}

/// Messages are shown there.
fn is_place(entry: &Entry) -> bool {
    !matches!(entry.kind, Kind::Fork | Kind::Join | Kind::Branch | Kind::Channel)
}

/// `s_net`, `s_net#0`, `filter f_ssh`, `f_ssh`, `relay.conf:12`.
fn fits(entry: &Entry, place: &str) -> bool {
    let label = entry.label();
    let name = label.split_once(' ').map_or("", |(_, name)| name);
    let group = name.rsplit_once('#').map_or(name, |(group, _)| group);
    let line = entry.statement.as_ref().and_then(|statement| statement.location.rsplit_once(':'));
    let is_line = line.is_some_and(|(line, _)| {
        line.strip_suffix(place).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
    });
    [label.as_str(), name, group].contains(&place) || is_line
}

/// A message where it was looked at first; at a destination what is written, unless a template was asked for.
fn one(story: &Story, steps: &BTreeSet<StepId>, with_output: bool, veil: &Veil) -> Option<Value> {
    let mut at_place = story.told.iter().filter_map(|told| {
        let (id, statement) = told.step.as_ref()?;
        steps.contains(id).then_some((statement, &told.what))
    });
    let (statement, texts, tags) = at_place.clone().find_map(|(statement, what)| match what {
        Happened::Is { texts, tags } => Some((statement, texts, tags)),
        _ => None,
    })?;
    let output = at_place.find_map(|(_, what)| match what {
        Happened::Queued { output, .. } if with_output => Some(output.kept.as_slice()),
        _ => None,
    });
    let text = output.or(texts.first().map(Vec::as_slice)).unwrap_or_default();
    let text = veil.over_bytes(text, text.len() >= TEXT_BYTES_MAX);
    let peer = match &story.peer {
        Peer::Inet { remote, .. } => Value::from(remote.to_string()),
        Peer::Local => Value::Null,
    };
    Some(json!({
        "version": VERSION,
        "time": story.came.map(|at| at.secs.saturating_mul(1_000_000).saturating_add(i64::from(at.usec))),
        "source": story.source,
        "peer": peer,
        "step": statement.rule,
        "location": statement.location,
        "text": String::from_utf8_lossy(&text),
        "tags": tags,
    }))
}
