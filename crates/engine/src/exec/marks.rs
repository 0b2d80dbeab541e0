//! Marks of messages, a flag each: those that a branch took, and those that no later branch sees.

use super::Run;

/// One of so many flags is sooner found than all are cleared.
const FEW: usize = 16;

impl Run<'_, '_> {
    /// The record among the first `so_many` that a record became a copy of, over as many copies as there are
    /// between them. A message may come to branches in several copies, and each is taken for itself.
    #[inline]
    pub(super) fn entered(&self, index: u32, so_many: usize) -> usize {
        match (index as usize) < so_many {
            true => index as usize,
            false => self.source(index, so_many),
        }
    }

    #[inline(never)]
    fn source(&self, index: u32, so_many: usize) -> usize {
        let copies = &self.machine.copies;
        let mut at = index;
        while at as usize >= so_many {
            let found = copies.binary_search_by_key(&at, |(copy, _)| *copy);
            let Some((_, of)) = found.ok().and_then(|place| copies.get(place)) else { return usize::MAX };
            at = *of;
        }
        at as usize
    }

    /// Marks messages as matched by a branch; says how many were not marked before.
    pub(super) fn take(&self, matched: &[u32], taken: &mut [bool]) -> usize {
        let mut new = 0;
        for index in matched {
            if let Some(flag) = taken.get_mut(self.entered(*index, taken.len())) {
                new += usize::from(!std::mem::replace(flag, true));
            }
        }
        new
    }

    pub(super) fn is_taken(&self, taken: &[bool], index: u32) -> bool {
        taken.get(self.entered(index, taken.len())).copied().unwrap_or(false)
    }

    /// One flag per record, all false.
    pub(super) fn marks(&mut self) -> Vec<bool> {
        let mut marks = self.machine.marks.pop().unwrap_or_default();
        marks.resize(self.batch.records.len(), false);
        marks
    }

    /// Keeps flags for the next, all false again. `among` has each record that may be marked, unless there
    /// are more records by now: of a large batch, often only a few messages come to a place.
    pub(super) fn put_back(&mut self, mut marks: Vec<bool>, among: &[u32]) {
        if marks.len() == self.batch.records.len() && among.len() < marks.len() / FEW {
            for index in among {
                if let Some(flag) = marks.get_mut(*index as usize) {
                    *flag = false;
                }
            }
        } else {
            marks.fill(false);
        }
        debug_assert!(!marks.contains(&true), "no mark is left");
        self.machine.marks.push(marks);
    }
}
