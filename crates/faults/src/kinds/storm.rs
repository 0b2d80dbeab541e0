//! Everything at once, in random order: reloads of every kind at capacity, renames, removals, additions,
//! take-overs, kills and receivers that come and go. Judged by what receivers wrote down and senders were
//! told.

use crate::source::WINDOW;
use crate::tally::{LANE, Tally};
use crate::trial::{Chance, Plan, Verdict};
use crate::world::{Beside, By, Keeps, LANES, LINE_BYTES, Out, Shape, Speaks, Victim, World};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{scope, sleep};
use std::time::Duration;

/// Steps of one storm.
const STEPS: u64 = 24;
/// What one break may make come again at one receiver: a batch under way, the windows of the RELP senders,
/// and what may be on its way from a file (docs/limits.md: bytes of one connection under way, twice that to
/// disk-buffer()).
const DOUBLES_MAX: u64 = (256 * 1024 + 4 * 1024 * 1024) / LINE_BYTES + 2 * WINDOW;
/// Bytes on disk of the smallest queue: about 5,000 messages.
const CAPACITY_MIN: u64 = 1 << 20;
/// What an answered destination sends at once, to begin with.
const BATCHES: &str = " batch-lines(1000) batch-bytes(128KiB)";
/// What happens beside a change happens within so many milliseconds after its beginning.
const BESIDE_MS: u64 = 40;

/// Which destinations a storm has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Any,
    /// All keep what waits with `disk-buffer(reliable(yes))`, from beginning to end.
    Reliable,
    /// As any, and one or all of them are answered.
    Answered,
}

pub fn any(plan: &Plan) -> Verdict {
    run(plan, Sort::Any)
}

pub fn reliable(plan: &Plan) -> Verdict {
    run(plan, Sort::Reliable)
}

pub fn answered(plan: &Plan) -> Verdict {
    run(plan, Sort::Answered)
}

/// Each round is a storm with a seed of its own.
fn run(plan: &Plan, sort: Sort) -> Verdict {
    let next = AtomicU64::new(0);
    let sum = Mutex::new(Sum::default());
    scope(|scope| {
        for _ in 0..plan.jobs {
            scope.spawn(|| {
                loop {
                    let round = next.fetch_add(1, Ordering::SeqCst);
                    if round >= plan.rounds as u64 {
                        return;
                    }
                    let seed = plan.seed + round;
                    let outcome = catch_unwind(AssertUnwindSafe(|| storm(seed, sort)));
                    sum.lock().unwrap_or_else(PoisonError::into_inner).add(sort, seed, outcome.ok());
                }
            });
        }
    });
    let sum = sum.into_inner().unwrap_or_else(PoisonError::into_inner);
    let happened: Vec<String> = sum.happened.iter().map(|(what, count)| format!("{what} {count}")).collect();
    Verdict::Ran { tally: sum.tally, restart_ms: 0, problems: sum.problems, notes: vec![happened.join(", ")] }
}

/// How often what happened.
type Happened = BTreeMap<&'static str, u64>;

/// What came of one storm.
pub struct Outcome {
    pub tally: Tally,
    pub problems: Vec<String>,
    pub story: Vec<String>,
    happened: Happened,
}

/// What came of all storms.
#[derive(Default)]
struct Sum {
    tally: Tally,
    problems: Vec<String>,
    happened: Happened,
}

impl Sum {
    fn add(&mut self, sort: Sort, seed: u64, outcome: Option<Outcome>) {
        let outcome = outcome.unwrap_or_else(|| Outcome {
            tally: Tally::default(),
            problems: vec!["the bench failed, see above".into()],
            story: Vec::new(),
            happened: Happened::new(),
        });
        self.tally.rounds += 1;
        self.tally.add(&outcome.tally);
        for (what, count) in outcome.happened {
            *self.happened.entry(what).or_default() += count;
        }
        if !outcome.problems.is_empty() {
            let name = sort.name();
            println!("{name} {seed} FAILED: {}", outcome.problems.join("; "));
            println!("    again: ./x faults --only {name} --rounds 1 --seed {seed}");
            outcome.story.iter().for_each(|step| println!("    {step}"));
            self.problems.push(format!("seed {seed}"));
        }
    }
}

