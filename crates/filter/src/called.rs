//! `filter(NAME)` inside an expression, and the counters that a named filter has for these calls.
//!
//! As in syslog-ng, a call that `and` or `or` makes needless is not counted. Expressions with counted calls
//! are therefore evaluated in the order of their text (see [`crate::node::Node::is_pure`]), and together with
//! those of sibling branches only where the call is the first condition, which none makes needless.

use crate::context::Workspace;
use crate::filter::Filter;
use crate::node::Node;
use record::{Batch, Record};
use std::sync::Arc;
use template::RenderContext;

/// Where a named filter counts.
pub trait Tally: Send + Sync {
    fn count(&self, matched: usize, not_matched: usize);
}

pub struct Called {
    pub name: Box<str>,
    pub filter: Arc<Filter>,
    /// `None` when nobody wants to know.
    pub tally: Option<Arc<dyn Tally>>,
}

/// The call whose counter a filter that leaves no other trace adds to for every message it is asked about:
/// the first condition of its text.
pub fn leading(node: &Node) -> Option<&Arc<Called>> {
    let (first, rest) = match node {
        Node::And(nodes) | Node::Or(nodes) => nodes.split_first()?,
        node => (node, &[][..]),
    };
    let called = match first {
        Node::Filter(called) => called,
        Node::Not(inner) => match &**inner {
            Node::Filter(called) => called,
            _ => return None,
        },
        _ => return None,
    };
    let counts_alone = called.tally.is_some() && called.filter.is_pure() && rest.iter().all(Node::is_pure);
    counts_alone.then_some(called)
}

/// The calls of a filter that is a list of alternatives and leaves no other trace: of a message for which it
/// does not hold, each has been asked, and did not hold.
pub fn alternatives(node: &Node) -> Option<Vec<Arc<Called>>> {
    let Node::Or(nodes) = node else { return None };
    let is_plain = |node: &Node| match node {
        Node::Filter(called) => called.filter.is_pure(),
        node => node.is_pure(),
    };
    let counted = |node: &Node| match node {
        Node::Filter(called) if called.tally.is_some() => Some(Arc::clone(called)),
        _ => None,
    };
    nodes.iter().all(is_plain).then(|| nodes.iter().filter_map(counted).collect())
}

impl Called {
    /// The same counter and the same answers.
    pub fn is_same(&self, other: &Called) -> bool {
        let counters = [&self.tally, &other.tally].map(|tally| tally.as_ref().map(Arc::as_ptr));
        let [own, others] = counters.map(|counter| counter.map(<*const dyn Tally>::cast::<()>));
        own == others && Arc::ptr_eq(&self.filter, &other.filter)
    }

    pub fn count(&self, matched: usize, not_matched: usize) {
        if let Some(tally) = &self.tally {
            tally.count(matched, not_matched);
        }
    }

    pub fn narrow(
        &self,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) {
        let asked = selection.len();
        self.filter.node().narrow(batch, selection, work, render);
        self.count(selection.len(), asked - selection.len());
    }

    pub fn holds(
        &self,
        batch: &Batch,
        record: &Record,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        let holds = self.filter.node().holds(batch, record, work, render);
        if let Some(tally) = &self.tally {
            work.tallied.note(tally, holds);
        }
        holds
    }
}

/// Filters of which counts are held back; more are counted at once.
const TALLIED_MAX: usize = 64;

/// Counts of one worker, held back until the end of a batch: the counters themselves are everybody's.
#[derive(Default)]
pub struct Tallied(Vec<(Arc<dyn Tally>, usize, usize)>);

impl Tallied {
    fn note(&mut self, tally: &Arc<dyn Tally>, holds: bool) {
        let (matched, not_matched) = (usize::from(holds), usize::from(!holds));
        match self.0.iter_mut().find(|(known, ..)| Arc::ptr_eq(known, tally)) {
            Some((_, held, failed)) => {
                *held += matched;
                *failed += not_matched;
            }
            None => {
                if self.0.len() >= TALLIED_MAX {
                    self.settle();
                }
                self.0.push((Arc::clone(tally), matched, not_matched));
            }
        }
    }

    pub fn settle(&mut self) {
        for (tally, matched, not_matched) in self.0.drain(..) {
            tally.count(matched, not_matched);
        }
    }
}
