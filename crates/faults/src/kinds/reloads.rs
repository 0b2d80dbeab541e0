//! A reload while a destination is stuck and everything is full: each change that keeps the destination, its
//! renaming and its removal.

use super::storm::judged;
use crate::tally::Tally;
use crate::trial::{Plan, Verdict};
use crate::world::{Beside, By, FILE, Keeps, Shape, World};

const SMALL: Keeps = Keeps::OnDisk { reliable: true, capacity_bytes: 1 << 20 };
/// More than a queue of that size takes.
const MANY: u64 = 8000;

type Change = fn(&mut Shape);

/// What a reload may change of a destination.
const CHANGES: &[(&str, Change)] = &[
    ("nothing", |_| {}),
    ("time-reopen", |shape| shape.outs[0].time_reopen = 2),
    ("log-fifo-size", |shape| shape.outs[0].log_fifo_size = 500),
    ("so-keepalive", |shape| shape.outs[0].more = " so-keepalive(yes)".into()),
    ("reliable(no)", |shape| {
        shape.outs[0].keeps = Keeps::OnDisk { reliable: false, capacity_bytes: 1 << 20 };
    }),
    ("more capacity", |shape| {
        shape.outs[0].keeps = Keeps::OnDisk { reliable: true, capacity_bytes: 4 << 20 };
    }),
    ("name", |shape| shape.outs[0].name = "other".into()),
    ("a source less", |shape| shape.second = false),
];

/// Its queue is full, and nothing more is read.
pub fn at_capacity(plan: &Plan) -> Verdict {
    rounds(plan, "capacity", |round, world| {
        let (what, change) = CHANGES[round % CHANGES.len()];
        world.tell(format!("change of {what}"));
        fill(world, MANY);
        let mut next = world.shape.clone();
        change(&mut next);
        let by = [By::Reload, By::Reload, By::TakeOver, By::Kill][round / CHANGES.len() % 4];
        world.change(next, by, Beside::Nothing)
    })
}

/// A destination without disk-buffer() has another name, and the same place.
pub fn renamed(plan: &Plan) -> Verdict {
    in_memory(plan, "renamed", |world| {
        let mut next = world.shape.clone();
        next.outs[0].name = "other".into();
        world.change(next, By::Reload, Beside::Nothing)
    })
}

/// It is gone, and comes back.
pub fn removed(plan: &Plan) -> Verdict {
    in_memory(plan, "removed", |world| {
        let mut next = world.shape.clone();
        next.outs[0].there = false;
        let done = world.change(next, By::Reload, Beside::Nothing);
        // What waited then is owed all the same: all of it had been read before.
        world.owed = crate::world::Owed::new(world.targets.len());
        done
    })
}

fn in_memory(plan: &Plan, keep: &str, change: impl Fn(&mut World) -> Result<(), String>) -> Verdict {
    let keeps = [Keeps::InMemory, Keeps::InMemory];
    worlds(plan, keep, &keeps, |_, world| {
        world.target(1, true);
        fill(world, 200);
        // Refused is one of the two right answers: then nothing has changed.
        match change(world) {
            Err(why) => world.tell(format!("refused: {why}")),
            Ok(()) => world.tell("done"),
        }
        Ok(())
    })
}

fn rounds(plan: &Plan, keep: &str, harm: impl Fn(usize, &mut World) -> Result<(), String>) -> Verdict {
    worlds(plan, keep, &[SMALL], harm)
}

fn worlds(
    plan: &Plan,
    keep: &str,
    keeps: &[Keeps],
    harm: impl Fn(usize, &mut World) -> Result<(), String>,
) -> Verdict {
    let mut total = Tally::default();
    let mut problems = Vec::new();
    for round in 0..plan.rounds {
        let mut world = World::start(Shape::of(keeps));
        if let Err(why) = harm(round, &mut world) {
            world.problem(format!("refused: {why}"));
        }
        world.settle();
        let outcome = judged(world, &format!("{keep}-{round}"));
        total.add(&outcome.tally);
        total.rounds += 1;
        if !outcome.problems.is_empty() {
            let (story, wrong) = (outcome.story.join("\n    "), outcome.problems.join(", "));
            problems.push(format!("round {round}: {wrong}\n    {story}"));
        }
    }
    Verdict::Ran { tally: total, restart_ms: 0, problems, notes: Vec::new() }
}

/// Nobody receives; the program has read what it takes.
fn fill(world: &mut World, count: u64) {
    world.send(0, count);
    world.send(1, count);
    world.send(FILE, count * 10);
    world.wait_full();
}