impl Sort {
    fn name(self) -> &'static str {
        match self {
            Sort::Any => "storm-any",
            Sort::Reliable => "storm-reliable",
            Sort::Answered => "storm-answered",
        }
    }
}

fn storm(seed: u64, sort: Sort) -> Outcome {
    let mut chance = Chance(seed);
    let disk = |chance: &mut Chance| Keeps::OnDisk {
        reliable: chance.below(2) == 0 || sort == Sort::Reliable,
        capacity_bytes: CAPACITY_MIN << chance.below(3),
    };
    let keeps = match chance.below(3) {
        count if sort == Sort::Reliable => (0..2 + count % 2).map(|_| disk(&mut chance)).collect(),
        0 => vec![disk(&mut chance), Keeps::InMemory],
        1 => vec![disk(&mut chance), disk(&mut chance)],
        _ => vec![disk(&mut chance), Keeps::InMemory, disk(&mut chance)],
    };
    let mut shape = Shape::of(&keeps);
    if sort == Sort::Answered {
        let lines = chance.below(2 * keeps.len() as u64) as usize;
        for (_, out) in shape.outs.iter_mut().enumerate().filter(|(number, _)| *number != lines) {
            out.speaks = Speaks::Requests;
            out.more = BATCHES.to_owned();
        }
    }
    let mut storm = Storm { world: World::start(shape), chance, sort, happened: Happened::new() };
    for _ in 0..STEPS {
        storm.step();
        let pause = storm.chance.milliseconds(1, 120);
        sleep(pause);
    }
    let Storm { mut world, happened, .. } = storm;
    world.settle();
    Outcome { happened, ..judged(world, &format!("{}-{seed}", sort.name())) }
}

struct Storm {
    world: World,
    chance: Chance,
    sort: Sort,
    happened: Happened,
}

impl Storm {
    fn count(&mut self, what: &'static str) {
        *self.happened.entry(what).or_default() += 1;
    }

    /// One thing happens, or two at once.
    fn step(&mut self) {
        for lane in 0..LANES {
            if self.chance.below(2) == 0 {
                self.world.send(lane, self.chance.below(4000));
            }
        }
        let out = self.chance.below(self.world.targets.len() as u64) as usize;
        match self.chance.below(10) {
            0 | 1 => {
                self.world.tell(format!("receiver {out} goes"));
                self.world.target(out, false);
                self.count("receiver goes");
            }
            2..=4 => {
                self.world.tell(format!("receiver {out} comes"));
                self.world.target(out, true);
                self.count("receiver comes");
            }
            5 => {
                self.world.targets[out].slow(self.chance.below(30));
                self.count("receiver is slow");
            }
            _ => self.change(out),
        }
    }

    fn change(&mut self, out: usize) {
        let mut next = self.world.shape.clone();
        // Several of them at once as well.
        for _ in 0..1 + self.chance.below(3) / 2 {
            let one = self.chance.below(next.outs.len() as u64) as usize;
            let before = self.world.shape.outs[one].clone();
            let what = changed(&mut next, &before, &mut self.chance, self.sort, one);
            self.count(what);
        }
        let by = match self.chance.below(10) {
            0..=5 => By::Reload,
            6 => By::Kill,
            7 => By::Stop,
            _ => By::TakeOver,
        };
        self.count(match by {
            By::Reload => "reload",
            By::Kill => "kill",
            By::Stop => "stop",
            By::TakeOver => "take-over",
        });
        let beside = self.beside(by, out);
        // A refusal leaves everything as it was, and is counted.
        if let Err(why) = self.world.change(next, by, beside) {
            self.world.tell(format!("refused: {why}"));
            self.count("refused");
        }
    }

    /// What happens at the same time.
    fn beside(&mut self, by: By, out: usize) -> Beside {
        let after = Duration::from_micros(self.chance.below(BESIDE_MS * 1000));
        let (beside, what) = match (self.chance.below(8), by) {
            (0 | 1, _) => (Beside::Target { out, up: false, after }, "receiver goes meanwhile"),
            (2, _) => (Beside::Target { out, up: true, after }, "receiver comes meanwhile"),
            (3 | 4, By::Reload) => (Beside::Killed { victim: Victim::Running, after }, "killed in a reload"),
            (3 | 4, By::TakeOver) => {
                (Beside::Killed { victim: Victim::Running, after }, "killed in a take-over")
            }
            (5, By::TakeOver) => {
                (Beside::Killed { victim: Victim::Next, after }, "successor killed in a take-over")
            }
            _ => return Beside::Nothing,
        };
        self.count(what);
        beside
    }
}

