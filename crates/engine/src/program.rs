//! A compiled configuration's log paths: what a worker runs on a batch. Immutable, shared by all workers.

mod calls;
mod gates;
mod leads;
mod ops;
pub(crate) mod spoils;

pub use ops::{FilterOp, FilterXOp, ParseOp, Row};

use crate::driver::Destination;
use crate::lane::Turn;
use crate::ledger::{PathCounters, StepCounters};
use crate::outbox::Outbox;
use crate::plan_map::StepId;
use crate::turns::PLACES_MAX;
use crate::watch::{At, Statement};
use diag::Span;
use filter::{Called, Filter, FilterContext, FilterSet, Wanted};
use parsers::Gate;
use parsers::correlation::State;
use record::{Batch, Demand, Stamp};
use rewrite::Rewrite;
use std::sync::Arc;
use template::RenderContext;

/// Per-worker caches and buffers of everything a path may run.
pub struct Scratch {
    pub filter: FilterContext,
    /// The place of the batch in work among those of its connection, where several workers have some.
    pub turn: Option<Turn>,
    wanted: Option<Arc<Wanted>>,
}

impl Scratch {
    pub fn new(identity: template::Identity) -> Scratch {
        Scratch { filter: FilterContext::new(identity), turn: None, wanted: None }
    }

    /// Takes the current time for all messages of the next batch.
    pub fn begin_batch(&mut self, now: Stamp) {
        self.filter.render.begin_batch(now);
    }

    /// Takes over what a program wants stored, and what it calls this machine. Cheap when it is the one of
    /// the last batch.
    pub fn prepare(&mut self, program: &Program) {
        if !self.wanted.as_ref().is_some_and(|w| Arc::ptr_eq(w, &program.wanted)) {
            self.filter.work.wanted = (*program.wanted).clone();
            self.wanted = Some(Arc::clone(&program.wanted));
            if let Some(loghost) = &program.loghost {
                self.filter.render.identity.loghost = Arc::clone(loghost);
            }
        }
    }

    pub fn render(&mut self) -> &mut RenderContext {
        &mut self.filter.render
    }
}

/// A destination statement's driver: formats on the worker that ran the path, in parallel.
pub trait Format: Send + Sync {
    /// Appends the selected messages to the buffers of its outlets, in the order of the selection.
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox);

    /// What it would write for one message, and where to. Nothing is taken; it need not be started.
    fn preview(&self, batch: &mut Batch, index: u32, scratch: &mut Scratch) -> Vec<(String, Vec<u8>)>;

    /// Adds what formatting looks at: of nothing else do parsers keep anything.
    fn reads(&self, demand: &mut Demand);
}

/// One step of a log path, or of a source's own channel.
#[derive(Clone)]
pub struct Step {
    /// Which one it is of the plan's steps: the plan's map knows the rest.
    pub id: StepId,
    /// The statement it comes from.
    pub from: Arc<Statement>,
    /// Where it stands: the reference, for a statement elsewhere.
    pub span: Span,
    pub op: Op,
    /// Calls of Python functions whose results it reads: made for all its messages beforehand.
    #[cfg(feature = "python")]
    pub calls: Vec<Arc<template::Prepare>>,
}

/// What a step does.
#[derive(Clone)]
pub enum Op {
    Filter(FilterOp),
    Rewrite(Arc<Rewrite>),
    Parse(ParseOp),
    FilterX(FilterXOp),
    /// Embedded `log {}`: each branch sees the message as it is here; nothing a branch does is seen after it.
    Fork(Branches),
    /// `junction {}`, `if {}`: branches whose results go on together.
    Join(Branches),
    Deliver(Arc<dyn Destination>),
    /// A destination that several paths of one source reach: delivered at the end of the batch, in the order
    /// of the messages.
    DeliverOrdered(usize),
}

impl Step {
    /// One whose identity is still to come.
    pub fn new(op: Op, from: Arc<Statement>, span: Span) -> Step {
        Step {
            id: StepId::default(),
            from,
            span,
            op,
            #[cfg(feature = "python")]
            calls: Vec::new(),
        }
    }

