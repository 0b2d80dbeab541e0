//! One of two destinations is dead: the other has to keep its rate.

use crate::source::Source;
use crate::trial::{BUFFER, Plan, Trial, Verdict, reached};
use std::time::{Duration, Instant};

const COUNT: u64 = 200_000;
/// Least part of the rate that must be left.
const KEPT: f64 = 0.95;

pub fn run(plan: &Plan) -> Verdict {
    let more = format!(
        "destination dead {{ network(127.0.0.1 port(%port:dead%) time-reopen(0.1) {BUFFER}); }};\n\
         log {{ source(s); destination(dead); flags(flow-control); }};\n"
    );
    let mut trial = Trial::towards("127.0.0.1", &more);
    trial.target.up();
    // Both at their best of several runs, in turn: other work on the machine slows single ones down.
    let mut best = [Duration::MAX; 2];
    for round in 0..2 * plan.rounds {
        let dead = round % 2 == 1;
        let other = crate::target::Target::new(trial.lab.port("dead"));
        if !dead {
            other.up();
        }
        let Some(penstock) = trial.start(&[]) else { break };
        let began = Instant::now();
        let before = trial.target.received() as u64;
        let source = Source::exactly(trial.lab.port("in"), COUNT);
        let target = &trial.target;
        reached(Duration::from_secs(60), || target.received() as u64 >= before + COUNT);
        let took = &mut best[usize::from(dead)];
        *took = (*took).min(began.elapsed());
        other.up();
        trial.settle(&source, penstock);
        trial.target.forget();
        trial.round();
    }
    let kept = best[0].as_secs_f64() / best[1].as_secs_f64();
    let rate = |took: Duration| COUNT as f64 / took.as_secs_f64() / 1000.0;
    trial.note(format!(
        "{:.0} thousand a second beside a live destination, {:.0} beside a dead one: {:.0} %",
        rate(best[0]),
        rate(best[1]),
        kept * 100.0
    ));
    if kept < KEPT && !plan.short {
        trial.problem(format!("{:.0} % of the rate is left beside a dead destination", kept * 100.0));
    }
    trial.verdict(plan, 0)
}
