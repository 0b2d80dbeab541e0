//! What sibling branches begin with, asked together when the first of them is reached.

use super::{Remaining, Run};
use crate::profile::{self, Doing};
use crate::program::{Branch, Branches, SharedFilters};
use record::Batch;

/// Answers of filters that were asked together.
#[derive(Default)]
pub(super) struct Heads {
    /// Index of the next set to evaluate.
    next: usize,
    pub answers: Vec<Vec<u32>>,
    /// The first filter of the set whose branch is not passed yet.
    place: usize,
    /// A final branch took messages since they were asked.
    stale: bool,
    /// Of the calls that are counted, how many of the messages that remain they hold for.
    holding: Vec<Option<usize>>,
}

impl Heads {
    /// A final branch has taken messages.
    pub fn taken(&mut self) {
        self.stale = true;
        self.holding.fill(None);
    }
}

/// What is known of a branch before its first step.
pub(super) enum Head {
    /// Nothing: all that remains comes to it.
    Open,
    /// No message that remains comes through.
    Passed,
    /// What comes to the branch; so many of its steps are done.
    Asked(usize),
}

impl Run<'_, '_> {
    /// Fills `matched` with what a branch begins with: all that remains, or, when it was asked together with
    /// its siblings, what does not fail at its first step.
    pub(super) fn head(
        &mut self,
        all: &Branches,
        at: usize,
        heads: &mut Heads,
        (remaining, gone): (&mut Remaining, &[bool]),
        matched: &mut Vec<u32>,
    ) -> Head {
        let Some(branch) = all.list.get(at) else { return Head::Open };
        // Whoever watches is told of each filter by itself.
        if self.watch.is_some() {
            matched.extend_from_slice(remaining.all(self, gone));
            return Head::Open;
        }
        if let Some(shared) = all.shared.get(heads.next).filter(|s| s.first == at) {
            self.ask(shared, branch, heads, remaining.all(self, gone));
        }
        // Copies of one message are counted as one where steps count by themselves.
        let Some(first) = branch.steps.first().filter(|first| !self.copied || first.is_filter().0) else {
            matched.extend_from_slice(remaining.all(self, gone));
            return Head::Open;
        };
        let current = heads.next.checked_sub(1).and_then(|n| all.shared.get(n));
        let Some(place) = current.and_then(|shared| heads.place_of(shared, at)) else {
            matched.extend_from_slice(remaining.all(self, gone));
            return Head::Open;
        };
        if let Some(shared) = current
            && let Some(Some(counted)) = shared.counts.get(place)
        {
            self.count_call(shared, *counted, heads, (remaining, gone));
        }
        if let Some(answer) = heads.answers.get_mut(place).filter(|answer| !answer.is_empty()) {
            std::mem::swap(answer, matched);
            if heads.stale {
                // What a final branch took since is left out.
                matched.retain(|i| !self.is_taken(gone, *i));
            }
        }
        first.refuse(remaining.len() - matched.len());
        match matched.is_empty() && !self.tick {
            true => Head::Passed,
            false if first.is_filter().1 => {
                first.accept(matched.len());
                Head::Asked(1)
            }
            false => Head::Asked(0),
        }
    }

    fn ask(&mut self, shared: &SharedFilters, branch: &Branch, heads: &mut Heads, remaining: &[u32]) {
        if let Some(first) = branch.steps.first() {
            profile::mark(Doing::Steps, first.id.number());
        }
        heads.next += 1;
        (heads.stale, heads.place) = (false, 0);
        heads.holding.clear();
        heads.holding.resize(shared.counted.len(), None);
        for mut old in heads.answers.drain(..) {
            old.clear();
            self.machine.spare.push(old);
        }
        heads.answers.extend((0..shared.set.len()).map(|_| self.machine.spare.pop().unwrap_or_default()));
        shared.set.select_all(self.batch, remaining, &mut self.scratch.filter, &mut heads.answers);
    }

    /// Counts a call that the filter of a branch begins with, for all messages that come to the branch.
    fn count_call(
        &mut self,
        shared: &SharedFilters,
        counted: usize,
        heads: &mut Heads,
        (remaining, gone): (&mut Remaining, &[bool]),
    ) {
        let (Some(called), Some(known)) = (shared.counted.get(counted), heads.holding.get_mut(counted))
        else {
            return;
        };
        let holding = match known {
            Some(holding) => *holding,
            None => {
                let all = remaining.all(self, gone);
                let (batch, cx): (&Batch, _) = (self.batch, &mut self.scratch.filter);
                let holds = |index: &&u32| {
                    let record = batch.records.get(**index as usize);
                    record.is_some_and(|record| called.filter.holds_for(batch, record, cx))
                };
                *known.insert(all.iter().filter(holds).count())
            }
        };
        called.count(holding, remaining.len() - holding);
    }
}

impl Heads {
    /// Which filter of the set stands in front of a branch; branches come in their order.
    #[inline]
    fn place_of(&mut self, shared: &SharedFilters, at: usize) -> Option<usize> {
        while shared.owners.get(self.place).is_some_and(|owner| *owner < at) {
            self.place += 1;
        }
        (shared.owners.get(self.place) == Some(&at)).then_some(self.place)
    }
}
