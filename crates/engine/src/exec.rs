//! Runs a program on a batch: selections narrow, branches fork and join, rewrites are undone where a branch
//! must not be seen.
//!
//! A copy of a record is a snapshot of its message, so isolation is a log of old records: nothing is copied
//! until it is written.

mod expressions;
mod heads;
mod made;
mod marks;
mod order;
mod ordered;
#[cfg(feature = "python")]
mod python;
mod reached;
mod remaining;
mod selected;
mod steps;
mod undo;
mod watched;

use crate::outbox::Outbox;
use crate::plan_map::StepId;
use crate::profile::{self, Doing};
use crate::program::{Branches, Op, Program, Scratch, Step};
use crate::watch::Watching;
use heads::{Head, Heads};
use made::Made;
use reached::Reached;
use record::{Batch, Flags, Record};
use remaining::Remaining;
use undo::Ended;

/// Reused between batches by one worker.
#[derive(Default)]
pub struct Machine {
    undo: Vec<(u32, Record)>,
    /// By record, where in `undo` it was saved last: of the old state it had when the branch at work began,
    /// one copy is enough.
    saved: Vec<u32>,
    /// Records that branches left beside others, and what each is a copy of; in the order of the records.
    copies: Vec<(u32, u32)>,
    spare: Vec<Vec<u32>>,
    marks: Vec<Vec<bool>>,
    ordered: Vec<Vec<u32>>,
    /// Of what is in `ordered`, which step it is from; where somebody watches.
    parked_by: Vec<(u32, StepId)>,
    reached: Reached,
    /// Messages that expressions have dropped: they go on nowhere, and count as matched where they stood.
    dropped: Vec<u32>,
}

/// What became of a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub routed: usize,
    pub unmatched: usize,
}

/// What the messages look like to whatever comes after a set of branches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    Nothing,
    /// As they were before the branches.
    Original,
    /// As each branch that matched left them.
    Joined,
}

struct Run<'a, 'w> {
    machine: &'a mut Machine,
    batch: &'a mut Batch,
    scratch: &'a mut Scratch,
    out: &'a mut Outbox,
    /// Writes are logged because somebody still needs the old state.
    isolated: bool,
    /// Where in the log the writes of the branch at work begin.
    mark: usize,
    /// Parsers with contexts are run even when no message reaches them.
    tick: bool,
    /// Messages that parsers have made of others.
    made: Made,
    /// A message may stand in a selection more than once.
    copied: bool,
    /// Of the destinations that get their messages in order, those that get nothing; empty if all do.
    closed: Vec<bool>,
    /// Somebody wants to know what happens to these messages.
    watch: Option<Watching<'w>>,
    /// Somebody wants to know it of messages that parsers make: becomes `watch` with the first of them.
    late: Option<Watching<'w>>,
}

impl Machine {
    /// Runs the program on all records of the batch. Output is in `out` afterwards.
    pub fn run(
        &mut self,
        program: &Program,
        batch: &mut Batch,
        scratch: &mut Scratch,
        out: &mut Outbox,
    ) -> Outcome {
        self.go(program, batch, scratch, out, false, None)
    }

    /// The same, message by message, told to whoever watches.
    pub(crate) fn run_watched(
        &mut self,
        program: &Program,
        batch: &mut Batch,
        scratch: &mut Scratch,
        out: &mut Outbox,
        watch: Watching<'_>,
    ) -> Outcome {
        self.go(program, batch, scratch, out, false, Some(watch))
    }

    /// Runs the program on an empty batch for what its contexts have to say.
    pub(crate) fn tick(
        &mut self,
        program: &Program,
        batch: &mut Batch,
        scratch: &mut Scratch,
        out: &mut Outbox,
        watch: Option<Watching<'_>>,
    ) {
        self.go(program, batch, scratch, out, true, watch);
    }

