//! The power goes: everything that was not synced is gone from the disk, and the process with it.

use crate::mount::Mount;
use crate::source::{PADDING, Source, WINDOW, message};
use crate::tally::Tally;
use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::thread::sleep;
use std::time::Duration;
use testkit::Signal;

/// What waits when only what waits is sent.
const COUNT: u64 = 100_000;
/// With more than this waiting no more is added: on a busy machine a round sends only some of what it added.
const WAITING_MAX: u64 = 10 * COUNT;
/// What docs/durability.md promises of a loss of power: so much is delivered ahead of the disk while a
/// backlog is sent, and while messages come. Not the program's constants: it is the promise that is tested.
const AHEAD_BYTES: u64 = 4 << 20;
const AHEAD_BUSY_BYTES: u64 = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// What a loss may double: as much as is delivered before the disk knows of it, and what the source had no
/// answer for.
fn doubles_max(drain: bool) -> u64 {
    let line = message(0, PADDING).len() as u64 + 1;
    let ahead = if drain { AHEAD_BYTES } else { AHEAD_BUSY_BYTES };
    ahead / line + WINDOW
}

/// What came twice, loss by loss.
#[derive(Default)]
struct Doubled {
    before: u64,
    most: u64,
}

impl Doubled {
    /// What came twice since the last look was doubled by the loss before.
    fn look(&mut self, trial: &mut Trial, source: &Source, max: u64) {
        reached(PATIENCE, || trial.target.is_idle());
        let now = Tally::of(source.sent(), 0, &trial.target.numbers()).doubled;
        let one = now - self.before;
        if one > max {
            trial.problem(format!("{one} doubled by one loss, at most {max} may be"));
        }
        (self.before, self.most) = (now, self.most.max(one));
    }
}

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
    let (mut doubled, max) = (Doubled::default(), doubles_max(drain));
    for round in 0..plan.rounds {
        // The last of each three: with nobody to take the messages.
        match drain || round % 3 == 2 {
            true => trial.target.down(),
            false => trial.target.up(),
        }
        let Some(penstock) = trial.start(&[]) else { break };
        let delivered = (trial.target.received() as u64).saturating_sub(doubled.before);
        if drain && source.sent().saturating_sub(delivered) < WAITING_MAX {
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
        doubled.look(&mut trial, &source, max);
    }
    if let Some(penstock) = trial.begin() {
        trial.settle(&source, penstock);
    }
    doubled.look(&mut trial, &source, max);
    trial.note(format!(
        "{} doubled by one loss at most, {:.0} on average; {max} may be",
        doubled.most,
        doubled.before as f64 / plan.rounds as f64,
    ));
    // Each was judged by itself.
    trial.verdict_of(plan, plan.rounds as u64 * max)
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
