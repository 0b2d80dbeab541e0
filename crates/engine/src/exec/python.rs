//! Calls of Python functions in the templates of a step: made for all its messages before it runs, so that
//! they go to Python together. A result waits as a value of its message while the step runs.

use super::Run;
use crate::program::Step;

impl Run<'_, '_> {
    /// Makes the calls of a step. What is returned goes to [`Run::forget_calls`].
    #[inline]
    pub(super) fn call(&mut self, step: &Step, selection: &[u32]) -> Option<Vec<u32>> {
        if step.calls.is_empty() {
            return None;
        }
        for call in &step.calls {
            call.prepare(self.batch, selection, &mut self.scratch.filter.render);
        }
        Some(selection.to_vec())
    }

    /// Takes the results away: they are no values of the messages, and the next step's are others.
    pub(super) fn forget_calls(&mut self, step: &Step, called: Option<Vec<u32>>) {
        for index in called.into_iter().flatten() {
            step.calls.iter().for_each(|call| self.batch.unset(index as usize, call.name()));
        }
    }
}
