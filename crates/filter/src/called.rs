//! `filter(NAME)` inside an expression, and the counters that a named filter has for these calls.
//!
//! As in syslog-ng, a call that `and` or `or` makes needless is not counted. Expressions with counted calls
//! are therefore evaluated in the order of their text, and not together with those of sibling branches (see
//! [`crate::node::Node::is_pure`]).

use crate::context::Workspace;
use crate::filter::Filter;
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

impl Called {
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
