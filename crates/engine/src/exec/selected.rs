//! Lists of records that are selected, used again and again.

use super::Run;
use super::reached::distinct;

impl Run<'_, '_> {
    /// How many different messages a selection holds.
    pub(super) fn messages(&self, selection: &[u32]) -> usize {
        if self.copied { distinct(self.batch, selection) } else { selection.len() }
    }

    pub(super) fn selection(&mut self) -> Vec<u32> {
        self.machine.spare.pop().unwrap_or_default()
    }

    pub(super) fn recycle(&mut self, mut selection: Vec<u32>) {
        selection.clear();
        self.machine.spare.push(selection);
    }
}
