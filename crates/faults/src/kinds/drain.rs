//! The target comes back while the sender goes on: what waits goes first, in order, and it catches up.

use crate::source::Source;
use crate::trial::{Plan, Trial, Verdict, reached};
use std::time::{Duration, Instant};

/// As many as this behind is level with the sender.
const LEVEL: u64 = 20_000;
/// Of the time in which the direct rate is measured.
const DIRECT: Duration = Duration::from_secs(5);

pub fn beside(plan: &Plan) -> Verdict {
    let count: u64 = match (plan.short, plan.long) {
        (true, _) => 100_000,
        (_, true) => 10_000_000,
        _ => 5_000_000,
    };
    let mut trial = Trial::new();
    let Some(penstock) = trial.begin() else { return trial.verdict(plan, 0) };
    let source = trial.source();
    let mut notes = Vec::new();
    for _ in 0..plan.rounds {
        trial.target.up();
        let target = &trial.target;
        let direct = match plan.short {
            true => Passed::within(target, &source, Duration::from_millis(200)),
            false => Passed::within(target, &source, DIRECT),
        };
        trial.target.down();
        let before = source.acknowledged();
        let patience = Duration::from_secs(60 + count / 10_000);
        if !reached(patience, || source.acknowledged() >= before + count) {
            trial.problem(format!("{} of {count} acknowledged", source.acknowledged() - before));
            break;
        }
        let passed = Passed::begin(&trial.target, &source);
        trial.target.up();
        let target = &trial.target;
        if !reached(patience, || target.received() as u64 + LEVEL >= source.acknowledged()) {
            trial.problem("does not catch up");
            break;
        }
        let drain = passed.end(&trial.target, &source);
        notes.push(format!(
            "{count} waiting: drained at {:.0} thousand a second while {:.0} came; direct relay: {:.0}",
            drain.0, drain.1, direct.0
        ));
        trial.round();
    }
    notes.into_iter().for_each(|note| trial.note(note));
    trial.settle(&source, penstock);
    trial.verdict(plan, 2 * plan.rounds)
}

/// What went out and what came in, in thousands a second.
struct Passed {
    began: Instant,
    out: u64,
    into: u64,
}

impl Passed {
    fn begin(target: &crate::target::Target, source: &Source) -> Passed {
        Passed { began: Instant::now(), out: target.received() as u64, into: source.acknowledged() }
    }

    fn end(self, target: &crate::target::Target, source: &Source) -> (f64, f64) {
        let ms = self.began.elapsed().as_secs_f64() * 1000.0;
        let out = target.received() as u64 - self.out;
        let into = source.acknowledged() - self.into;
        (out as f64 / ms, into as f64 / ms)
    }

    fn within(target: &crate::target::Target, source: &Source, time: Duration) -> (f64, f64) {
        let passed = Passed::begin(target, source);
        std::thread::sleep(time);
        passed.end(target, source)
    }
}
