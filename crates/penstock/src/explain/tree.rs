//! What happened to a message, laid over the steps of the plan: what each step came to, and what was not
//! reached.

use crate::subject::balance::reason_of;
use engine::plan_map::{Entry, PlanMap, StepId};
use engine::watch::inquiry::{Happened, Story, Text, Told};
use engine::watch::{Kind, Verdict};
use engine::{End, Receipt, Said};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

/// What is known of the queue of a destination that got a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Everything that was in it then was delivered.
    Delivered,
    /// The destination has dropped the message, for this reason.
    Dropped(&'static str),
    /// Everything that was in it then was delivered or dropped, and more was dropped than is remembered: the
    /// message may be one of them.
    Unknown,
    /// So many messages wait there.
    Waits { messages: u64, why: Option<String> },
    /// Nothing was sent.
    Rehearsed,
}

/// What has become of the outputs of messages.
#[derive(Default)]
pub struct Fates {
    /// Of all that a destination got, by its step.
    pub by_step: BTreeMap<StepId, Fate>,
    /// Of single outputs, where it is another one.
    pub single: HashMap<(StepId, Vec<u8>), Fate>,
    /// Of messages that a destination did not even put into its queue, by their texts as they were received.
    pub unqueued: HashMap<(StepId, Vec<u8>), Fate>,
}

impl Fates {
    pub fn of(&self, step: StepId, output: &Text, receipt: Option<&Receipt>) -> Option<Fate> {
        match receipt.and_then(Receipt::said).and_then(|said| said.end) {
            Some(End::Delivered) => return Some(Fate::Delivered),
            Some(End::Dropped(reason, _)) => return Some(Fate::Dropped(reason_of(reason).name())),
            None => {}
        }
        self.single.get(&(step, output.kept.clone())).or_else(|| self.by_step.get(&step)).cloned()
    }

    /// Of a message that came in with this text, and that the destination has nothing to write for.
    pub fn of_unqueued(&self, step: StepId, received: &Text) -> Option<Fate> {
        self.unqueued.get(&(step, received.kept.clone())).cloned()
    }
}

/// A message, ready to be shown.
pub struct Tree<'a> {
    /// As it came in.
    pub received: Option<&'a Text>,
    /// What its source read in it.
    pub values: Vec<&'a Happened>,
    pub roots: Vec<Node<'a>>,
    /// Statements of the destinations that got it, and did not drop it.
    pub destinations: Vec<String>,
}

/// A step of the plan.
pub struct Node<'a> {
    pub kind: Kind,
    /// `filter f_ssh`
    pub label: String,
    /// `file:line:column`
    pub location: String,
    /// None: the message did not come to it.
    pub reached: Option<Reached<'a>>,
    pub children: Vec<Node<'a>>,
}

#[derive(Default)]
pub struct Reached<'a> {
    pub verdict: Option<Verdict>,
    /// What the step took; of steps that others stand in, nothing is known.
    pub took: Option<Duration>,
    /// Conditions, changes and outputs, in order.
    pub events: Vec<&'a Happened>,
    pub fate: Option<Fate>,
    /// What the destination says of it.
    pub said: Option<Said>,
}

/// Lays a story over its plan.
pub fn of<'a>(story: &'a Story, map: &PlanMap, fates: &Fates) -> Tree<'a> {
    let (steps, mut tree) = by_step(story, fates);
    // A plan that took effect meanwhile has other steps under the same numbers.
    let is_same = steps.iter().all(|(id, step)| {
        map.entry(*id).is_some_and(|entry| entry.statement.as_deref().is_none_or(|s| *s == step.statement))
    });
    let reached: HashSet<StepId> = match is_same {
        true => steps.keys().flat_map(|id| map.way_up(*id)).map(|entry| entry.id).collect(),
        false => HashSet::new(),
    };
    let mut order: Vec<StepId> = Vec::new();
    for (id, _) in story.told.iter().filter_map(|told| told.step.as_ref()) {
        let root = map.way_up(*id).last().filter(|_| is_same).map_or(*id, |entry| entry.id);
        if !order.contains(&root) {
            order.push(root);
        }
    }
    let layout = Layout { map, steps: &steps, reached: &reached, fates, received: tree.received };
    tree.roots = order.into_iter().filter_map(|id| layout.node(id, is_same)).collect();
    tree
}

/// What happened at one step.
struct At<'a> {
    statement: engine::watch::Statement,
    began: Option<Duration>,
    took: Option<Duration>,
    verdict: Option<Verdict>,
    events: Vec<&'a Happened>,
}