    /// How it is told.
    pub fn at(&self) -> At<'_> {
        At { id: self.id, statement: &self.from }
    }

    /// Has something to do when no message comes: contexts whose time is over.
    pub fn is_stateful(&self) -> bool {
        match &self.op {
            Op::Parse(parse) => parse.parser.state().is_some(),
            Op::Fork(branches) | Op::Join(branches) => branches.is_stateful(),
            _ => false,
        }
    }

    /// May change a message.
    pub fn writes(&self) -> bool {
        match &self.op {
            Op::Filter(filter) => filter.writes,
            Op::Rewrite(_) | Op::Parse(_) | Op::FilterX(_) => true,
            Op::Fork(branches) | Op::Join(branches) => branches.writes(),
            Op::Deliver(_) | Op::DeliverOrdered(_) => false,
        }
    }

    /// Adds what the step looks at. Destinations of [`Op::DeliverOrdered`] are the program's to ask.
    pub fn reads(&self, demand: &mut Demand) {
        match &self.op {
            Op::Filter(filter) => filter.filter.reads(demand),
            Op::Rewrite(rewrite) => rewrite.reads(demand),
            Op::Parse(parse) => parse.parser.reads(demand),
            Op::FilterX(op) => op.block.reads(demand),
            Op::Fork(branches) | Op::Join(branches) => branches.reads(demand),
            Op::Deliver(destination) => destination.reads(demand),
            Op::DeliverOrdered(_) => {}
        }
    }
}

impl Program {
    /// Works out what is read; once, when the program is complete. With `everything`, parsers make also what
    /// nobody reads.
    pub fn analyse(&mut self, everything: bool) {
        let mut demand = Demand { everything, ..Demand::default() };
        self.source_steps.iter().for_each(|step| step.reads(&mut demand));
        self.branches.reads(&mut demand);
        self.ordered.iter().for_each(|ordered| ordered.destination.reads(&mut demand));
        self.wanted = Arc::new(Wanted::of(&demand));
        #[cfg(feature = "python")]
        self.find_calls();
        narrow(&mut self.source_steps, &demand);
        narrow_branches(&mut self.branches, &demand);
        self.demand = demand;
        self.gates = self.find_gates();
        self.states.clear();
        number(&mut self.source_steps, &mut self.states);
        number_branches(&mut self.branches, &mut self.states);
        if self.states.len() > PLACES_MAX {
            self.share_max = Some(0);
        }
    }

    /// Some parser keeps messages: it is run once a second even when none come.
    pub fn is_stateful(&self) -> bool {
        !self.states.is_empty()
    }

    /// Contexts whose time is over were left open by the last batch or tick: another tick has more of them.
    pub fn is_behind(&self) -> bool {
        self.states.iter().any(|state| state.is_behind())
    }
}

/// Numbers the parsers with contexts by their place among all of them.
fn number(steps: &mut [Step], states: &mut Vec<Arc<dyn State>>) {
    for step in steps {
        match &mut step.op {
            Op::Parse(parse) => {
                if let Some(state) = parse.parser.state() {
                    parse.place = Some(states.len());
                    states.push(state);
                }
            }
            Op::Fork(branches) | Op::Join(branches) => number_branches(branches, states),
            _ => {}
        }
    }
}

fn number_branches(branches: &mut Branches, states: &mut Vec<Arc<dyn State>>) {
    branches.list.iter_mut().for_each(|branch| number(&mut branch.steps, states));
}

/// Parsers make only the values that are read.
fn narrow(steps: &mut [Step], demand: &Demand) {
    for step in steps {
        match &mut step.op {
            Op::Parse(parse) => {
                if let Some(narrowed) = parse.parser.narrowed(demand) {
                    let all = std::mem::replace(&mut parse.parser, narrowed);
                    // One with contexts has them once.
                    parse.wide = parse.parser.state().is_none().then_some(all);
                }
            }
            Op::Fork(branches) | Op::Join(branches) => narrow_branches(branches, demand),
            _ => {}
        }
    }
}

fn narrow_branches(branches: &mut Branches, demand: &Demand) {
    branches.list.iter_mut().for_each(|branch| narrow(&mut branch.steps, demand));
}

#[derive(Clone)]
pub struct Branch {
    /// Which one it is of the plan's steps.
    pub id: StepId,
    pub steps: Vec<Step>,
    /// What matched here is not shown to later branches.
    pub is_final: bool,
    /// Only for what no other branch matched.
    pub fallback: bool,
    /// `if (condition)`: the first step alone decides that a message belongs here. One that fails later goes
    /// to no other branch.
    pub claims: bool,
    /// `Some` where flags(flow-control) or flags(no-flow-control) stand.
    pub flow_control: Option<bool>,
    /// Contains a rewrite, a parser, or a filter that stores its matches.
    pub writes: bool,
    /// A message may fail in it when something of it was changed.
    pub spoils: bool,
    pub counters: Option<Arc<PathCounters>>,
    /// Of log paths and channels.
    pub at: Option<Arc<Statement>>,
}

impl Branch {
    /// How it is told, where it is a statement of its own.
    pub fn at(&self) -> Option<At<'_>> {
        Some(At { id: self.id, statement: self.at.as_deref()? })
    }
    pub fn is_stateful(&self) -> bool {
        self.steps.iter().any(Step::is_stateful)
    }
}

