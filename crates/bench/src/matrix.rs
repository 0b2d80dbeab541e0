//! The run over all cases, receivers and rounds. Receivers take turns within each case, who begins changes
//! from round to round, and every second round goes through the cases backwards, so that neither a slow spell
//! of the machine nor what one run leaves behind for the next falls on one of them.

use crate::cases::{CASES, Case, Path};
use crate::measure::{Plan, measure};
use crate::receiver::Receiver;
use crate::results::{Results, Run};

pub fn run(cases: &[&'static Case], receivers: &[Receiver], rounds: u32, plan: &Plan) -> Results {
    let mut results = Results::default();
    stdio::err!("{}", header());
    for round in 1..=rounds {
        for case in order(cases, round) {
            for receiver in turn(receivers, round) {
                if !receiver.can(case) {
                    continue;
                }
                let run = measure(case, receiver, round, plan);
                results.runs.push(run);
                if let Some(run) = results.runs.last() {
                    stdio::err!("{}", row(run, &results));
                }
            }
        }
    }
    results
}

fn order<T: Copy>(cases: &[T], round: u32) -> Vec<T> {
    let mut cases = cases.to_vec();
    if round.is_multiple_of(2) {
        cases.reverse();
    }
    cases
}

/// The receivers in the order of this round. The floor stays first: its value is needed for the others'
/// lines.
fn turn(receivers: &[Receiver], round: u32) -> Vec<Receiver> {
    let (floor, mut others): (Vec<_>, Vec<_>) =
        receivers.iter().partition(|&&receiver| receiver == Receiver::Floor);
    if !others.is_empty() {
        let places = (round as usize - 1) % others.len();
        others.rotate_left(places);
    }
    floor.into_iter().chain(others).collect()
}

fn header() -> String {
    format!(
        "{:<28} {:<10} {:>5} {:>10} {:>8} {:>7} {:>8}  {}",
        "case", "receiver", "round", "msg/s", "us/msg", "floors", "MiB", "delivered"
    )
}

fn row(run: &Run, results: &Results) -> String {
    let start = format!("{:<28} {:<10} {:>5}", run.case, run.receiver, run.round);
    if let Some(failure) = &run.failure {
        return format!("{start} {failure}");
    }
    let floor = results.runs.iter().find(|other| {
        other.case == run.case
            && other.round == run.round
            && other.receiver == Receiver::Floor
            && other.failure.is_none()
    });
    let floors = floor.map_or("-".into(), |floor| format!("{:.2}", run.cpu_us() / floor.cpu_us()));
    format!(
        "{start} {:>10.0} {:>8.3} {floors:>7} {:>8.1}  {}",
        run.rate(),
        run.cpu_us(),
        run.rss_peak as f64 / 1048576.0,
        delivered(run)
    )
}

fn delivered(run: &Run) -> String {
    let mut beside = match run.handshakes {
        0.0 => String::new(),
        rate => format!("; {rate:.0} handshakes/s beside"),
    };
    let is_buffered = CASES.iter().any(|c| c.name == run.case && matches!(c.path, Path::Buffered(_)));
    if is_buffered {
        beside.push_str(&format!("; {:.0} bytes a message to disk", run.written_per_message()));
    }
    if run.verified.is_clean() {
        return format!("all{beside}");
    }
    let v = &run.verified;
    let counts =
        [(v.missing, "missing"), (v.doubled, "doubled"), (v.reordered, "reordered"), (v.foreign, "foreign")];
    let named: Vec<_> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("{}{beside}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receivers_take_turns_behind_the_floor() {
        use Receiver::*;
        let all = [Floor, Penstock, SyslogNg, Rsyslog];
        assert_eq!(turn(&all, 1), all);
        assert_eq!(turn(&all, 2), [Floor, SyslogNg, Rsyslog, Penstock]);
        assert_eq!(turn(&all, 4), all);
        assert_eq!(turn(&[Penstock], 5), [Penstock]);
        assert_eq!(turn(&[Floor], 2), [Floor]);
    }

    #[test]
    fn every_second_round_is_backwards() {
        assert_eq!(order(&[1, 2, 3], 1), [1, 2, 3]);
        assert_eq!(order(&[1, 2, 3], 2), [3, 2, 1]);
    }

    #[test]
    fn faults_are_named() {
        let mut run = Run::default();
        assert_eq!(delivered(&run), "all");
        run.verified.missing = 3;
        run.verified.reordered = 1;
        assert_eq!(delivered(&run), "3 missing, 1 reordered");
    }
}
