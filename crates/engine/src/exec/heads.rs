//! The filters at the head of sibling branches, asked together when the first of them is reached.

use super::Run;
use crate::profile::{self, Doing};
use crate::program::{Branches, Op, SharedFilters};

/// Answers of filters that were asked together.
#[derive(Default)]
pub(super) struct Heads {
    /// Index of the next set to evaluate.
    next: usize,
    pub answers: Vec<Vec<u32>>,
    /// A final branch took messages since they were asked.
    pub stale: bool,
}

impl Run<'_, '_> {
    /// Fills `matched` with what a branch begins with: all that remains, or, when its filter was asked
    /// together with those of its siblings, what that filter matches; then the answer is yes.
    pub(super) fn head(
        &mut self,
        all: &Branches,
        at: usize,
        heads: &mut Heads,
        (remaining, gone): (&[u32], &[bool]),
        matched: &mut Vec<u32>,
    ) -> bool {
        // Whoever watches is told of each filter by itself.
        if self.watch.is_some() {
            matched.extend_from_slice(remaining);
            return false;
        }
        if let Some(shared) = all.shared.get(heads.next).filter(|s| s.first == at) {
            if let Some(first) = all.list.get(at).and_then(|branch| branch.steps.first()) {
                profile::mark(Doing::Steps, first.id.number());
            }
            heads.next += 1;
            heads.stale = false;
            for mut old in heads.answers.drain(..) {
                old.clear();
                self.machine.spare.push(old);
            }
            heads.answers.extend((0..shared.set.len()).map(|_| self.machine.spare.pop().unwrap_or_default()));
            shared.set.select_all(self.batch, remaining, &mut self.scratch.filter, &mut heads.answers);
        }
        let current = heads.next.checked_sub(1).and_then(|n| all.shared.get(n));
        let place = current.and_then(|s: &std::sync::Arc<SharedFilters>| s.owners.binary_search(&at).ok());
        let Some(answer) = place.and_then(|p| heads.answers.get_mut(p)) else {
            matched.extend_from_slice(remaining);
            return false;
        };
        std::mem::swap(answer, matched);
        if heads.stale {
            // What a final branch took since is left out.
            matched.retain(|i| !self.is_taken(gone, *i));
        }
        if let Some(Op::Filter(head)) = all.list.get(at).and_then(|b| Some(&b.steps.first()?.op)) {
            head.count(matched.len(), remaining.len() - matched.len());
        }
        true
    }
}
