//! Everything at once, in random order: reloads of every kind at capacity, renames, removals, additions, take-overs, kills and receivers
//! that come and go. Judged by what receivers wrote down and senders were told.

use crate::source::WINDOW;
use crate::tally::Tally;
use crate::trial::{Chance, Plan, Verdict};
use crate::world::{By, Keeps, LANES, LINE_BYTES, Shape, World};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;

/// Steps of one storm.
const STEPS: u64 = 24;
/// What one break may make come again at one receiver: a batch under way, the windows of the RELP senders, and what may be on its way
/// from a file (docs/limits.md: bytes of one connection under way, twice that to disk-buffer()).
const DOUBLES_MAX: u64 = (256 * 1024 + 4 * 1024 * 1024) / LINE_BYTES + 2 * WINDOW;
/// Bytes on disk of the smallest queue: about 5,000 messages.
const CAPACITY_MIN: u64 = 1 << 20;

/// Each round is a storm with a seed of its own.
pub fn run(plan: &Plan) -> Verdict {
    let mut total = Tally::default();
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    let mut refused = 0;
    for round in 0..plan.rounds as u64 {
        let seed = plan.seed + round;
        let outcome = catch_unwind(AssertUnwindSafe(|| storm(seed)));
        total.rounds += 1;
        let (tally, wrong, story, times) = outcome.unwrap_or_else(|_| {
            (Tally::default(), vec!["the bench failed, see above".into()], Vec::new(), 0)
        });
        total.add(&tally);
        refused += times;
        if !wrong.is_empty() {
            println!("storm {seed} FAILED: {}", wrong.join("; "));
            println!("    again: ./x faults --only storm --rounds 1 --seed {seed}");
            story.iter().for_each(|step| println!("    {step}"));
            problems.push(format!("seed {seed}"));
        }
    }
    if refused > 0 {
        notes.push(format!("{refused} reloads were refused"));
    }
    Verdict::Ran { tally: total, restart_ms: 0, problems, notes }
}

type Outcome = (Tally, Vec<String>, Vec<String>, u64);

fn storm(seed: u64) -> Outcome {
    let mut chance = Chance(seed);
    let disk = |chance: &mut Chance| Keeps::OnDisk {
        reliable: chance.below(2) == 0,
        capacity_bytes: CAPACITY_MIN << chance.below(3),
    };
    let keeps = match chance.below(3) {
        0 => vec![disk(&mut chance), Keeps::InMemory],
        1 => vec![disk(&mut chance), disk(&mut chance)],
        _ => vec![disk(&mut chance), Keeps::InMemory, disk(&mut chance)],
    };
    let outs = keeps.len() as u64;
    let mut world = World::start(Shape::of(&keeps));
    for _ in 0..STEPS {
        step(&mut world, &mut chance, outs);
        sleep(chance.milliseconds(1, 120));
    }
    world.settle(true);
    judged(world, "storm")
}

/// One thing happens.
fn step(world: &mut World, chance: &mut Chance, outs: u64) {
    for lane in 0..LANES {
        if chance.below(2) == 0 {
            world.send(lane, chance.below(4000));
        }
    }
    let out = chance.below(outs) as usize;
    match chance.below(10) {
        0 | 1 => {
            world.story.push(format!("receiver {out} goes"));
            world.target(out, false);
        }
        2..=4 => {
            world.story.push(format!("receiver {out} comes"));
            world.target(out, true);
        }
        5 => world.targets[out].slow(chance.below(30)),
        _ => {
            let next = changed(&world.shape, chance, out);
            let by = match chance.below(10) {
                0..=5 => By::Reload,
                6 | 7 => By::Kill,
                8 => By::Stop,
                _ => By::TakeOver,
            };
            // A refusal leaves everything as it was, and is counted.
            if let Err(why) = world.change(next, by) {
                world.story.push(format!("refused: {why}"));
            }
        }
    }
}

/// Another configuration: one thing of it is different.
fn changed(shape: &Shape, chance: &mut Chance, out: usize) -> Shape {
    let mut next = shape.clone();
    let there = next.outs.iter().filter(|out| out.there).count();
    let one = &mut next.outs[out];
    match chance.below(12) {
        0 | 1 => one.time_reopen = 1 + chance.below(5),
        2 => one.log_fifo_size = [100, 1000, 10_000][chance.below(3) as usize],
        3 | 4 => {
            if let Keeps::OnDisk { reliable, .. } = &mut one.keeps {
                *reliable = !*reliable;
            }
        }
        5 => {
            if let Keeps::OnDisk { capacity_bytes, .. } = &mut one.keeps {
                *capacity_bytes = CAPACITY_MIN << chance.below(4);
            }
        }
        6 => one.name = format!("{}x", one.name),
        // The first stays: all lines of the file are owed to it. The path needs one at all events.
        7 if out > 0 && there > 1 => one.there = false,
        7 | 8 => one.there = true,
        9 => next.second = !next.second,
        10 => next.max_connections = 5 + chance.below(20),
        _ => one.more = ["", " so-keepalive(yes)", " flush-lines(100)"][chance.below(3) as usize].to_owned(),
    }
    next
}

/// The verdict over a world at rest.
pub fn judged(mut world: World, keep: &str) -> Outcome {
    let (sent, acknowledged) = (world.sent(), world.acknowledged());
    let mut total = Tally::default();
    for out in 0..world.targets.len() {
        let (tally, missing) = world.owed.judge(out, &sent, &acknowledged, &world.targets[out].numbers());
        for (what, count) in
            [("lost", tally.lost), ("reordered", tally.reordered), ("foreign", tally.unaccounted)]
        {
            if count > 0 {
                world.problem(format!("receiver {out}: {count} {what} ({})", missing.join(", ")));
            }
        }
        let doubles_max = world.breaks * DOUBLES_MAX;
        if tally.doubled > doubles_max {
            world.problem(format!("receiver {out}: {} doubled, at most {doubles_max} may be", tally.doubled));
        }
        let foreign = world.targets[out].foreign();
        if foreign > 0 {
            world.problem(format!("receiver {out}: {foreign} lines are no messages"));
        }
        total.add(&tally);
    }
    let kept = world.close(keep);
    let mut problems = std::mem::take(&mut world.problems);
    if !problems.is_empty() {
        problems.push(format!("log: {}", kept.display()));
    }
    (total, problems, std::mem::take(&mut world.story), world.refused)
}
