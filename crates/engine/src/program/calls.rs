//! Which steps call Python functions in their templates: the calls are made for all messages of a step before
//! it runs.

#[cfg(feature = "python")]
use super::{Branches, Op, Program, Step};
use filter::Filter;
#[cfg(feature = "python")]
use record::Demand;

/// Whether a filter calls Python: then it is a step of its own.
#[cfg(feature = "python")]
pub(super) fn has(filter: &Filter) -> bool {
    let mut demand = Demand::default();
    filter.reads(&mut demand);
    !template::calls_in(&demand).is_empty()
}

#[cfg(not(feature = "python"))]
pub(super) fn has(_: &Filter) -> bool {
    false
}

#[cfg(feature = "python")]
impl Program {
    /// Finds the calls of each step.
    pub(super) fn find_calls(&mut self) {
        find(&mut self.source_steps);
        find_in(&mut self.branches);
        for ordered in &mut self.ordered {
            let mut demand = Demand::default();
            ordered.destination.reads(&mut demand);
            ordered.step.calls = template::calls_in(&demand);
        }
    }
}

#[cfg(feature = "python")]
fn find_in(branches: &mut Branches) {
    branches.list.iter_mut().for_each(|branch| find(&mut branch.steps));
}

#[cfg(feature = "python")]
fn find(steps: &mut [Step]) {
    for step in steps {
        match &mut step.op {
            Op::Fork(branches) | Op::Join(branches) => find_in(branches),
            _ => {
                let mut demand = Demand::default();
                step.reads(&mut demand);
                step.calls = template::calls_in(&demand);
            }
        }
    }
}
