//! The target is away, comes and goes, is slow.

use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::thread::sleep;
use std::time::Duration;

/// Dead for many messages.
pub fn dead(plan: &Plan) -> Verdict {
    let count = if plan.long { 20_000_000 } else { 300_000 };
    let mut trial = Trial::new();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.exactly(count);
    if !reached(Duration::from_secs(count / 1000), || source.is_finished()) {
        trial.problem(format!("{} of {count} acknowledged", source.acknowledged()));
    }
    trial.target.up();
    let target = &trial.target;
    reached(Duration::from_secs(count / 1000), || target.received() as u64 >= count);
    trial.round();
    trial.settle(&source, penstock);
    trial.verdict(plan, 0)
}

pub fn flapping(plan: &Plan) -> Verdict {
    let mut trial = Trial::new();
    let mut chance = Chance(plan.seed);
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.source();
    for _ in 0..plan.rounds {
        trial.target.up();
        sleep(chance.milliseconds(20, 200));
        trial.target.down();
        sleep(chance.milliseconds(1, 50));
        trial.round();
    }
    trial.settle(&source, penstock);
    trial.verdict(plan, plan.rounds)
}

pub fn slow(plan: &Plan) -> Verdict {
    let count = if plan.long { 2_000_000 } else { 100_000 };
    let mut trial = Trial::new();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    trial.target.up();
    trial.target.slow(20);
    let source = trial.exactly(count);
    if !reached(Duration::from_secs(60), || source.is_finished()) {
        trial.problem(format!("{} of {count} acknowledged while the target is slow", source.acknowledged()));
    }
    trial.target.slow(0);
    trial.round();
    trial.settle(&source, penstock);
    trial.verdict(plan, 0)
}
