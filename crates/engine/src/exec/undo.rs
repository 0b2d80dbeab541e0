//! Isolation of branches: the log of old records, played back where a branch's changes must not be seen.

use super::{After, Machine, Run};
use crate::program::Branch;
use rewrite::Rewrite;

/// How a branch ends.
pub(super) struct Ended {
    /// It may have changed what others see.
    pub has_written: bool,
    /// Where in the log its writes begin.
    pub mark: usize,
    /// Nobody after it sees what it matched.
    pub is_final: bool,
    pub after: After,
}

impl Run<'_, '_> {
    pub(super) fn save(&mut self, selection: &[u32]) {
        if !self.isolated {
            return;
        }
        let records = &self.batch.records;
        let Machine { undo, saved, .. } = &mut *self.machine;
        if saved.len() < records.len() {
            saved.resize(records.len(), 0);
        }
        for index in selection {
            let (Some(record), Some(place)) = (records.get(*index as usize), saved.get_mut(*index as usize))
            else {
                continue;
            };
            // What was saved may have been played back meanwhile, and another record stand there.
            let at = *place as usize;
            if at >= self.mark && undo.get(at).is_some_and(|(saved, _)| saved == index) {
                continue;
            }
            *place = undo.len() as u32;
            undo.push((*index, *record));
        }
    }

    /// Rewrites where others may still need the old state: of the messages only those are saved for which the
    /// condition holds. `false`, having done nothing, where that is no gain.
    pub(super) fn rewrite_part(&mut self, rewrite: &Rewrite, selection: &[u32]) -> bool {
        let Some(condition) = rewrite.condition().filter(|condition| !condition.stores()) else {
            return false;
        };
        if !self.isolated || self.watch.is_some() {
            return false;
        }
        let mut part = self.selection();
        part.extend_from_slice(selection);
        condition.select(self.batch, &mut part, &mut self.scratch.filter);
        self.save(&part);
        rewrite.change(self.batch, &part, &mut self.scratch.filter);
        self.recycle(part);
        true
    }

    /// Whether nobody after a branch sees what it does to messages: they go on from here alone, or not at
    /// all. `exclusive`: no branch before it left a message that may come to it.
    pub(super) fn is_unseen(&self, branch: &Branch, is_last: bool, after: After, exclusive: bool) -> bool {
        match after {
            After::Nothing => is_last,
            After::Original => false,
            // A message that fails comes to later branches as it was, unless it was claimed.
            After::Joined => {
                let claims = branch.claims && branch.steps.first().is_none_or(|first| !first.writes());
                exclusive && (is_last || branch.is_final && (claims || !branch.spoils))
            }
        }
    }

    /// Undoes writes back to `mark`; with `keep`, only those of records that are not marked in it.
    pub(super) fn restore(&mut self, mark: usize, keep: Option<&[bool]>) {
        // Most branches are final, and keep all that was written in them: no record is copied to look at it.
        for (index, record) in self.machine.undo.get(mark..).unwrap_or_default().iter().rev() {
            if keep.is_none_or(|k| !k.get(*index as usize).copied().unwrap_or(false))
                && let Some(place) = self.batch.records.get_mut(*index as usize)
            {
                *place = *record;
            }
        }
    }

    /// After a branch: makes sure that later readers see what they should, and that no record goes on twice:
    /// what follows would change it twice. `before`: what branches before it left that are not final. Says
    /// whether all that was written since `mark` is undone.
    pub(super) fn settle(&mut self, ended: &Ended, matched: &mut [u32], before: &[u32]) -> bool {
        let Ended { has_written, mark, is_final, after } = *ended;
        if after != After::Joined {
            if has_written {
                self.restore(mark, None);
            }
            return has_written;
        }
        if matched.is_empty() {
            if has_written {
                self.restore(mark, None);
            }
            return has_written;
        }
        if !has_written && before.is_empty() {
            return false;
        }
        // What a branch leaves that writes nothing is the record itself.
        let left = (!before.is_empty()).then(|| {
            let mut left = self.marks();
            before.iter().for_each(|index| left[*index as usize] = true);
            left
        });
        let mut keep = self.marks();
        for index in matched.iter_mut() {
            let is_left = left.as_ref().is_some_and(|left| left[*index as usize]);
            if !is_left && (is_final || !has_written) {
                // Nobody else sees what the branch did: it goes on as it is.
                keep[*index as usize] = true;
            } else if let Some(record) = self.batch.records.get(*index as usize).copied() {
                // Others see the original: what goes on from here becomes a record of its own.
                let copy = self.batch.records.len() as u32;
                self.machine.copies.push((copy, *index));
                *index = copy;
                self.batch.records.push(record);
            }
        }
        if has_written {
            self.restore(mark, Some(&keep));
        }
        self.put_back(keep, matched);
        if let Some(left) = left {
            self.put_back(left, before);
        }
        false
    }
}
