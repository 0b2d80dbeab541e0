//! One of two destinations is dead: the other has to keep the rate it has without a neighbour, and the one
//! beside a live one.

use crate::source::{Load, Source};
use crate::tally::Tally;
use crate::target::Target;
use crate::trial::{BUFFER, HEAD, Plan, Trial, Verdict, reached};
use bench::{Ratio, cpu_ns};
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
        let rate = Ratio::of(base.iter().zip(dead).map(|(base, dead)| base.seconds / dead.seconds));
        let cpu = Ratio::of(dead.iter().zip(base).map(|(dead, base)| dead.cpu / base.cpu));
        let (Some(rate), Some(cpu)) = (rate, cpu) else {
            trial.problem("nothing was measured");
            continue;
        };
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
