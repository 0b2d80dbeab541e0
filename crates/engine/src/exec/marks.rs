//! Marks of messages, a flag each: those that a branch took, and those that no later branch sees.

use super::Run;

impl Run<'_, '_> {
    /// Number of the message a record is a copy of. Most are none, and need not be looked at.
    #[inline]
    fn origin(&self, index: u32) -> usize {
        match (index as usize) < self.originals {
            true => index as usize,
            false => self.batch.records.get(index as usize).map_or(usize::MAX, |r| r.origin as usize),
        }
    }

    /// Marks messages as matched by a branch; says whether there were any.
    pub(super) fn take(&self, matched: &[u32], taken: &mut [bool]) -> bool {
        for index in matched {
            if let Some(flag) = taken.get_mut(self.origin(*index)) {
                *flag = true;
            }
        }
        !matched.is_empty()
    }

    pub(super) fn is_taken(&self, taken: &[bool], index: u32) -> bool {
        taken.get(self.origin(index)).copied().unwrap_or(false)
    }

    /// One flag per record, all false.
    pub(super) fn marks(&mut self) -> Vec<bool> {
        let mut marks = self.machine.marks.pop().unwrap_or_default();
        marks.clear();
        marks.resize(self.batch.records.len(), false);
        marks
    }
}
