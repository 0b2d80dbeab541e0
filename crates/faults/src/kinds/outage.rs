//! The target is away, comes and goes, is slow.

use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Dead for many messages.
pub fn dead(plan: &Plan) -> Verdict {
    let count: u64 = if plan.short { 300_000 } else { 20_000_000 };
    let mut trial = Trial::new();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let patience = Duration::from_secs(60 + count / 10_000);
    let (began, source) = (Instant::now(), trial.exactly(count));
    if !reached(patience, || source.is_finished()) {
        trial.problem(format!("{} of {count} acknowledged", source.acknowledged()));
    }
    let (stored, began) = (began.elapsed(), Instant::now());
    trial.target.up();
    let target = &trial.target;
    reached(patience, || target.received() as u64 >= count);
    let rate = |took: Duration| count as f64 / took.as_secs_f64() / 1000.0;
    let drained = rate(began.elapsed());
    trial.note(format!("stored at {:.0}, drained at {drained:.0} thousand a second", rate(stored)));
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
