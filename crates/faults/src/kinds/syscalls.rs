//! SIGKILL at the n-th call of one kind, by injection with strace(1).

use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Messages of one round.
const COUNT: u64 = 2000;
/// A round in which the call was never reached that often ends by itself.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn write(plan: &Plan) -> Verdict {
    run(plan, "write,pwrite64,writev,pwritev", 400)
}

pub fn fdatasync(plan: &Plan) -> Verdict {
    run(plan, "fdatasync,fsync", 40)
}

pub fn rename(plan: &Plan) -> Verdict {
    run(plan, "rename,renameat,renameat2", 6)
}

pub fn unlink(plan: &Plan) -> Verdict {
    run(plan, "unlink,unlinkat", 6)
}

pub fn fallocate(plan: &Plan) -> Verdict {
    run(plan, "fallocate,ftruncate", 8)
}

/// Whether calls can be injected here.
pub fn has_strace() -> bool {
    let mut command = Command::new("strace");
    command
        .args(["-f", "-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// With few rounds the calls are chosen at random below `calls`; with as many rounds as calls each has its
/// turn.
fn run(plan: &Plan, names: &str, calls: u64) -> Verdict {
    if !has_strace() {
        return Verdict::Skipped("strace is not installed, or may not trace".to_owned());
    }
    let mut trial = Trial::new();
    let mut chance = Chance(plan.seed);
    let source = trial.exactly(0);
    trial.target.up();
    for round in 0..plan.rounds {
        let at = if plan.rounds as u64 >= calls { round as u64 + 1 } else { 1 + chance.below(calls) };
        let inject = format!("inject={names}:signal=KILL:when={at}");
        let trace = format!("trace={names}");
        let tracer = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        // Half of the rounds with nobody to take the messages: then the disk is all there is.
        match round % 2 {
            0 => trial.target.up(),
            _ => trial.target.down(),
        }
        source.raise(COUNT);
        match trial.start(&tracer) {
            // Killed before it took connections.
            None => trial.round(),
            Some(mut penstock) => {
                let source = &source;
                reached(PATIENCE, || source.is_finished() || penstock.process().ended().is_some());
                trial.kill(penstock);
            }
        }
    }
    trial.end(&source, plan, plan.rounds)
}
