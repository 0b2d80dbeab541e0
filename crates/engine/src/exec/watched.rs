//! The steps of a program while somebody watches: message by message, each told with what it looked at and
//! what it changed.
//!
//! What becomes of the messages is what the other way makes of them. Each function says `false`, having done
//! nothing, when nobody watches.

use super::Run;
use crate::driver::Destination;
use crate::program::{Branch, FilterOp, ParseOp, Step};
use crate::watch::{At, Event, Verdict, Watching, driver_of};
use filter::Judged;
use record::{Flags, Record};
use rewrite::Rewrite;
use std::cell::OnceCell;

/// Messages that entered a branch which is a statement of its own.
pub(super) struct Entered<'p> {
    at: At<'p>,
    records: Vec<Record>,
}

impl Run<'_, '_> {
    /// Tells how the messages came in, before anything is done with them, and remembers them for
    /// [`Run::watched_end`].
    pub(super) fn watched_arrival(&mut self, selection: &[u32]) -> Option<Vec<u32>> {
        let watched = self.each_watched(selection, |run, watch, index, record| {
            // What a parser gave to internal() has the frame of a message that came in before.
            let is_posted = record.flags.has(Flags::POSTED);
            let is_whole = !record.frame.is_empty() && !is_posted;
            let text = if is_whole { record.frame } else { record.message };
            let posted = &run.scratch.filter.work.posted;
            let made_of = posted.iter().find(|made| is_posted && made.message == record.message);
            watch.tell_arrival(run.batch, (index, &record), text, made_of);
            watch.show_arrival(run.batch, index, &mut run.scratch.filter);
        });
        watched.then(|| selection.to_vec())
    }

    /// Tells of messages that a parser has made of its contexts, those from the `joined`-th of the batch on,
    /// as of received ones.
    pub(super) fn watched_made(&mut self, joined: usize) {
        if (self.watch.is_some() || self.late.is_some()) && self.batch.joined() > joined {
            let made: Vec<u32> = self.joined_since(joined).collect();
            let Some(mut watch) = self.watch.take().or_else(|| self.late.take()) else { return };
            let mut is_followed = !watch.is_late;
            for record in made.iter().filter_map(|index| self.batch.records.get(*index as usize).copied()) {
                is_followed |= watch.follows(self.batch, &record, &mut self.scratch.filter);
            }
            if !is_followed {
                self.late = Some(watch);
                return;
            }
            self.watch = Some(watch);
            // What it was made of has come in already: its text is what it was given.
            self.each_watched(&made, |run, watch, index, record| {
                let mut told = run.scratch.filter.work.made_of.iter().flatten();
                let made_of = told.rfind(|made| made.message == record.message);
                watch.tell_arrival(run.batch, (index, &record), record.message, made_of);
            });
        }
    }

