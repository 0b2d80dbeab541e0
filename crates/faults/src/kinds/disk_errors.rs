//! The disk says no: errors at single calls by injection, a full disk, one that may not be written to.

use super::syscalls::has_strace;
use crate::mount::Mount;
use crate::trial::{Chance, Plan, Trial, Verdict, reached};
use std::time::Duration;

const COUNT: u64 = 3000;
/// Calls of `pread64` by which the system's loader reads libraries, with some to spare: it ends the process
/// when one fails.
const LOADER_READS: u64 = 8;
const PATIENCE: Duration = Duration::from_secs(20);

/// A failed fdatasync is no success, and the next one that succeeds does not make it one.
pub fn fdatasync(plan: &Plan) -> Verdict {
    inject(plan, |at| format!("fdatasync:error=EIO:when={at}"))
}

/// What waits cannot be read for a while: that costs nothing of it.
pub fn read(plan: &Plan) -> Verdict {
    inject(plan, |at| format!("pread64:error=EIO:when={}..{}", at + LOADER_READS, at + LOADER_READS + 7))
}

/// No room for a while.
pub fn write(plan: &Plan) -> Verdict {
    inject(plan, |at| format!("pwrite64:error=ENOSPC:when={at}..{}", at + 3))
}

fn inject(plan: &Plan, what: impl Fn(u64) -> String) -> Verdict {
    if !has_strace() {
        return Verdict::Skipped("strace is not installed, or may not trace".to_owned());
    }
    let mut trial = Trial::new();
    let mut chance = Chance(plan.seed);
    let source = trial.exactly(0);
    for _ in 0..plan.rounds {
        let what = what(1 + chance.below(30));
        let trace = format!("trace={}", what.split(':').next().unwrap_or_default());
        let inject = format!("inject={what}");
        source.raise(COUNT);
        trial.target.down();
        let Some(mut penstock) =
            trial.start(&["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject])
        else {
            trial.problem(format!("ended at {what}"));
            break;
        };
        let all = reached(PATIENCE, || source.is_finished() || penstock.process().ended().is_some());
        if !all || penstock.process().ended().is_some() {
            trial.problem(format!(
                "{} of {} acknowledged after {what}",
                source.acknowledged(),
                source.sent()
            ));
        }
        trial.kill(penstock);
    }
    trial.end(&source, plan, plan.rounds)
}

/// Nothing is acknowledged that has no room, and everything goes on when there is.
pub fn full(plan: &Plan) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::new(folder.dir(), 192) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::on(&mount);
    let source = trial.source();
    let Some(mut penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    for _ in 0..plan.rounds {
        trial.target.down();
        let (mut last, mut since) = (source.acknowledged(), std::time::Instant::now());
        let stopped = reached(Duration::from_secs(120), || {
            let now = source.acknowledged();
            if now != last {
                (last, since) = (now, std::time::Instant::now());
            }
            since.elapsed() > Duration::from_secs(1)
        });
        if !stopped || penstock.process().ended().is_some() {
            trial.problem("a full disk is not noticed");
            break;
        }
        trial.target.up();
        if !reached(Duration::from_secs(60), || source.acknowledged() > last + 1000) {
            trial.problem("does not go on when there is room again");
            break;
        }
        trial.round();
    }
    trial.settle(&source, penstock);
    trial.verdict(plan, plan.rounds)
}

/// Room enough, and no file can be made.
pub fn no_inodes(plan: &Plan) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::made(folder.dir(), 1024, &["-N", "64"]) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::on(&mount);
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.exactly(0);
    for _ in 0..plan.rounds {
        trial.target.down();
        let taken: Vec<_> = (0..)
            .map(|n| mount.folder().join(format!("taken{n}")))
            .take_while(|path| std::fs::File::create(path).is_ok())
            .collect();
        // More than a segment holds.
        source.raise(500_000);
        reached(PATIENCE, || source.is_finished());
        for path in taken {
            let _ = std::fs::remove_file(path);
        }
        if !reached(PATIENCE, || source.is_finished()) {
            trial.problem("does not go on when files can be made again");
        }
        trial.target.up();
        trial.round();
    }
    trial.settle(&source, penstock);
    trial.verdict(plan, plan.rounds)
}

/// A store that cannot be written to is said before anything is acknowledged.
pub fn read_only(plan: &Plan) -> Verdict {
    let folder = testkit::Lab::new();
    let mount = match Mount::new(folder.dir(), 192) {
        Ok(mount) => mount,
        Err(why) => return Verdict::Skipped(why),
    };
    let mut trial = Trial::on(&mount);
    let source = trial.exactly(0);
    trial.target.up();
    for _ in 0..plan.rounds {
        source.raise(COUNT);
        if let Some(penstock) = trial.begin() {
            reached(PATIENCE, || source.is_finished());
            trial.kill(penstock);
        }
        if let Err(error) = mount.read_only(true) {
            trial.problem(error);
            break;
        }
        let before = source.acknowledged();
        source.raise(COUNT);
        if let Some(penstock) = trial.start(&[]) {
            std::thread::sleep(Duration::from_millis(200));
            trial.kill(penstock);
        }
        if source.acknowledged() > before {
            trial.problem("acknowledged what could not be written");
        }
        if let Err(error) = mount.read_only(false) {
            trial.problem(error);
            break;
        }
    }
    trial.end(&source, plan, 2 * plan.rounds)
}
