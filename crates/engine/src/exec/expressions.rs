//! Blocks of expressions: who passes goes on, who fails does not match, and who is dropped has matched
//! and goes nowhere.

use super::Run;
use crate::program::{FilterXOp, Row, Step};
use crate::watch::{Event, Verdict};
use filter::Judged;
use filterx::{Block, Judgement, Outcome, Role};
use record::{Record, Span};

impl Run<'_, '_> {
    pub(super) fn expressions(&mut self, step: &Step, op: &FilterXOp, selection: &mut Vec<u32>) {
        self.save(selection);
        let before = selection.len();
        self.keep_unsynced(op.row, selection);
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

    /// Keeps the messages in front of a row of blocks for its templates. A later block of the row has no
    /// others than the first.
    fn keep_unsynced(&mut self, row: Row, selection: &[u32]) {
        let (records, cx) = (&self.batch.records, &mut self.scratch.filter);
        cx.in_row = row != Row::Alone;
        if row != Row::First {
            return;
        }
        if cx.unsynced.len() < records.len() {
            cx.unsynced.resize(records.len(), Record::new(Span::EMPTY));
        }
        for at in selection.iter().map(|index| *index as usize) {
            if let (Some(kept), Some(record)) = (cx.unsynced.get_mut(at), records.get(at)) {
                *kept = *record;
            }
        }
    }

    /// Messages that a branch has dropped since there were `before` of them count as taken by it.
    pub(super) fn take_dropped(&mut self, before: usize, marks: &mut [bool]) -> usize {
        let dropped = std::mem::take(&mut self.machine.dropped);
        let newly_marked = self.take(dropped.get(before..).unwrap_or_default(), marks);
        self.machine.dropped = dropped;
        newly_marked
    }

    fn watched_expressions(&mut self, step: &Step, op: &FilterXOp, selection: &mut Vec<u32>) -> bool {
        let Some(mut watch) = self.watch.take() else { return false };
        selection.retain(|index| {
            let at = *index as usize;
            let Some(before) = self.batch.records.get(at).copied() else { return false };
            let message = watch.message(self.batch, &before);
            watch.tell(message, &Event::Begins(step.at()));
            let judgement = op.block.judge(self.batch, at, &mut self.scratch.filter);
            let outcome = judgement.outcome;
            if let Some(report) = &judgement.report {
                let mut causes = filterx::Causes::default();
                causes.count(report.cause);
                op.failures.add(causes);
            }
            for told in told(&op.block, &judgement) {
                let operands = told.operands();
                let judged =
                    Judged { function: "filterx", operands: &operands, asks: &[], holds: Some(told.holds) };
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

/// A statement or condition of a block in what is told of it.
struct Told<'a> {
    role: Role,
    location: &'a str,
    text: &'a str,
    error: &'a str,
    /// Errors that were passed over.
    suppressed: String,
    falsy: Option<&'a filterx::Falsy>,
    values: String,
    holds: bool,
}

impl Told<'_> {
    fn operands(&self) -> Vec<(&'static str, &[u8])> {
        let text = if self.role == Role::Condition { "condition" } else { "statement" };
        let (value, kind) = self.falsy.map_or(("", ""), |falsy| (&*falsy.value, falsy.type_name));
        let all = [
            ("expr", self.location),
            (text, self.text),
            ("error", self.error),
            ("operands", &self.values),
            ("suppressed", &self.suppressed),
            ("falsy", value),
            ("type", kind),
        ];
        all.into_iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| (name, text.as_bytes()))
            .collect()
    }
}

/// What a message took, and behind it why the block failed for it.
fn told<'a>(block: &'a Block, judgement: &'a Judgement) -> Vec<Told<'a>> {
    let report = judgement.report.as_ref();
    let taken = judgement.trail.iter().filter_map(|followed| {
        let place = block.places().get(followed.number as usize)?;
        let is_told_behind =
            !followed.holds && report.is_some_and(|report| report.location == *place.location);
        (!is_told_behind).then(|| Told {
            role: place.role,
            location: &place.location,
            text: &place.text,
            error: "",
            suppressed: followed.suppressed.join("; "),
            falsy: None,
            values: followed.operands_told(),
            holds: followed.holds,
        })
    });
    let failed = report.map(|report| Told {
        role: Role::Statement,
        location: &report.location,
        text: &report.statement,
        error: &report.message,
        suppressed: String::new(),
        falsy: report.falsy.as_ref(),
        values: report.operands_told(),
        holds: false,
    });
    taken.chain(failed).collect()
}