/// Sibling branches, with what is known of them together.
#[derive(Clone, Default)]
pub struct Branches {
    pub list: Vec<Branch>,
    /// What branches begin with, asked in one pass, in the order of the branches.
    pub shared: Vec<Arc<SharedFilters>>,
    /// What some branch took and what none did, where the ledger shows it.
    pub counters: Option<Arc<StepCounters>>,
    /// Channels of a destination decide for it alone: behind the fork messages go on that none of them took.
    pub all_go_on: bool,
}

/// The filters at the head of up to 64 sibling branches, or those of what stands there, evaluated together.
pub struct SharedFilters {
    /// Index of the first branch they belong to: evaluated when it is reached, on the messages that are left.
    pub first: usize,
    pub set: FilterSet,
    /// Branch of each filter of the set, ascending.
    pub owners: Vec<usize>,
    /// Different calls that filters of the set count.
    pub counted: Vec<Arc<Called>>,
    /// By filter, which of them.
    pub counts: Vec<Option<usize>>,
}

impl SharedFilters {
    fn new(filters: &[Arc<Filter>], owners: Vec<usize>) -> Option<SharedFilters> {
        let (set, first) = (FilterSet::compile(filters)?, owners.first().copied()?);
        let mut counted: Vec<Arc<Called>> = Vec::new();
        let mut place = |called: &Arc<Called>| {
            let known = counted.iter().position(|known| known.is_same(called));
            known.unwrap_or_else(|| {
                counted.push(Arc::clone(called));
                counted.len() - 1
            })
        };
        let counts = filters.iter().map(|filter| filter.counted_call().map(&mut place)).collect();
        Some(SharedFilters { first, set, owners, counted, counts })
    }
}

/// Fewer filters than this are asked one by one.
const SHARED_MIN: usize = 3;

impl Branches {
    pub fn new(list: Vec<Branch>) -> Branches {
        let leads = list.iter().enumerate().filter(|(_, branch)| !branch.fallback);
        let heads: Vec<(usize, Arc<Filter>)> =
            leads.filter_map(|(at, branch)| Some((at, leads::of(&branch.steps)?))).collect();
        let (mut shared, mut from) = (Vec::new(), 0);
        if heads.len() >= SHARED_MIN {
            let filters: Vec<Arc<Filter>> = heads.iter().map(|(_, f)| Arc::clone(f)).collect();
            while from < heads.len() {
                let count = FilterSet::fitting(&filters[from..]).max(1);
                let filters = &filters[from..from + count];
                let owners: Vec<usize> = heads[from..from + count].iter().map(|(at, _)| *at).collect();
                from += count;
                shared.extend(SharedFilters::new(filters, owners).map(Arc::new));
            }
        }
        Branches { list, shared, ..Branches::default() }
    }

    pub fn writes(&self) -> bool {
        self.list.iter().any(|b| b.writes)
    }

    pub fn is_stateful(&self) -> bool {
        self.list.iter().any(Branch::is_stateful)
    }

    /// Adds what all the branches read.
    pub fn reads(&self, demand: &mut Demand) {
        for branch in &self.list {
            branch.steps.iter().for_each(|step| step.reads(demand));
        }
    }
}

/// What happens to the messages of one source statement.
#[derive(Default)]
pub struct Program {
    /// Steps inside the source statement itself.
    pub source_steps: Vec<Step>,
    pub branches: Branches,
    /// Destinations of [`Op::DeliverOrdered`], by index.
    pub ordered: Vec<Ordered>,
    /// At least one path is flow-controlled.
    pub flow_control: bool,
    /// Batches of one connection that may be in work at other workers at the same time, where parallelize()
    /// bounds it, or too many parsers with contexts.
    pub share_max: Option<usize>,
    /// The contexts of its parsers, by [`ParseStep::place`].
    pub states: Vec<Arc<dyn State>>,
    /// What its parsers want to know before a file is read.
    pub gates: Vec<Arc<dyn Gate>>,
    /// What is read of a message anywhere on its way.
    pub demand: Demand,
    /// Which stored matches of regular expressions anything reads: the others are not stored.
    pub wanted: Arc<Wanted>,
    /// `$LOGHOST`; `None` leaves it what it is.
    pub loghost: Option<Arc<str>>,
}

/// A destination that several paths of one source reach.
pub struct Ordered {
    /// The first of the steps that deliver to it.
    pub step: Step,
    pub destination: Arc<dyn Destination>,
    /// At least one of the paths is flow-controlled.
    pub flow_control: bool,
}
