//! What penstock is to reach in a case, and whether a run shows it.

use crate::ratio::Ratio;
use crate::receiver::Receiver;
use crate::results::{Results, Run};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// CPU per message at most so many times the floor's on the same input.
    TimesFloor(f64),
    /// CPU per message at most so many times that of another case.
    TimesCase { case: &'static str, times: f64 },
    /// At most so many microseconds of CPU per message.
    CpuUs(f64),
    /// At most so many microseconds more than another case.
    CpuUsMore { case: &'static str, us: f64 },
    /// At least so many times less CPU per message than a peer.
    CheaperThan { peer: Receiver, times: f64 },
    /// At least so many times the rate of another case.
    FasterThanCase { case: &'static str, times: f64 },
    /// Bytes written per message at most so many times those of another case.
    WrittenTimesCase { case: &'static str, times: f64 },
    /// CPU per message differs from that of another case by at most this share, up or down, over all rounds.
    Within { case: &'static str, share: f64 },
    /// Every message arrives, over a transport that may lose some.
    NothingLost,
    /// Memory that a connection adds.
    BytesPerConnection(u64),
}

/// An aim held against a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judgement {
    pub case: &'static str,
    pub aim: String,
    pub measured: String,
    /// `None` when the run has nothing to compare with.
    pub met: Option<bool>,
}

impl Aim {
    pub fn other_case(&self) -> Option<&'static str> {
        match self {
            Aim::TimesCase { case, .. }
            | Aim::CpuUsMore { case, .. }
            | Aim::FasterThanCase { case, .. }
            | Aim::WrittenTimesCase { case, .. }
            | Aim::Within { case, .. } => Some(case),
            _ => None,
        }
    }

    pub fn text(&self) -> String {
        match self {
            Aim::TimesFloor(times) => format!("at most {times} times the floor's CPU per message"),
            Aim::TimesCase { case, times } => {
                format!("within {:.0} % of {case} (CPU)", (times - 1.0) * 100.0)
            }
            Aim::CpuUs(us) => format!("at most {us} us of CPU per message"),
            Aim::CpuUsMore { case, us } => format!("at most {us} us of CPU more than {case}"),
            Aim::CheaperThan { peer, times } => format!("at least {times} times less CPU than {peer}"),
            Aim::FasterThanCase { case, times } => format!("at least {times} times the rate of {case}"),
            Aim::WrittenTimesCase { case, times } => {
                format!("at most {times} times the bytes written of {case}")
            }
            Aim::Within { case, share } => {
                format!("at most {:.0} % apart from {case} (CPU)", share * 100.0)
            }
            Aim::NothingLost => "0 lost".into(),
            Aim::BytesPerConnection(bytes) => format!("at most {} KiB a connection", bytes / 1024),
        }
    }

    pub fn judge(&self, case: &'static str, results: &Results) -> Judgement {
        let own = Receiver::Penstock;
        let found = match *self {
            Aim::TimesFloor(times) => {
                results.times_floor(case, own).map(|x| (format!("{x:.2} times"), x <= times))
            }
            Aim::TimesCase { case: other, times } => results
                .ratio((case, own), (other, own), |run| run.cpu_us())
                .map(|x| (format!("{:+.0} %", (x - 1.0) * 100.0), x <= times)),
            Aim::CpuUs(us) => results.median(case, own, Run::cpu_us).map(|x| (format!("{x:.3} us"), x <= us)),
            Aim::CpuUsMore { case: other, us } => results
                .difference((case, own), (other, own), Run::cpu_us)
                .map(|x| (format!("{x:+.3} us"), x <= us)),
            Aim::CheaperThan { peer, times } => results
                .ratio((case, peer), (case, own), |run| run.cpu_us())
                .map(|x| (format!("{x:.1} times less"), x >= times)),
            Aim::FasterThanCase { case: other, times } => results
                .ratio((case, own), (other, own), |run| run.rate())
                .map(|x| (format!("{x:.2} times"), x >= times)),
            Aim::WrittenTimesCase { case: other, times } => results
                .ratio((case, own), (other, own), Run::written_per_message)
                .map(|x| (format!("{x:.2} times"), x <= times)),
            Aim::Within { case: other, share } => {
                let apart = results.apart((case, own), (other, own), Run::cpu_us);
                return Judgement { case, aim: self.text(), ..within(apart, share) };
            }
            Aim::NothingLost => results.lost(case, own).map(|lost| (format!("{lost} lost"), lost == 0)),
            Aim::BytesPerConnection(bytes) => results
                .median(case, own, |run| run.bytes_per_connection())
                .map(|x| (format!("{:.1} KiB", x / 1024.0), x <= bytes as f64)),
        };
        let (measured, met) = found.map_or(("not measured".into(), None), |(text, met)| (text, Some(met)));
        Judgement { case, aim: self.text(), measured, met }
    }
}

/// Judged only when there were enough rounds for it.
fn within(apart: Option<Ratio>, share: f64) -> Judgement {
    let Some(ratio) = apart else {
        return Judgement { measured: "not measured".into(), ..Judgement::default() };
    };
    let met = ratio.is_within(share);
    let (found, error, rounds) = (ratio.share() * 100.0, ratio.error * 100.0, ratio.rounds);
    let doubt = if met.is_none() { ": too few rounds to tell" } else { "" };
    let measured = format!("{found:+.1} % ± {error:.1} % over {rounds} rounds{doubt}");
    Judgement { measured, met, ..Judgement::default() }
}
