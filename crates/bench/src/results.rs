//! What runs have shown, and the medians and ratios over rounds. Ratios are taken within a round, where the
//! machine was in the same mood, and the median of them is what counts.

use crate::friction::Friction;
use crate::ratio::Ratio;
use crate::receiver::Receiver;

/// One receiver with one case in one round.
#[derive(Clone, Debug, Default)]
pub struct Run {
    pub case: &'static str,
    pub receiver: Receiver,
    pub round: u32,
    pub connections: usize,
    pub sent: u64,
    /// Lines that came out.
    pub lines: u64,
    pub cpu_ns: u64,
    /// From the start of sending to the last byte of output.
    pub seconds: f64,
    pub rss_before: u64,
    pub rss_peak: u64,
    pub verified: Verified,
    /// Bytes the receiver has written to disks, as far as the kernel knows.
    pub written: u64,
    /// TLS handshakes a second beside the messages.
    pub handshakes: f64,
    pub friction: Friction,
    /// Why there is no measurement.
    pub failure: Option<String>,
}

/// Lines held against the numbers they carry. Of the floor, which tears lines, only the count is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    pub missing: u64,
    pub doubled: u64,
    pub reordered: u64,
    pub foreign: u64,
}

impl Verified {
    pub fn is_clean(&self) -> bool {
        *self == Verified::default()
    }
}

impl Run {
    /// Microseconds of CPU per message sent.
    pub fn cpu_us(&self) -> f64 {
        self.cpu_ns as f64 / 1000.0 / self.sent.max(1) as f64
    }

    pub fn rate(&self) -> f64 {
        self.lines as f64 / self.seconds.max(1e-9)
    }

    pub fn written_per_message(&self) -> f64 {
        self.written as f64 / self.sent.max(1) as f64
    }

    pub fn bytes_per_connection(&self) -> f64 {
        self.rss_peak.saturating_sub(self.rss_before) as f64 / self.connections.max(1) as f64
    }
}

#[derive(Debug, Default)]
pub struct Results {
    pub runs: Vec<Run>,
}

impl Results {
    fn of(&self, case: &str, receiver: Receiver) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |r| r.case == case && r.receiver == receiver && r.failure.is_none())
    }

    pub fn median(&self, case: &str, receiver: Receiver, value: impl Fn(&Run) -> f64) -> Option<f64> {
        median(self.of(case, receiver).map(value).collect())
    }

    /// The median over rounds of `value` of the first divided by `value` of the second.
    pub fn ratio(
        &self,
        over: (&str, Receiver),
        under: (&str, Receiver),
        value: impl Fn(&Run) -> f64,
    ) -> Option<f64> {
        median(self.ratios(over, under, value))
    }

    /// The median over rounds of `value` of the first less `value` of the second.
    pub fn difference(
        &self,
        more: (&str, Receiver),
        less: (&str, Receiver),
        value: impl Fn(&Run) -> f64,
    ) -> Option<f64> {
        let in_a_round = self.of(more.0, more.1).filter_map(|run| {
            let base = self.of(less.0, less.1).find(|base| base.round == run.round)?;
            Some(value(run) - value(base))
        });
        median(in_a_round.collect())
    }

    fn ratios(
        &self,
        over: (&str, Receiver),
        under: (&str, Receiver),
        value: impl Fn(&Run) -> f64,
    ) -> Vec<f64> {
        let in_a_round = self.of(over.0, over.1).filter_map(|run| {
            let base = self.of(under.0, under.1).find(|base| base.round == run.round)?;
            Some(value(run) / value(base)).filter(|ratio| ratio.is_finite())
        });
        in_a_round.collect()
    }

    /// The mean over rounds of `value` of the first divided by `value` of the second, with its error.
    pub fn apart(
        &self,
        over: (&str, Receiver),
        under: (&str, Receiver),
        value: impl Fn(&Run) -> f64,
    ) -> Option<Ratio> {
        Ratio::of(self.ratios(over, under, value))
    }

    pub fn times_floor(&self, case: &str, receiver: Receiver) -> Option<f64> {
        self.ratio((case, receiver), (case, Receiver::Floor), Run::cpu_us)
    }

    /// Messages lost in all rounds together.
    pub fn lost(&self, case: &str, receiver: Receiver) -> Option<u64> {
        self.of(case, receiver).map(|run| run.verified.missing).reduce(|a, b| a + b)
    }

    /// All rounds' faults together.
    pub fn verified(&self, case: &str, receiver: Receiver) -> Verified {
        self.of(case, receiver).fold(Verified::default(), |sum, run| Verified {
            missing: sum.missing + run.verified.missing,
            doubled: sum.doubled + run.verified.doubled,
            reordered: sum.reordered + run.verified.reordered,
            foreign: sum.foreign + run.verified.foreign,
        })
    }

    pub fn failure(&self, case: &str, receiver: Receiver) -> Option<&str> {
        self.runs
            .iter()
            .filter(|r| r.case == case && r.receiver == receiver)
            .find_map(|r| r.failure.as_deref())
    }
}

