//! What the parsers of a program want to know before the first message of a file comes.

use super::{Branches, Op, Program, Step};
use parsers::Gate;
use parsers::kubernetes::pods::Wake;
use std::sync::Arc;
use std::time::Duration;

impl Program {
    pub(super) fn find_gates(&self) -> Vec<Arc<dyn Gate>> {
        let mut gates = Vec::new();
        of_steps(&self.source_steps, &mut gates);
        of_branches(&self.branches, &mut gates);
        gates
    }

    /// Whether a file may be read now, see [`Gate::is_open`].
    pub fn may_begin(&self, file: &[u8], waited: Option<Duration>, wake: &dyn Fn() -> Wake) -> bool {
        // All are asked: what one waits for is found meanwhile by the others.
        self.gates.iter().fold(true, |open, gate| gate.is_open(file, waited, wake) & open)
    }
}

fn of_steps(steps: &[Step], gates: &mut Vec<Arc<dyn Gate>>) {
    for step in steps {
        match &step.op {
            Op::Parse(parse) => gates.extend(parse.parser.gate()),
            Op::Fork(branches) | Op::Join(branches) => of_branches(branches, gates),
            _ => {}
        }
    }
}

fn of_branches(branches: &Branches, gates: &mut Vec<Arc<dyn Gate>>) {
    branches.list.iter().for_each(|branch| of_steps(&branch.steps, gates));
}
