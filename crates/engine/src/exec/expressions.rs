//! Blocks of expressions: who passes goes on, who fails does not match, and who is dropped has matched
//! and goes nowhere.

use super::Run;
use crate::program::{Branch, FilterXOp, Step};
use crate::watch::{Event, Verdict};
use filter::Judged;
use filterx::Outcome;

impl Run<'_, '_> {
    pub(super) fn expressions(&mut self, step: &Step, op: &FilterXOp, selection: &mut Vec<u32>) {
        self.save(selection);
        let before = selection.len();
        if !self.watched_expressions(step, op, selection) {
            let mut dropped = std::mem::take(&mut self.machine.dropped);
            let causes = op.block.run(self.batch, selection, &mut self.scratch.filter, &mut dropped);
            op.failures.add(causes);
            self.machine.dropped = dropped;
        }
        for counters in op.here.iter().chain([&op.counters]) {
            counters.matched.add(selection.len());
            counters.not_matched.add(before - selection.len());
        }
    }

    /// Messages that a branch has dropped since there were `before` of them count as taken by it.
    pub(super) fn take_dropped(
        &mut self,
        before: usize,
        branch: &Branch,
        taken: &mut [bool],
        gone: &mut [bool],
    ) -> bool {
        let dropped = std::mem::take(&mut self.machine.dropped);
        let new = dropped.get(before..).unwrap_or_default();
        let any = self.take(new, taken);
        if branch.is_final {
            self.take(new, gone);
        }
        self.machine.dropped = dropped;
        any
    }

    fn watched_expressions(&mut self, step: &Step, op: &FilterXOp, selection: &mut Vec<u32>) -> bool {
        let Some(mut watch) = self.watch.take() else { return false };
        selection.retain(|index| {
            let at = *index as usize;
            let Some(before) = self.batch.records.get(at).copied() else { return false };
            let message = watch.message(self.batch, &before);
            watch.tell(message, &Event::Begins(step.at()));
            let (outcome, report) = op.block.judge(self.batch, at, &mut self.scratch.filter);
            if let Some(report) = report {
                let mut causes = filterx::Causes::default();
                causes.count(report.cause);
                op.failures.add(causes);
                let values = report.operands_told();
                let operands: [(&'static str, &[u8]); 4] = [
                    ("expr", report.location.as_bytes()),
                    ("statement", report.statement.as_bytes()),
                    ("error", report.message.as_bytes()),
                    ("operands", values.as_bytes()),
                ];
                let operands = operands.get(..3 + usize::from(!values.is_empty())).unwrap_or(&operands);
                let judged = Judged { function: "filterx", operands, holds: Some(false) };
                watch.tell(message, &Event::Judged(step.at(), &judged));
            }
            watch.tell_changes(message, self.batch, at, &before);
            let verdict = if outcome == Outcome::Passed { Verdict::Passed } else { Verdict::Stopped };
            watch.tell(message, &Event::Ends(step.at(), verdict));
            watch.show(step.at(), self.batch, at, &mut self.scratch.filter);
            if outcome == Outcome::Dropped {
                self.machine.dropped.push(*index);
            }
            outcome == Outcome::Passed
        });
        self.watch = Some(watch);
        true
    }
}
