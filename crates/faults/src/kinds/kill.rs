//! SIGKILL at any moment under load.

use crate::trial::{Chance, Plan, Trial, Verdict};
use std::thread::sleep;

pub fn up(plan: &Plan) -> Verdict {
    run(plan, false)
}

/// The target is away half of the time, so that what waits comes from the disk.
pub fn down(plan: &Plan) -> Verdict {
    run(plan, true)
}

fn run(plan: &Plan, away: bool) -> Verdict {
    let mut trial = Trial::new();
    let mut chance = Chance(plan.seed);
    let source = trial.source();
    trial.target.up();
    for round in 0..plan.rounds {
        if away {
            match round % 2 {
                0 => trial.target.down(),
                _ => trial.target.up(),
            }
        }
        let Some(penstock) = trial.start(&[]) else { break };
        sleep(chance.milliseconds(20, 250));
        trial.kill(penstock);
    }
    trial.end(&source, plan, plan.rounds)
}