/// The middle value, the mean of the middle two of an even number.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => values.get(middle).copied(),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::aim::Aim;

    fn run(case: &'static str, receiver: Receiver, round: u32, cpu_us: u64) -> Run {
        let (sent, seconds) = (1000, 0.001 * cpu_us as f64);
        Run {
            case,
            receiver,
            round,
            connections: 10,
            sent,
            lines: sent,
            cpu_ns: cpu_us * 1000 * sent,
            seconds,
            ..Run::default()
        }
    }

    #[test]
    fn medians() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }

    #[test]
    fn small_differences_come_with_their_error() {
        let mut results = Results::default();
        // 1 % apart in truth, by turns 1 % more and less, on a machine that gets slower all the time.
        for round in 1..=100 {
            let turn = if round % 2 == 0 { 101 } else { 99 };
            results.runs.push(run("a", Receiver::Penstock, round, 100 * turn * u64::from(round)));
            results.runs.push(run("b", Receiver::Penstock, round, 101 * 100 * u64::from(round)));
        }
        let (a, b) = (("a", Receiver::Penstock), ("b", Receiver::Penstock));
        let apart = results.apart(b, a, Run::cpu_us).expect("both ran");
        assert!((apart.share() - 0.01).abs() < 0.001 && apart.error < 0.002, "{apart:?}");
        assert_eq!(results.apart(b, ("c", Receiver::Penstock), Run::cpu_us), None);
        results.runs.retain(|run| run.round == 1);
        assert_eq!(results.apart(b, a, Run::cpu_us).map(|apart| apart.error), Some(f64::INFINITY));
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let mut results = Results::default();
        // The machine was three times slower in round 2; the ratio does not notice.
        for (round, slow) in [(1, 1), (2, 3), (3, 1)] {
            results.runs.push(run("a", Receiver::Floor, round, 10 * slow));
            results.runs.push(run("a", Receiver::Penstock, round, 15 * slow));
        }
        assert_eq!(results.times_floor("a", Receiver::Penstock), Some(1.5));
        assert_eq!(results.times_floor("a", Receiver::SyslogNg), None);
        let more = results.difference(("a", Receiver::Penstock), ("a", Receiver::Floor), |run| run.cpu_us());
        assert_eq!(more, Some(results.runs[1].cpu_us() - results.runs[0].cpu_us()));
    }

    #[test]
    fn failed_runs_do_not_count() {
        let mut results = Results::default();
        results
            .runs
            .push(Run { failure: Some("did not start".into()), ..run("a", Receiver::Penstock, 1, 5) });
        assert_eq!(results.median("a", Receiver::Penstock, Run::cpu_us), None);
        assert_eq!(results.failure("a", Receiver::Penstock), Some("did not start"));
    }

    #[test]
    fn aims_are_judged() {
        let mut results = Results::default();
        results.runs.push(run("a", Receiver::Floor, 1, 10));
        results.runs.push(run("a", Receiver::Penstock, 1, 15));
        results.runs.push(run("a", Receiver::SyslogNg, 1, 150));
        results.runs.push(run("b", Receiver::Penstock, 1, 18));
        let met = |aim: Aim, case| aim.judge(case, &results).met;
        assert_eq!(met(Aim::TimesFloor(1.6), "a"), Some(true));
        assert_eq!(met(Aim::TimesFloor(1.4), "a"), Some(false));
        assert_eq!(met(Aim::TimesFloor(1.6), "b"), None);
        assert_eq!(met(Aim::TimesCase { case: "a", times: 1.25 }, "b"), Some(true));
        assert_eq!(met(Aim::TimesCase { case: "a", times: 1.15 }, "b"), Some(false));
        assert_eq!(met(Aim::CheaperThan { peer: Receiver::SyslogNg, times: 10.0 }, "a"), Some(true));
        assert_eq!(met(Aim::CheaperThan { peer: Receiver::SyslogNg, times: 11.0 }, "a"), Some(false));
        assert_eq!(met(Aim::CheaperThan { peer: Receiver::Rsyslog, times: 1.0 }, "a"), None);
        assert_eq!(met(Aim::FasterThanCase { case: "b", times: 1.19 }, "a"), Some(true));
        assert_eq!(met(Aim::Within { case: "b", share: 0.02 }, "a"), None, "one round cannot tell");
        assert_eq!(met(Aim::NothingLost, "a"), Some(true));
    }
}
