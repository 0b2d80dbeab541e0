//! Whether a message may fail on its way after something of it was changed. In most branches nothing can:
//! they test, then parse, then rewrite. Of such a branch no old records have to be kept.

use super::{Branches, Op, Step};

/// Whether these steps, in their order, may leave a message changed that does not come through.
pub fn of(steps: &[Step]) -> bool {
    let mut written = false;
    steps.iter().any(|step| {
        let spoils = step_spoils(step) || written && may_fail(step);
        written |= step.writes();
        spoils
    })
}

fn step_spoils(step: &Step) -> bool {
    match &step.op {
        // It may store what one of its patterns matched before another one fails.
        Op::Filter(filter) => filter.writes,
        Op::FilterX(_) => true,
        // What could not be parsed is as it was.
        Op::Parse(parse) => parse.parser.state().is_some(),
        Op::Fork(branches) | Op::Join(branches) => branches.list.iter().any(|branch| branch.spoils),
        Op::Rewrite(_) | Op::Deliver(_) | Op::DeliverOrdered(_) => false,
    }
}

fn may_fail(step: &Step) -> bool {
    match &step.op {
        Op::Filter(_) | Op::FilterX(_) | Op::Parse(_) => true,
        Op::Fork(branches) => !branches.all_go_on,
        Op::Join(branches) => joins_less(branches),
        Op::Rewrite(_) | Op::Deliver(_) | Op::DeliverOrdered(_) => false,
    }
}

/// Whether some message may come through no branch: there is none that takes all, or one that claims a
/// message may lose it.
fn joins_less(branches: &Branches) -> bool {
    let loses = |steps: &[Step]| steps.iter().any(may_fail);
    let mut claiming = branches.list.iter().filter(|branch| branch.claims);
    branches.list.iter().all(|branch| loses(&branch.steps))
        || claiming.any(|branch| loses(branch.steps.get(1..).unwrap_or_default()))
}
