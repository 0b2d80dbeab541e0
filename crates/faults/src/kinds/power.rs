//! The power goes: everything that was not synced is gone from the disk, and the process with it.

use crate::mount::Mount;
use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::thread::sleep;
use std::time::Duration;
use testkit::Signal;

/// Where the target stands is synced with the messages that come: what was delivered while two slow syncs ran may come twice.
const BATCHES: usize = 16;

pub fn loss(plan: &Plan) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::new(folder.dir(), 1024) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::on(&mount);
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
        // The processor stops with the disk: nothing is said any more of what the dying file system answers.
        penstock.signal(Signal::STOP);
        reached(Duration::from_secs(1), || is_stopped(penstock.id()));
        mount.lose_power();
        trial.kill(penstock);
        if let Err(error) = mount.restore() {
            trial.problem(error);
            break;
        }
    }
    trial.end(&source, plan, plan.rounds * BATCHES)
}

/// Whether every thread has stopped.
fn is_stopped(id: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        // Behind the name, which is in brackets: T is stopped, D in a call that will not come back to it.
        stat.rsplit(')')
            .next()
            .is_some_and(|rest| matches!(rest.trim_start().as_bytes().first(), None | Some(b'T' | b'D')))
    })
}