/// Sorts what happened by the step at which it did.
fn by_step<'a>(story: &'a Story, fates: &Fates) -> (HashMap<StepId, At<'a>>, Tree<'a>) {
    let mut tree = Tree { received: None, values: Vec::new(), roots: Vec::new(), destinations: Vec::new() };
    let mut steps: HashMap<StepId, At<'_>> = HashMap::new();
    // The step that changes belong to.
    let mut current = None;
    for Told { after, step, what } in &story.told {
        if let Some((id, statement)) = step {
            let at = steps.entry(*id).or_insert_with(|| At {
                statement: statement.clone(),
                began: None,
                took: None,
                verdict: None,
                events: Vec::new(),
            });
            match what {
                Happened::Begins => (at.began, current) = (Some(*after), Some(*id)),
                Happened::Ends(verdict) => {
                    at.verdict = Some(*verdict);
                    at.took = at.began.map(|began| after.saturating_sub(began));
                    current = None;
                }
                what => at.events.push(what),
            }
            if let Happened::Queued { output, receipt, .. } = what
                && !matches!(fates.of(*id, output, receipt.as_ref()), Some(Fate::Dropped(_)))
                && !tree.destinations.contains(&statement.rule)
            {
                tree.destinations.push(statement.rule.clone());
            }
            continue;
        }
        match (what, current.and_then(|id| steps.get_mut(&id))) {
            (Happened::Received(text), _) => tree.received = tree.received.or(Some(text)),
            (what, Some(at)) => at.events.push(what),
            (what, None) => tree.values.push(what),
        }
    }
    (steps, tree)
}

struct Layout<'m, 'a> {
    map: &'m PlanMap,
    steps: &'m HashMap<StepId, At<'a>>,
    reached: &'m HashSet<StepId>,
    fates: &'m Fates,
    received: Option<&'a Text>,
}

impl<'a> Layout<'_, 'a> {
    fn node(&self, id: StepId, knows_plan: bool) -> Option<Node<'a>> {
        if !knows_plan {
            let at = self.steps.get(&id)?;
            let label = format!("{} {}", at.statement.kind.name(), at.statement.rule);
            return Some(self.shown(id, at.statement.kind, label, Vec::new()));
        }
        let entry = self.map.entry(id)?;
        if !self.reached.contains(&id) {
            return Some(Node {
                kind: entry.kind,
                label: label(entry),
                location: location(entry),
                reached: None,
                children: Vec::new(),
            });
        }
        let children = self.map.children(id).filter_map(|child| self.node(child.id, true)).collect();
        Some(self.shown(id, entry.kind, label(entry), children))
    }

    fn fate(&self, id: StepId, events: &[&Happened]) -> Option<Fate> {
        let mut outputs = events.iter().filter_map(|event| match event {
            Happened::Queued { output, receipt, .. } => Some((output, receipt.as_ref())),
            _ => None,
        });
        let unqueued = || {
            let is_it = events.iter().any(|event| matches!(event, Happened::NotQueued { .. }));
            self.fates.of_unqueued(id, self.received.filter(|_| is_it)?)
        };
        outputs.find_map(|(output, receipt)| self.fates.of(id, output, receipt)).or_else(unqueued)
    }

    fn shown(&self, id: StepId, kind: Kind, label: String, children: Vec<Node<'a>>) -> Node<'a> {
        let at = self.steps.get(&id);
        let is_leaf = matches!(kind, Kind::Filter | Kind::Rewrite | Kind::Parser | Kind::FilterX);
        let reached = Reached {
            verdict: at.and_then(|at| at.verdict),
            took: at.and_then(|at| at.took).filter(|_| is_leaf),
            events: at.map(|at| at.events.clone()).unwrap_or_default(),
            fate: at.and_then(|at| self.fate(id, &at.events)),
            said: at.and_then(|at| said(&at.events)),
        };
        let location = match (at, self.map.entry(id)) {
            (Some(at), _) => at.statement.location.clone(),
            (None, entry) => entry.map(location).unwrap_or_default(),
        };
        Node { kind, label, location, reached: Some(reached), children }
    }
}

/// What a destination says of the first output of a step of which it says something.
fn said(events: &[&Happened]) -> Option<Said> {
    events.iter().find_map(|event| match event {
        Happened::Queued { receipt: Some(receipt), .. } => receipt.said(),
        _ => None,
    })
}

/// As a person would call the step.
fn label(entry: &Entry) -> String {
    match (entry.kind, &entry.statement) {
        // `if`, `junction`, `channel`
        (Kind::Fork | Kind::Join, Some(statement)) => statement.rule.clone(),
        _ => entry.label(),
    }
}

fn location(entry: &Entry) -> String {
    entry.statement.as_ref().map(|statement| statement.location.clone()).unwrap_or_default()
}