/// One thing of a configuration becomes different; which.
fn changed(next: &mut Shape, before: &Out, chance: &mut Chance, sort: Sort, out: usize) -> &'static str {
    let there = next.outs.iter().filter(|out| out.there).count();
    let one = &mut next.outs[out];
    match chance.below(14) {
        0 | 1 => one.time_reopen = 1 + chance.below(5),
        2 => one.log_fifo_size = [100, 1000, 10_000][chance.below(3) as usize],
        3 if sort != Sort::Reliable => {
            if let Keeps::OnDisk { reliable, .. } = &mut one.keeps {
                *reliable = !*reliable;
                return "change of reliable()";
            }
        }
        4 if sort != Sort::Reliable => {
            let disk = Keeps::OnDisk { reliable: chance.below(2) == 0, capacity_bytes: CAPACITY_MIN };
            one.keeps = if one.keeps == Keeps::InMemory { disk } else { Keeps::InMemory };
            return "disk-buffer() added or removed";
        }
        5 => {
            if let Keeps::OnDisk { capacity_bytes, .. } = &mut one.keeps {
                *capacity_bytes = CAPACITY_MIN << chance.below(4);
                return "change of capacity";
            }
        }
        // With a new persist-name() as well it is another destination.
        6 if one.there && one.persist == before.persist => {
            one.name = format!("{}x", one.name);
            return "rename";
        }
        // The first stays: all lines of the file are owed to it. The path needs one at all events.
        7 if out > 0 && one.there && there > 1 => {
            one.there = false;
            return "removal";
        }
        6..=8 if !one.there => {
            one.there = true;
            return "addition";
        }
        9 => {
            next.second = !next.second;
            return "source removed or added";
        }
        10 => {
            next.max_connections = 5 + chance.below(20);
            return "change of a source";
        }
        // What waits goes along. One without disk-buffer() has no dir().
        12 if matches!(one.keeps, Keeps::OnDisk { .. }) => {
            one.dir = (one.dir + 1 + chance.below(2)) % 3;
            return "change of dir()";
        }
        13 if one.there && one.name == before.name => {
            one.persist = (one.persist + 1 + chance.below(2)) % 3;
            return "change of persist-name()";
        }
        _ => {
            let options = match one.speaks {
                Speaks::Lines => ["", " so-keepalive(yes)", " flush-lines(100)"],
                Speaks::Requests => [" batch-lines(100)", " batch-lines(500) batch-timeout(200)", BATCHES],
            };
            one.more = options[chance.below(3) as usize].to_owned();
        }
    }
    "change of an option"
}

/// The verdict over a world at rest.
pub fn judged(mut world: World, keep: &str) -> Outcome {
    let (sent, acknowledged) = (world.sent(), world.acknowledged());
    let mut total = Tally::default();
    for out in 0..world.targets.len() {
        let (tally, missing) = world.owed.judge(out, &sent, &acknowledged, &world.targets[out].numbers());
        let by_connection = world.targets[out].by_connection();
        for (what, count) in
            [("lost", tally.lost), ("reordered", tally.reordered), ("foreign", tally.unaccounted)]
        {
            if count > 0 {
                let missing = missing.join(", ");
                world.problem(format!(
                    "receiver {out}: {count} {what} ({missing}), by connection {by_connection:?}"
                ));
            }
        }
        if tally.reordered > 0 {
            // For whoever looks for the cause.
            for lane in 0..LANES as u64 {
                let runs = world.targets[out].runs(lane * LANE, (lane + 1) * LANE);
                world.tell(format!("receiver {out} got of lane {lane}, by connection: {runs:?}"));
            }
        }
        let doubles_max = (world.breaks + world.targets[out].unanswered()) * DOUBLES_MAX;
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
    Outcome { tally: total, problems, story: std::mem::take(&mut world.story), happened: Happened::new() }
}
