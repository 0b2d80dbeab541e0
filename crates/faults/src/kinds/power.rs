//! The power goes: everything that was not synced is gone from the disk, and the process with it.

use crate::mount::Mount;
use crate::trial::{Chance, Plan, Trial, Verdict};
use std::thread::sleep;

/// Where the target stands is synced with the messages that come: what was delivered while two slow syncs ran may come twice.
const BATCHES: usize = 16;

pub fn loss(plan: &Plan) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::new(folder.dir(), 1024) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::new(Some(mount.folder().join("state")));
    let mut chance = Chance(plan.seed);
    let source = trial.source();
    trial.target.up();
    for round in 0..plan.rounds {
        // The last of each three: with nobody to take the messages.
        match round % 3 {
            2 => trial.target.down(),
            _ => trial.target.up(),
        }
        let Some(penstock) = trial.start(&[]) else { break };
        sleep(chance.milliseconds(10, 200));
        mount.lose_power();
        trial.kill(penstock);
        if let Err(error) = mount.restore() {
            trial.problem(error);
            break;
        }
    }
    match trial.start(&[]) {
        Some(penstock) => trial.settle(&source, penstock),
        None => trial.problem("does not start any more"),
    }
    trial.verdict(plan, plan.rounds * BATCHES)
}