    fn go(
        &mut self,
        program: &Program,
        batch: &mut Batch,
        scratch: &mut Scratch,
        out: &mut Outbox,
        tick: bool,
        watch: Option<Watching<'_>>,
    ) -> Outcome {
        let total = batch.records.len();
        self.undo.clear();
        self.copies.clear();
        self.dropped.clear();
        self.ordered.resize_with(program.ordered.len(), Vec::new);
        let mut all = self.spare.pop().unwrap_or_default();
        all.clear();
        all.extend(0..total as u32);
        out.flow_control = false;
        out.own = batch.records.first().is_some_and(|record| record.flags.has(Flags::INTERNAL));
        self.reached.begin(total);
        // Of a connection whose batches several workers have, a batch has one turn at each parser with
        // contexts.
        let asks_origins = watch.as_ref().is_some_and(|watch| watch.asks_origins);
        let (late, watch) = match watch {
            Some(watch) if watch.is_late => (Some(watch), None),
            watch => (None, watch),
        };
        let one_by_one = watch.is_some() && !tick && !(program.is_stateful() && scratch.turn.is_some());
        let made = Made::default();
        scratch.filter.work.made_of = asks_origins.then(Vec::new);
        let closed = out.closes(&program.ordered);
        let mut run = Run {
            machine: self,
            batch,
            scratch,
            out,
            isolated: false,
            mark: 0,
            tick,
            made,
            copied: false,
            closed,
            watch,
            late,
        };
        match one_by_one {
            false => run.pass(program, &mut all),
            true => (0..total as u32).for_each(|index| run.pass(program, &mut vec![index])),
        }
        run.made.settle(run.batch, &run.machine.reached);
        run.recycle(all);
        run.scratch.filter.settle();
        let routed = self.reached.count(total);
        Outcome { routed, unmatched: total.saturating_sub(routed) }
    }
}

impl Run<'_, '_> {
    /// Runs a sequence; `selection` is narrowed to what matched to its end.
    fn steps(&mut self, steps: &[Step], selection: &mut Vec<u32>) {
        // What is selected was saved here: of rewrites that follow one another, the first does it for all.
        let mut is_saved = false;
        for step in steps {
            if selection.is_empty() {
                match self.tick {
                    false => return,
                    true if !step.is_stateful() => continue,
                    true => {}
                }
            }
            profile::mark(Doing::Steps, step.id.number());
            #[cfg(feature = "python")]
            let called = self.call(step, selection);
            match &step.op {
                Op::Filter(op) => {
                    if op.writes {
                        self.save(selection);
                        is_saved = true;
                    }
                    let before = selection.len();
                    if !self.watched_filter(step, op, selection) {
                        op.filter.select(self.batch, selection, &mut self.scratch.filter);
                    }
                    op.count(selection.len(), before - selection.len());
                }
                Op::Rewrite(rewrite) if rewrite.is_idle() && self.watch.is_none() => {}
                Op::Rewrite(rewrite) if !is_saved && self.rewrite_part(rewrite, selection) => {}
                Op::Rewrite(rewrite) => {
                    if !std::mem::replace(&mut is_saved, true) {
                        self.save(selection);
                    }
                    if !self.watched_rewrite(step, rewrite, selection) {
                        rewrite.apply(self.batch, selection, &mut self.scratch.filter);
                    }
                }
                Op::Parse(op) => {
                    let logged = self.machine.undo.len();
                    self.save(selection);
                    let (before, joined) = (selection.len(), self.batch.joined());
                    self.parse(step, op, selection);
                    // What could not be parsed is as it was.
                    if selection.is_empty() {
                        self.machine.undo.truncate(logged);
                    }
                    // What contexts have made was not parsed.
                    let made = self.batch.joined() - joined;
                    let matched = selection.len().saturating_sub(made);
                    op.count(matched, before.saturating_sub(matched));
                    self.made.note(joined..joined + made, &*op.parser);
                    self.watched_made(joined);
                    is_saved = made == 0;
                }
                Op::FilterX(op) => self.expressions(step, op, selection),
                Op::Fork(branches) => {
                    // What follows an embedded log{} still sees the message as it was here.
                    let dropped = self.machine.dropped.len();
                    let matched = self.branches(branches, selection, After::Original);
                    self.machine.dropped.truncate(dropped);
                    if let Some(counters) = &branches.counters {
                        counters.matched.add(matched.len());
                        counters.not_matched.add(selection.len().saturating_sub(matched.len()));
                    }
                    self.recycle(match branches.all_go_on {
                        true => matched,
                        false => std::mem::replace(selection, matched),
                    });
                }
                Op::Join(branches) => {
                    let (entered, made) = (self.messages(selection), self.batch.joined());
                    let joined = self.branches(branches, selection, After::Joined);
                    if let Some(counters) = &branches.counters {
                        let matched = self.messages(&joined);
                        let entered = entered + self.batch.joined() - made;
                        counters.matched.add(matched);
                        counters.not_matched.add(entered.saturating_sub(matched));
                    }
                    self.recycle(std::mem::replace(selection, joined));
                }
                Op::Deliver(destination) if self.out.is_closed_to(&**destination) => {}
                Op::DeliverOrdered(index) if self.closed.get(*index) == Some(&true) => {}
                Op::Deliver(destination) => {
                    self.machine.reached.note(self.batch, selection);
                    self.deliver(step, &**destination, selection);
                }
                Op::DeliverOrdered(index) => {
                    self.machine.reached.note(self.batch, selection);
                    self.park(step.id, *index, selection);
                }
            }
            is_saved &= !matches!(step.op, Op::FilterX(_) | Op::Fork(_) | Op::Join(_));
            #[cfg(feature = "python")]
            if called.is_some() {
                self.forget_calls(step, called);
            }
        }
    }

