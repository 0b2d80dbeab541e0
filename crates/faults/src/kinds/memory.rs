//! Twenty million messages wait for a dead target, and the program has 256 MiB: it is never killed, and its
//! memory stays what it was.

use crate::cgroup::Group;
use crate::trial::{Plan, Trial, Verdict, reached};
use std::time::{Duration, Instant};

const LIMIT: u64 = 256 << 20;
/// What may come to it after the first quarter of the messages: the 32 MiB a destination has in memory while
/// it takes messages, and what is on its way to it.
const MORE_MAX: u64 = 48 << 20;
/// More it may not have at any time, whatever it had at first.
const RESIDENT_MAX: u64 = 160 << 20;
const QUARTERS: u64 = 4;

pub fn limited(plan: &Plan) -> Verdict {
    let group = match Group::new(LIMIT) {
        Ok(group) => group,
        Err(why) => return Verdict::Skipped(format!("memory cannot be limited here: {why}")),
    };
    let count = if plan.short { 200_000 } else { 20_000_000 };
    let mut trial = Trial::new();
    let words = group.enter();
    let Some(mut penstock) = trial.start(&words.each_ref().map(String::as_str)) else {
        trial.problem("does not start");
        return trial.verdict(plan, 0);
    };
    let id = penstock.id();
    let (began, source) = (Instant::now(), trial.exactly(count));
    let patience = Duration::from_secs(60 + count / 10_000);
    let (mut quarters, mut most, mut looked) = (Vec::new(), Memory::default(), Instant::now());
    let look = |most: &mut Memory| {
        let now = Memory { resident: resident(id), anonymous: group.anonymous() };
        most.resident = most.resident.max(now.resident);
        most.anonymous = most.anonymous.max(now.anonymous);
        now
    };
    let stored = reached(patience, || {
        if source.acknowledged() * QUARTERS >= (quarters.len() as u64 + 1) * count {
            quarters.push(look(&mut most).resident);
        } else if looked.elapsed() > Duration::from_millis(100) {
            looked = Instant::now();
            look(&mut most);
        }
        source.is_finished() || penstock.process().ended().is_some()
    });
    let took = began.elapsed();
    if !stored || penstock.process().ended().is_some() {
        trial.problem(format!("{} of {count} acknowledged", source.acknowledged()));
        return trial.verdict(plan, 0);
    }
    let began = Instant::now();
    trial.target.up();
    let target = &trial.target;
    let drained = reached(patience, || {
        if looked.elapsed() > Duration::from_millis(100) {
            looked = Instant::now();
            look(&mut most);
        }
        target.received() as u64 >= count || penstock.process().ended().is_some()
    });
    let drain = began.elapsed();
    if !drained || penstock.process().ended().is_some() {
        trial.problem(format!("{} of {count} delivered", trial.target.received()));
        return trial.verdict(plan, 0);
    }
    trial.round();
    let (peak, kills) = (group.peak(), group.kills());
    trial.settle(&source, penstock);
    let first = quarters.first().copied().unwrap_or(0);
    if most.resident > first + MORE_MAX {
        trial.problem(format!("from {} to {} MiB", mib(first), mib(most.resident)));
    }
    if most.resident > RESIDENT_MAX {
        trial.problem(format!("{} MiB, at most {} may be", mib(most.resident), mib(RESIDENT_MAX)));
    }
    if kills > 0 {
        trial.problem(format!("{kills} killed for want of memory"));
    }
    let rate = |took: Duration| count as f64 / took.as_secs_f64() / 1000.0;
    let each: Vec<String> = quarters.iter().map(|bytes| mib(*bytes).to_string()).collect();
    trial.note(format!(
        "limit {} MiB: RSS {} MiB after each quarter, at most {}; of the group at most {} anonymous, {} with the pages of files; {kills} killed",
        mib(LIMIT),
        each.join(", "),
        mib(most.resident),
        mib(most.anonymous),
        mib(peak)
    ));
    trial.note(format!("stored at {:.0}, drained at {:.0} thousand a second", rate(took), rate(drain)));
    trial.verdict(plan, 0)
}

#[derive(Clone, Copy, Default)]
struct Memory {
    resident: u64,
    anonymous: u64,
}

fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

/// VmRSS of a process in bytes.
fn resident(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}
