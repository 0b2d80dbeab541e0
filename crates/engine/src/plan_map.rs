//! What each step of a compiled configuration is: its statement and place, what it stands in, what counts it.
//!
//! A step is one place of a log path, or of a source's own channel. It is the same step for all sources whose
//! messages come by; a filter statement that two log paths refer to makes two steps. Identities hold for one
//! plan: the next one has its own.

use crate::ledger::{DestinationCounters, PathCounters, StepCounters};
use crate::program::{Branch, Op, Step};
use crate::watch::{At, Kind, Statement};
use diag::Span;
use std::sync::Arc;

/// Which step of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(u32);

impl StepId {
    /// For whoever can keep a number only: [`PlanMap::numbered`].
    pub fn number(self) -> u32 {
        self.0
    }
}

/// All steps of a plan by their identity.
#[derive(Default)]
pub struct PlanMap {
    entries: Vec<Entry>,
}

/// What is known about a step.
pub struct Entry {
    pub id: StepId,
    pub kind: Kind,
    /// The statement it comes from; a branch of an `if` has none.
    pub statement: Option<Arc<Statement>>,
    /// Name of the statement where the configuration has one to refer to.
    pub name: Option<Arc<str>>,
    /// Where it stands in the configuration: the reference, for a statement elsewhere.
    pub span: Span,
    /// What it stands in. None for log paths, source drivers and the steps of source statements.
    pub parent: Option<StepId>,
    /// Which one it is of what stands there, from 0.
    pub index: usize,
    pub counters: Counters,
    /// Of FilterX, the block with its statements.
    pub block: Option<Arc<filterx::Block>>,
}

/// What counts the messages of a step.
#[derive(Clone, Default)]
pub enum Counters {
    /// Nothing: what comes in comes out, or it is counted elsewhere.
    #[default]
    Nothing,
    Path(Arc<PathCounters>),
    /// Those of the statement, wherever it stands.
    Statement(Arc<StepCounters>),
    Destination(Arc<DestinationCounters>),
}

/// Where messages come in: the step of a source driver, for whoever has no program.
#[derive(Clone, Debug)]
pub struct Entrance {
    pub id: StepId,
    pub statement: Arc<Statement>,
}

impl Entrance {
    /// How it is told.
    pub fn at(&self) -> At<'_> {
        At { id: self.id, statement: &self.statement }
    }
}

impl Entry {
    /// As a table of steps calls it: `filter f_name`, or the kind alone for one that has no name.
    pub fn label(&self) -> String {
        match (&self.name, &self.statement) {
            (Some(name), _) => format!("{} {name}", self.kind.name()),
            (None, Some(statement)) if matches!(self.kind, Kind::Destination | Kind::Source) => {
                format!("{} {}", self.kind.name(), statement.rule)
            }
            (None, Some(statement)) if self.kind == Kind::Rewrite && !statement.rule.starts_with('#') => {
                format!("rewrite {}", statement.rule)
            }
            (None, Some(statement)) if self.kind == Kind::LogPath => format!("log path {}", statement.rule),
            (None, _) if matches!(self.kind, Kind::Branch | Kind::Channel) => {
                format!("branch {}", self.index + 1)
            }
            (None, _) => self.kind.name().to_owned(),
        }
    }
}

impl PlanMap {
    pub fn entry(&self, id: StepId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)
    }

    /// The step whose identity has this number.
    pub fn numbered(&self, number: u32) -> Option<&Entry> {
        self.entry(StepId(number))
    }

    /// In the order of the text, what stands in something behind it.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// What stands in a step, in order.
    pub fn children(&self, parent: StepId) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.parent == Some(parent))
    }

    /// The step itself, what it stands in, what that stands in ...
    pub fn way_up(&self, id: StepId) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.entry(id), |entry| self.entry(entry.parent?))
    }

    /// Gives a source driver its identity.
    pub(crate) fn add_source(&mut self, statement: Arc<Statement>, span: Span) -> Entrance {
        let known = Arc::clone(&statement);
        let id = self.add(Entry { statement: Some(known), span, ..Entry::of(Kind::Source) });
        Entrance { id, statement }
    }

    /// Gives steps, and all in them, their identities.
    pub(crate) fn add_steps(&mut self, steps: &mut [Step], parent: Option<StepId>) {
        for (index, step) in steps.iter_mut().enumerate() {
            self.add_step(step, parent, index);
            let id = step.id;
            if let Op::Fork(branches) | Op::Join(branches) = &mut step.op {
                for (index, branch) in branches.list.iter_mut().enumerate() {
                    self.add_branch(branch, Some(id), index, step.span);
                }
            }
        }
    }

    /// Gives a branch, and all in it, their identities. `span` is where it stands.
    pub(crate) fn add_branch(
        &mut self,
        branch: &mut Branch,
        parent: Option<StepId>,
        index: usize,
        span: Span,
    ) {
        let counters = branch.counters.as_ref().map(|counters| Counters::Path(Arc::clone(counters)));
        let kind = branch.at.as_ref().map_or(Kind::Branch, |at| at.kind);
        branch.id = self.add(Entry {
            statement: branch.at.clone(),
            span,
            parent,
            index,
            counters: counters.unwrap_or_default(),
            ..Entry::of(kind)
        });
        self.add_steps(&mut branch.steps, Some(branch.id));
    }

    /// Gives a branch alone its identity: what is in it has one already.
    pub(crate) fn enter(&mut self, branch: &mut Branch, span: Span) {
        branch.id = self.add(Entry { statement: branch.at.clone(), span, ..Entry::of(Kind::Branch) });
    }

    /// Gives a step alone its identity: what is in it has one already.
    pub(crate) fn add_step(&mut self, step: &mut Step, parent: Option<StepId>, index: usize) {
        let (name, counters) = match &step.op {
            Op::Filter(filter) => (filter.name.clone(), Counters::Statement(Arc::clone(&filter.counters))),
            Op::Parse(parse) => (parse.name.clone(), Counters::Statement(Arc::clone(&parse.counters))),
            Op::FilterX(op) => (None, Counters::Statement(Arc::clone(&op.counters))),
            Op::Deliver(destination) => (None, Counters::Destination(Arc::clone(destination.counters()))),
            Op::Rewrite(_) | Op::Fork(_) | Op::Join(_) | Op::DeliverOrdered(_) => (None, Counters::Nothing),
        };
        let block = match &step.op {
            Op::FilterX(op) => Some(Arc::clone(&op.block)),
            _ => None,
        };
        let statement = Some(Arc::clone(&step.from));
        let (kind, span) = (step.from.kind, step.span);
        step.id =
            self.add(Entry { statement, name, span, parent, index, counters, block, ..Entry::of(kind) });
    }

    fn add(&mut self, entry: Entry) -> StepId {
        let id = StepId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.entries.push(Entry { id, ..entry });
        id
    }
}

impl Entry {
    fn of(kind: Kind) -> Entry {
        Entry {
            id: StepId::default(),
            kind,
            statement: None,
            name: None,
            span: Span::default(),
            parent: None,
            index: 0,
            counters: Counters::Nothing,
            block: None,
        }
    }
}

#[cfg(test)]
mod tests;