    /// Runs sibling branches by the rules of final and fallback. Returns what at least one of them matched;
    /// with [`After::Joined`] once per branch that matched.
    fn branches(&mut self, all: &Branches, input: &[u32], after: After) -> Vec<u32> {
        let branches = all.list.as_slice();
        let mut result = self.selection();
        let outer_isolated = self.isolated;
        let outer_flow = self.out.flow_control;
        if let ([only], After::Nothing) = (branches, after) {
            result.extend_from_slice(input);
            let entered = only.counters.as_ref().map_or(0, |_| self.messages(input));
            self.branch(only, 0, entered, &mut result);
            self.out.flow_control = outer_flow;
            return result;
        }
        let mut remaining = Remaining::of(input, self.selection());
        // What branches took that are not final, and what final ones did: later branches do not see that.
        let (mut taken, mut gone) = (self.marks(), self.marks());
        let last = branches.len().saturating_sub(1);
        let fallbacks = branches.iter().any(|b| b.fallback);
        let mut heads = Heads::default();
        // So far nothing goes on that a later branch may take as well.
        let mut exclusive = true;
        for pass_fallback in [false, true] {
            if pass_fallback {
                if !fallbacks {
                    break;
                }
                remaining.without(self, &taken);
                remaining.without(self, &gone);
            }
            for (at, branch) in branches.iter().enumerate().filter(|(_, b)| b.fallback == pass_fallback) {
                if remaining.len() == 0 {
                    match self.tick {
                        false => break,
                        true if !branch.is_stateful() => continue,
                        true => {}
                    }
                }
                let mut matched = self.selection();
                let mut skip = match self.head(all, at, &mut heads, (&mut remaining, &gone), &mut matched) {
                    Head::Open => 0,
                    Head::Asked(done) => done,
                    // Of hundreds of siblings most have nothing to do.
                    Head::Passed => {
                        if let Some(counters) = &branch.counters {
                            counters.left(remaining.messages(self, &gone), 0, 0);
                        }
                        self.recycle(matched);
                        continue;
                    }
                };
                let (mark, outer_mark) = (self.machine.undo.len(), self.mark);
                let is_last = at == last && !fallbacks;
                let isolates = branch.writes && !self.is_unseen(branch, is_last, after, exclusive);
                if isolates {
                    (self.isolated, self.mark) = (true, mark);
                }
                let entered = branch.counters.as_ref().map_or(0, |_| remaining.messages(self, &gone));
                let mut newly_gone = 0;
                let dropped = self.machine.dropped.len();
                // Only branches of `if` claim, and those are final.
                if branch.claims {
                    self.steps(branch.steps.get(skip..1).unwrap_or_default(), &mut matched);
                    skip = 1;
                    newly_gone = self.take(&matched, &mut gone);
                }
                self.branch(branch, skip, entered, &mut matched);
                self.out.flow_control = outer_flow;
                let marks = if branch.is_final { &mut gone } else { &mut taken };
                let newly_marked = self.take(&matched, marks) + self.take_dropped(dropped, marks);
                newly_gone += if branch.is_final { newly_marked } else { 0 };
                let before = if exclusive { &[] } else { result.as_slice() };
                // What joins from the last branch may be the messages themselves, if no other one left any.
                let is_final = branch.is_final || is_last && exclusive;
                let ended = Ended { has_written: isolates, mark, is_final, after };
                let undone = self.settle(&ended, &mut matched, before);
                (self.isolated, self.mark) = (outer_isolated, outer_mark);
                if !outer_isolated || undone {
                    self.machine.undo.truncate(mark);
                }
                if newly_gone > 0 {
                    remaining.took(newly_gone);
                    heads.taken();
                }
                if after == After::Joined && !matched.is_empty() {
                    self.copied |= !result.is_empty() && !exclusive;
                    exclusive &= branch.is_final;
                    result.extend_from_slice(&matched);
                }
                self.recycle(matched);
            }
        }
        for selection in heads.answers {
            self.recycle(selection);
        }
        if after == After::Joined {
            self.in_order(input, taken.len(), &mut result);
        } else {
            let is_taken = |i: &&u32| self.is_taken(&taken, **i) || self.is_taken(&gone, **i);
            result.extend(input.iter().filter(is_taken));
        }
        self.recycle(remaining.into_list());
        self.put_back(taken, input);
        self.put_back(gone, input);
        result
    }
}

#[cfg(test)]
pub(crate) mod tests;
