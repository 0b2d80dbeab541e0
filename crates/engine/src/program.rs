//! A compiled configuration's log paths: what a worker runs on a batch. Immutable, shared by all workers.

use crate::driver::Destination;
use crate::ledger::{PathCounters, StepCounters};
use crate::outbox::Outbox;
use filter::{Filter, FilterContext};
use record::{Batch, Stamp};
use rewrite::Rewrite;
use std::sync::Arc;
use template::RenderContext;

/// Per-worker caches and buffers of everything a path may run.
pub struct Scratch {
    pub filter: FilterContext,
}

impl Scratch {
    pub fn new(identity: template::Identity) -> Scratch {
        Scratch { filter: FilterContext::new(identity) }
    }

    /// Takes the current time for all messages of the next batch.
    pub fn begin_batch(&mut self, now: Stamp) {
        self.filter.render.begin_batch(now);
    }

    pub fn render(&mut self) -> &mut RenderContext {
        &mut self.filter.render
    }
}

/// A destination statement's driver: formats on the worker that ran the path, in parallel.
pub trait Format: Send + Sync {
    /// Appends the selected messages to the buffers of its outlets, in the order of the selection.
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox);
}

#[derive(Clone)]
pub enum Node {
    Filter(FilterStep),
    Rewrite(Arc<Rewrite>),
    /// Embedded `log {}`: each branch sees the message as it is here; nothing a branch does is seen after it.
    Fork(Vec<Branch>),
    /// `junction {}`, `if {}`: branches whose results go on together.
    Join(Vec<Branch>),
    Deliver(Arc<dyn Destination>),
    /// A destination that several paths of one source reach: delivered at the end of the batch, in the order of the messages.
    DeliverOrdered(usize),
}

#[derive(Clone)]
pub struct FilterStep {
    pub filter: Arc<Filter>,
    pub counters: Arc<StepCounters>,
    /// It stores what it matched.
    pub writes: bool,
}

impl FilterStep {
    pub fn new(filter: Arc<Filter>, counters: Arc<StepCounters>) -> FilterStep {
        FilterStep { writes: !filter.writes().is_empty(), filter, counters }
    }
}

#[derive(Clone)]
pub struct Branch {
    pub nodes: Vec<Node>,
    /// What matched here is not shown to later branches.
    pub is_final: bool,
    /// Only for what no other branch matched.
    pub fallback: bool,
    /// `Some` where flags(flow-control) or flags(no-flow-control) stand.
    pub flow_control: Option<bool>,
    /// Contains a rewrite, or a filter that stores its matches.
    pub writes: bool,
    pub counters: Option<Arc<PathCounters>>,
}

/// What happens to the messages of one source statement.
#[derive(Default)]
pub struct Program {
    /// Steps inside the source statement itself.
    pub source_nodes: Vec<Node>,
    pub branches: Vec<Branch>,
    /// Destinations of [`Node::DeliverOrdered`], by index.
    pub ordered: Vec<Ordered>,
    /// At least one path is flow-controlled.
    pub flow_control: bool,
}

/// A destination that several paths of one source reach.
pub struct Ordered {
    pub destination: Arc<dyn Destination>,
    /// At least one of the paths is flow-controlled.
    pub flow_control: bool,
}
