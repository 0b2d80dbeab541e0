//! What a branch begins with, asked beforehand and together with its siblings: its filter, or one that says
//! of its first parser which messages it cannot parse. Of hundreds of siblings most are passed by untried.

use super::{Op, Step, calls};
use filter::Filter;
use std::sync::Arc;

/// A filter without traces but calls that are counted: a message for which it does not hold fails at the
/// first of the steps. Where that is a filter, it is that one.
pub(super) fn of(steps: &[Step]) -> Option<Arc<Filter>> {
    let filter = match &steps.first()?.op {
        Op::Filter(op) => Arc::clone(&op.filter),
        Op::Parse(op) => op.parser.guard()?,
        // A message that does not come into the only branch does not go on.
        Op::Join(branches) => match branches.list.as_slice() {
            [only] if !only.fallback && only.counters.is_none() => {
                of(&only.steps).filter(|filter| filter.is_pure())?
            }
            _ => return None,
        },
        _ => return None,
    };
    // What it counts is counted when a branch is passed.
    let leaves_traces =
        !filter.is_pure() && filter.counted_call().is_none() && filter.refused_calls().is_none();
    (!leaves_traces && !calls::has(&filter)).then_some(filter)
}

impl Step {
    /// Whether it is a filter, and whether what was asked beforehand says all of it.
    pub fn is_filter(&self) -> (bool, bool) {
        match &self.op {
            Op::Filter(op) => (true, op.is_decided_beforehand()),
            _ => (false, false),
        }
    }

    /// Counts messages that were found beforehand to pass here, of a filter.
    pub fn accept(&self, count: usize) {
        if let Op::Filter(op) = &self.op {
            op.count(count, 0);
        }
    }

    /// Counts messages that were found beforehand to fail here.
    pub fn refuse(&self, count: usize) {
        match &self.op {
            Op::Filter(op) => {
                op.count(0, count);
                op.refused_calls.iter().for_each(|called| called.count(0, count));
            }
            Op::Parse(op) => op.count(0, count),
            Op::Join(branches) => {
                if let Some(counters) = &branches.counters {
                    counters.not_matched.add(count);
                }
                let firsts = branches.list.iter().filter_map(|branch| branch.steps.first());
                firsts.for_each(|first| first.refuse(count));
            }
            _ => {}
        }
    }
}
