//! A compiled configuration's log paths: what a worker runs on a batch. Immutable, shared by all workers.

use crate::ledger::{PathCounters, StepCounters};
use crate::outbox::Outbox;
use filter::Filter;
use record::Batch;
use rewrite::Rewrite;
use std::sync::Arc;

/// Per-worker scratch of everything a path may run.
pub use filter::FilterContext as Scratch;

/// A destination statement's driver: formats on the worker that ran the path, in parallel.
pub trait Format: Send + Sync {
    /// Appends the selected messages to the buffers of its outlets, in the order of the selection.
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox);
}

pub enum Node {
    Filter(Arc<Filter>, Arc<StepCounters>),
    Rewrite(Arc<Rewrite>),
    /// Embedded `log {}`: each branch sees the message as it is here; nothing a branch does is seen after it.
    Fork(Vec<Branch>),
    /// `junction {}`, `if {}`: branches whose results go on together.
    Join(Vec<Branch>),
    Deliver(Arc<dyn Format>),
    /// A destination that several paths of one source reach: delivered at the end of the batch, in the order of the messages.
    DeliverOrdered(usize),
}

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
    pub ordered: Vec<Arc<dyn Format>>,
}
