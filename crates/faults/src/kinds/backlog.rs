//! Killed with a gibibyte waiting: how soon connections are taken again, and whether all of it arrives.

use crate::source::{Load, Source};
use crate::trial::{Plan, Trial, Verdict, reached};
use std::time::Duration;

const BYTES: u64 = 1 << 30;
/// Length of a message, in paddings of the source.
const TIMES: usize = 40;

pub fn run(plan: &Plan) -> Verdict {
    let mut trial = Trial::new();
    let count = BYTES / (TIMES as u64 * 180);
    let load = Load { count, times: TIMES, ..Load::default() };
    let source = Source::start(trial.lab.port("in"), load);
    for _ in 0..plan.rounds {
        let Some(penstock) = trial.start(&[]) else { break };
        if !reached(Duration::from_secs(120), || source.is_finished()) {
            trial.problem(format!("{} of {count} acknowledged", source.acknowledged()));
        }
        trial.kill(penstock);
    }
    trial.end(&source, plan, plan.rounds)
}
