//! Marks of messages, a flag each: those that a branch took, and those that no later branch sees.

use super::Run;

/// One of so many flags is sooner found than all are cleared.
const FEW: usize = 16;

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
        marks.resize(self.batch.records.len(), false);
        marks
    }

    /// Keeps flags for the next, all false again. `among` has each record that may be marked, by its own
    /// place or its message's, unless there are more records by now: of a large batch, often only a few
    /// messages come to a place.
    pub(super) fn put_back(&mut self, mut marks: Vec<bool>, among: &[u32]) {
        if marks.len() == self.batch.records.len() && among.len() < marks.len() / FEW {
            for index in among {
                for place in [*index as usize, self.origin(*index)] {
                    if let Some(flag) = marks.get_mut(place) {
                        *flag = false;
                    }
                }
            }
        } else {
            marks.fill(false);
        }
        debug_assert!(!marks.contains(&true), "no mark is left");
        self.machine.marks.push(marks);
    }
}
