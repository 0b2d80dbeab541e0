//! The way of messages from end to end, and the steps that are run in one way when somebody watches and in
//! another when nobody does.

use super::{After, Run};
use crate::driver::Destination;
use crate::program::{Branch, ParseOp, Program, Step};

impl Run<'_, '_> {
    /// Takes messages all the way.
    pub(super) fn pass(&mut self, program: &Program, selection: &mut Vec<u32>) {
        let joined = self.batch.joined();
        let arrived = self.watched_arrival(selection);
        if !program.source_steps.is_empty() {
            self.steps(&program.source_steps, selection);
        }
        let matched = self.branches(&program.branches, selection, After::Nothing);
        self.deliver_ordered(program);
        if self.watch.is_some() {
            let mut arrived = arrived.unwrap_or_default();
            arrived.extend(self.joined_since(joined));
            self.watched_end(&arrived);
        }
        self.recycle(matched);
    }

    /// Runs a branch from its `skip`-th step on. `entered` messages came to it, where that is counted.
    pub(super) fn branch(&mut self, branch: &Branch, skip: usize, entered: usize, selection: &mut Vec<u32>) {
        if let Some(flow_control) = branch.flow_control {
            self.out.flow_control = flow_control;
        }
        let steps = branch.steps.get(skip..).unwrap_or_default();
        let watched = self.watched_entry(branch, selection);
        let Some(counters) = &branch.counters else {
            self.steps(steps, selection);
            return self.watched_exit(watched, selection);
        };
        let joined = self.batch.joined();
        self.machine.reached.next_path();
        self.steps(steps, selection);
        self.watched_exit(watched, selection);
        // Messages made on this path come in here.
        let entered = entered + self.batch.joined() - joined;
        counters.left(entered, self.messages(selection), self.machine.reached.here());
    }

    pub(super) fn parse(&mut self, step: &Step, op: &ParseOp, selection: &mut Vec<u32>) {
        let Some(place) = op.place else { return self.parse_now(step, op, selection) };
        let Some(turn) = self.scratch.turn.take() else { return self.parse_now(step, op, selection) };
        turn.take(place, || self.parse_now(step, op, selection));
        self.scratch.turn = Some(turn);
    }

    fn parse_now(&mut self, step: &Step, op: &ParseOp, selection: &mut Vec<u32>) {
        if !self.watched_parse(step, op, selection) {
            op.parser.parse(self.batch, selection, &mut self.scratch.filter);
        }
    }

    pub(super) fn deliver(&mut self, step: &Step, destination: &dyn Destination, selection: &[u32]) {
        if !self.watched_deliver(step, destination, selection) {
            destination.format(self.batch, selection, self.scratch, self.out);
        }
    }
}
