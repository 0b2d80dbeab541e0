//! One of two destinations is dead: the other has to keep the rate it has without a neighbour, and the one beside a live one.

use crate::source::{Load, Source};
use crate::tally::Tally;
use crate::target::Target;
use crate::trial::{BUFFER, HEAD, Plan, Trial, Verdict, reached};
use std::fs;
use std::time::{Duration, Instant};

const COUNT: u64 = 1_000_000;
/// So many that the program is what bounds the rate, not the wait for each answer.
const WINDOW: u64 = 16_384;
/// Least part of the rate that must be left.
const KEPT: f64 = 0.95;
const PATIENCE: Duration = Duration::from_secs(60);

/// What the neighbour does meanwhile.
#[derive(Clone, Copy, PartialEq)]
enum Neighbour {
    Absent,
    Dead,
    Alive,
}

use Neighbour::{Absent, Alive, Dead};

/// One round: each of them twice, so that a machine that gets slower all the time treats them alike.
const ROUND: [Neighbour; 6] = [Absent, Dead, Alive, Alive, Dead, Absent];

/// The neighbour keeps its messages on the disk as well.
pub fn on_disk(plan: &Plan) -> Verdict {
    run(plan, BUFFER, "flags(flow-control);")
}

/// The neighbour has its queue in memory, and drops what has no room there.
pub fn in_memory(plan: &Plan) -> Verdict {
    run(plan, "", "")
}

/// What it took until all messages were through, of one run or the two of a round.
#[derive(Clone, Copy, Default)]
struct Cost {
    seconds: f64,
    /// Microseconds of the program's CPU for a message.
    cpu: f64,
}

fn run(plan: &Plan, buffer: &str, flags: &str) -> Verdict {
    let alone = format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(\"127.0.0.1\" port(%port:out%) time-reopen(0.1) {BUFFER}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let both = format!(
        "{alone}destination neighbour {{ network(\"127.0.0.1\" port(%port:neighbour%) time-reopen(0.1) {buffer}); }};\n\
         log {{ source(s); destination(neighbour); {flags} }};\n"
    );
    let mut trial = Trial::of(&alone);
    trial.target.up();
    let mut series: [Vec<Cost>; 3] = Default::default();
    for _ in 0..plan.rounds {
        let mut sums = [Cost::default(); 3];
        for neighbour in ROUND {
            trial.configure(if neighbour == Absent { &alone } else { &both });
            let Some(cost) = once(&mut trial, neighbour, !buffer.is_empty()) else {
                return trial.verdict(plan, 0);
            };
            let sum = &mut sums[neighbour as usize];
            *sum = Cost { seconds: sum.seconds + cost.seconds, cpu: sum.cpu + cost.cpu };
        }
        series.iter_mut().zip(sums).for_each(|(series, sum)| series.push(sum));
        trial.round();
    }
    judge(&mut trial, plan, &series);
    trial.verdict(plan, 0)
}

/// Starts the program, and measures how long all messages take to the target that is always there.
fn once(trial: &mut Trial, neighbour: Neighbour, keeps: bool) -> Option<Cost> {
    let other = Target::new(trial.lab.port("neighbour"));
    if neighbour == Alive {
        other.up();
    }
    let penstock = trial.begin()?;
    let (began, cpu) = (Instant::now(), cpu_ns(penstock.id()));
    let load = Load { count: COUNT, window: WINDOW, ..Load::default() };
    let source = Source::start(trial.lab.port("in"), load);
    let target = &trial.target;
    if !reached(PATIENCE, || target.received() as u64 >= COUNT) {
        trial.problem("messages do not come through");
    }
    let cost = Cost {
        seconds: began.elapsed().as_secs_f64(),
        cpu: cpu_ns(penstock.id()).saturating_sub(cpu) as f64 / 1000.0 / COUNT as f64,
    };
    if neighbour != Absent {
        other.up();
    }
    trial.settle(&source, penstock);
    if neighbour != Absent && keeps {
        let lost = Tally::of(source.sent(), source.acknowledged(), &other.numbers()).lost;
        if lost > 0 {
            trial.problem(format!("{lost} lost of the neighbour's"));
        }
    }
    trial.target.forget();
    Some(cost)
}