    /// The messages that have joined the batch since it had `joined` of them.
    pub(super) fn joined_since(&self, joined: usize) -> impl Iterator<Item = u32> + use<'_> {
        (joined..self.batch.joined()).filter_map(|at| self.batch.joined_origin(at))
    }

    /// Messages that came in when nobody watched may have been watched from their making on.
    pub(super) fn watched_end(&mut self, selection: &[u32]) {
        self.each_watched(selection, |run, watch, _, record| {
            let message = watch.message(run.batch, &record);
            watch.tell_end(message);
        });
    }

    pub(super) fn watched_filter(&mut self, step: &Step, op: &FilterOp, selection: &mut Vec<u32>) -> bool {
        let Some(mut watch) = self.watch.take() else { return false };
        selection.retain(|index| {
            let at = *index as usize;
            let Some(before) = self.batch.records.get(at).copied() else { return false };
            let message = watch.message(self.batch, &before);
            watch.tell(message, &Event::Begins(step.at()));
            let holds = op.filter.judge(self.batch, at, &mut self.scratch.filter, &mut |judged| {
                watch.tell(message, &Event::Judged(step.at(), judged));
            });
            watch.tell_changes(message, self.batch, at, &before);
            watch.tell(message, &Event::Ends(step.at(), passed(holds)));
            watch.show(step.at(), self.batch, at, &mut self.scratch.filter);
            holds
        });
        self.watch = Some(watch);
        true
    }

    pub(super) fn watched_rewrite(&mut self, step: &Step, rewrite: &Rewrite, selection: &[u32]) -> bool {
        self.each_watched(selection, |run, watch, index, before| {
            let message = watch.message(run.batch, &before);
            watch.tell(message, &Event::Begins(step.at()));
            let cx = &mut run.scratch.filter;
            let applies = rewrite.condition().is_none_or(|condition| {
                condition.judge(run.batch, index, cx, &mut |judged| {
                    watch.tell(message, &Event::Judged(step.at(), judged));
                })
            });
            if applies {
                rewrite.change(run.batch, &[index as u32], cx);
            }
            watch.tell_changes(message, run.batch, index, &before);
            let verdict = if applies { Verdict::Passed } else { Verdict::Skipped };
            watch.tell(message, &Event::Ends(step.at(), verdict));
            watch.show(step.at(), run.batch, index, &mut run.scratch.filter);
        })
    }

    /// Runs a parser; messages that it makes go on with the others.
    pub(super) fn watched_parse(&mut self, step: &Step, op: &ParseOp, selection: &mut Vec<u32>) -> bool {
        // In a tick contexts end of which nobody has been told: what they make comes in then, see
        // [`Run::watched_made`].
        if self.watch.is_none() || selection.is_empty() {
            return false;
        }
        let input = std::mem::take(selection);
        // It may be the turn of this batch at the parser: it is one turn for all its messages.
        self.each_watched(&input, |run, watch, index, before| {
            let message = watch.message(run.batch, &before);
            watch.tell(message, &Event::Begins(step.at()));
            let mut part = vec![index as u32];
            op.all().parse(run.batch, &mut part, &mut run.scratch.filter);
            watch.tell_changes(message, run.batch, index, &before);
            let holds = part.contains(&(index as u32));
            if let Some(said) = op.all().said(&mut run.scratch.filter) {
                let operands: [(_, &[u8]); 1] = [("failed", said.as_bytes())];
                let judged =
                    Judged { function: "python", operands: &operands, asks: &[], holds: Some(holds) };
                watch.tell(message, &Event::Judged(step.at(), &judged));
            }
            watch.tell(message, &Event::Ends(step.at(), passed(holds)));
            watch.show(step.at(), run.batch, index, &mut run.scratch.filter);
            selection.append(&mut part);
        })
    }

    pub(super) fn watched_deliver(
        &mut self,
        step: &Step,
        destination: &dyn Destination,
        selection: &[u32],
    ) -> bool {
        let driver = driver_of(destination);
        self.each_watched(selection, |run, watch, index, record| {
            let message = watch.message(run.batch, &record);
            let at = run.delivering(step, index);
            watch.show(at, run.batch, index, &mut run.scratch.filter);
            if watch.is_rehearsal {
                let shown = destination.preview(run.batch, index as u32, run.scratch);
                for (name, output) in &shown {
                    let receipt = &OnceCell::new();
                    watch.tell(message, &Event::Queued { at, driver, name, output, receipt });
                }
                if shown.is_empty() {
                    watch.tell(message, &Event::NotQueued { at, driver });
                }
                return;
            }
            let before = run.out.lengths();
            destination.format(run.batch, &[index as u32], run.scratch, run.out);
            let mut queued = false;
            run.out.each_since(&before, |name, output| {
                queued = true;
                let receipt = OnceCell::new();
                let event = Event::Queued { at, driver, name, output, receipt: &receipt };
                watch.tell(message, &event);
                receipt.into_inner()
            });
            if !queued {
                watch.tell(message, &Event::NotQueued { at, driver });
            }
        })
    }

    /// The messages that enter a branch that is a statement of its own.
    pub(super) fn watched_entry<'p>(&mut self, branch: &'p Branch, selection: &[u32]) -> Option<Entered<'p>> {
        let at = branch.at()?;
        let mut records = Vec::new();
        let watched = self.each_watched(selection, |run, watch, index, record| {
            watch.tell(watch.message(run.batch, &record), &Event::Begins(at));
            watch.show(at, run.batch, index, &mut run.scratch.filter);
            records.push(record);
        });
        watched.then_some(Entered { at, records })
    }

    /// Says of each of them whether it came through.
    pub(super) fn watched_exit(&mut self, entered: Option<Entered<'_>>, selection: &[u32]) {
        let Some(entered) = entered else { return };
        let Some(mut watch) = self.watch.take() else { return };
        let origin = |index: &u32| self.batch.records.get(*index as usize).map(|record| record.origin);
        let mut came: Vec<u32> = selection.iter().filter_map(origin).collect();
        came.sort_unstable();
        for record in &entered.records {
            let through = came.binary_search(&record.origin).is_ok();
            let message = watch.message(self.batch, record);
            watch.tell(message, &Event::Ends(entered.at, passed(through)));
        }
        self.watch = Some(watch);
    }

    /// Calls `f` for each message, with what watches. `false` when nothing does.
    fn each_watched(
        &mut self,
        selection: &[u32],
        mut f: impl FnMut(&mut Self, &mut Watching<'_>, usize, Record),
    ) -> bool {
        let Some(mut watch) = self.watch.take() else { return false };
        for index in selection.iter().map(|index| *index as usize) {
            if let Some(record) = self.batch.records.get(index).copied() {
                f(self, &mut watch, index, record);
            }
        }
        self.watch = Some(watch);
        true
    }
}

fn passed(holds: bool) -> Verdict {
    if holds { Verdict::Passed } else { Verdict::Stopped }
}
