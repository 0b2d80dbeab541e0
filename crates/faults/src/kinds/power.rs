//! The power goes: everything that was not synced is gone from the disk, and the process with it.

use crate::mount::Mount;
use crate::tally::Tally;
use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::thread::sleep;
use std::time::Duration;
use testkit::Signal;

/// Where the target stands is synced with the messages that come: what was delivered while two slow syncs ran may come twice. So many
/// batches of 256 KiB are 1 MiB.
const BATCHES: usize = 4;
/// Without messages that come, it is synced with each MiB that is through, if the disk is as fast as that: a backlog leaves faster than
/// one that is busy syncs. So many batches are 8 MiB.
const BATCHES_OF_A_BACKLOG: usize = 32;
/// What waits when only what waits is sent.
const COUNT: u64 = 100_000;
const PATIENCE: Duration = Duration::from_secs(60);

pub fn loss(plan: &Plan) -> Verdict {
    run(plan, false)
}

/// While what waits is sent, and nothing comes.
pub fn drain(plan: &Plan) -> Verdict {
    run(plan, true)
}

fn run(plan: &Plan, drain: bool) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::new(folder.dir(), 1024) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::on(&mount);
    let mut chance = Chance(plan.seed);
    let source = if drain { trial.exactly(0) } else { trial.source() };
    let (mut doubled, mut most) = (0, 0);
    for round in 0..plan.rounds {
        // The last of each three: with nobody to take the messages.
        match drain || round % 3 == 2 {
            true => trial.target.down(),
            false => trial.target.up(),
        }
        let Some(penstock) = trial.start(&[]) else { break };
        if drain {
            source.raise(COUNT);
            if !reached(PATIENCE, || source.is_finished()) {
                trial.problem(format!("{} of {} acknowledged", source.acknowledged(), source.sent()));
            }
            trial.target.up();
        }
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
        // What came twice since then was doubled by the loss before.
        let now = Tally::of(source.sent(), 0, &trial.target.numbers()).doubled;
        most = most.max(now - doubled);
        doubled = now;
    }
    trial.note(format!(
        "about {most} doubled by one loss at most, {:.0} on average",
        doubled as f64 / plan.rounds as f64
    ));
    trial.end(&source, plan, plan.rounds * if drain { BATCHES_OF_A_BACKLOG } else { BATCHES })
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