fn judge(trial: &mut Trial, plan: &Plan, [absent, dead, alive]: &[Vec<Cost>; 3]) {
    let rate = |costs: &[Cost]| {
        let seconds: f64 = costs.iter().map(|cost| cost.seconds).sum();
        2.0 * COUNT as f64 * costs.len() as f64 / seconds / 1000.0
    };
    trial.note(format!(
        "thousand a second without a neighbour {:.0}, beside a dead one {:.0}, beside a live one {:.0}",
        rate(absent),
        rate(dead),
        rate(alive)
    ));
    for (what, base) in [("none", absent), ("a live one", alive)] {
        let rate = Ratio::of(base, dead, |cost| cost.seconds);
        let cpu = Ratio::of(dead, base, |cost| cost.cpu);
        trial.note(format!(
            "beside a dead one, of what it is beside {what}: rate {rate}, CPU a message {cpu}"
        ));
        match rate.is_at_least(KEPT) {
            Some(false) if !plan.short => {
                trial.problem(format!("beside a dead destination, of the rate beside {what}: {rate}"));
            }
            None => trial.note("too few rounds to tell"),
            _ => {}
        }
    }
}

/// The mean of the ratios of all rounds, and its standard error; of their logarithms, so that halves and doubles weigh the same.
struct Ratio {
    mean: f64,
    error: f64,
    rounds: usize,
}

impl Ratio {
    fn of(over: &[Cost], under: &[Cost], value: impl Fn(&Cost) -> f64) -> Ratio {
        let logs: Vec<f64> = over.iter().zip(under).map(|(a, b)| (value(a) / value(b)).ln()).collect();
        let rounds = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / rounds;
        let spread: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        // One round says nothing of its error.
        let error = if logs.len() > 1 { (spread / (rounds - 1.0) / rounds).sqrt() } else { f64::INFINITY };
        Ratio { mean: mean.exp(), error, rounds: logs.len() }
    }

    /// `None` when there were too few rounds to tell: the error is larger than what may be missing, and the difference not beyond doubt.
    fn is_at_least(&self, least: f64) -> Option<bool> {
        let beyond = self.mean + 2.0 * self.error < least || self.mean - 2.0 * self.error > least;
        (beyond || self.error <= 1.0 - least).then_some(self.mean >= least)
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mean, error) = (self.mean * 100.0, self.error * 100.0);
        write!(f, "{mean:.1} % ± {error:.1} % over {} rounds", self.rounds)
    }
}

/// What the threads of a process have used so far.
fn cpu_ns(pid: u32) -> u64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let used = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    used.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(seconds: &[f64]) -> Vec<Cost> {
        seconds.iter().map(|seconds| Cost { seconds: *seconds, cpu: 1.0 }).collect()
    }

    #[test]
    fn a_ratio_is_judged_with_its_error() {
        let ratio = |over: &[f64], under: &[f64]| Ratio::of(&costs(over), &costs(under), |cost| cost.seconds);
        let same = ratio(&[1.0, 4.0, 2.0], &[1.0, 4.0, 2.0]);
        assert_eq!((same.mean, same.error, same.is_at_least(KEPT)), (1.0, 0.0, Some(true)));
        assert_eq!(ratio(&[0.9, 0.9], &[1.0, 1.0]).is_at_least(KEPT), Some(false));
        assert_eq!(ratio(&[1.0], &[1.0]).is_at_least(KEPT), None, "one round");
        assert_eq!(ratio(&[0.5, 1.9], &[1.0, 1.0]).is_at_least(KEPT), None, "noise");
        assert_eq!(
            ratio(&[2.0, 4.0], &[1.0, 1.0]).is_at_least(KEPT),
            Some(true),
            "noise, but twice as quick"
        );
    }
}
