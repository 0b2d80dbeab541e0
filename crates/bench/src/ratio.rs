//! How two things compare that were measured by turns in several rounds, and how far that can be trusted.

use std::fmt;

/// The mean of the ratios of all rounds, and its standard error; of their logarithms, so that halves and
/// doubles weigh the same. For differences so small that a median of few rounds cannot show them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub mean: f64,
    pub error: f64,
    pub rounds: usize,
}

impl Ratio {
    /// `None` without a round, or when one has measured nothing.
    pub fn of(rounds: impl IntoIterator<Item = f64>) -> Option<Ratio> {
        let logs: Vec<f64> = rounds.into_iter().map(f64::ln).collect();
        let rounds = logs.len() as f64;
        let mean = Some(logs.iter().sum::<f64>() / rounds).filter(|mean| mean.is_finite())?;
        let spread: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        // One round says nothing of its error.
        let error = if logs.len() > 1 { (spread / (rounds - 1.0) / rounds).sqrt() } else { f64::INFINITY };
        Some(Ratio { mean: mean.exp(), error, rounds: logs.len() })
    }

    /// By what share the first is more than the second, below zero when less.
    pub fn share(&self) -> f64 {
        self.mean - 1.0
    }

    /// Whether the mean is at most `share` from 1, up or down. `None` when there were too few rounds to tell:
    /// the error is larger than the share, and the difference not beyond doubt.
    pub fn is_within(&self, share: f64) -> Option<bool> {
        let beyond = self.share().abs() - 2.0 * self.error > share;
        (beyond || self.error <= share).then_some(self.share().abs() <= share)
    }

    /// Whether the mean is at most `most`. `None` when there were too few rounds to tell: it could as well be
    /// the other.
    pub fn is_at_most(&self, most: f64) -> Option<bool> {
        let beyond = (self.mean - most).abs() > 2.0 * self.error;
        beyond.then_some(self.mean <= most)
    }

    /// Whether the mean is at least `least`. `None` when there were too few rounds to tell: the error is
    /// larger than what may be missing, and the difference not beyond doubt.
    pub fn is_at_least(&self, least: f64) -> Option<bool> {
        let beyond = (self.mean - least).abs() > 2.0 * self.error;
        (beyond || self.error <= 1.0 - least).then_some(self.mean >= least)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, error) = (self.mean * 100.0, self.error * 100.0);
        write!(f, "{mean:.1} % ± {error:.1} % over {} rounds", self.rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rounds: &[f64]) -> Ratio {
        Ratio::of(rounds.iter().copied()).expect("it has rounds")
    }

    #[test]
    fn nothing_measured_is_no_ratio() {
        assert_eq!(Ratio::of([]), None);
        assert_eq!(Ratio::of([1.0, 0.0]), None);
        assert_eq!(Ratio::of([1.0, f64::NAN]), None);
        assert_eq!(of(&[2.0]), Ratio { mean: 2.0, error: f64::INFINITY, rounds: 1 });
    }

    #[test]
    fn a_least_is_judged_with_the_error() {
        let least = 0.95;
        assert_eq!(of(&[1.0, 1.0, 1.0]), Ratio { mean: 1.0, error: 0.0, rounds: 3 });
        assert_eq!(of(&[1.0, 1.0]).is_at_least(least), Some(true));
        assert_eq!(of(&[0.9, 0.9]).is_at_least(least), Some(false));
        assert_eq!(of(&[1.0]).is_at_least(least), None, "one round");
        assert_eq!(of(&[0.5, 1.9]).is_at_least(least), None, "noise");
        assert_eq!(of(&[2.0, 4.0]).is_at_least(least), Some(true), "noise, but twice as quick");
    }

    #[test]
    fn a_most_is_judged_with_the_error() {
        assert_eq!(of(&[1.01, 1.01]).is_at_most(1.02), Some(true));
        assert_eq!(of(&[1.05, 1.05]).is_at_most(1.02), Some(false));
        assert_eq!(of(&[1.0]).is_at_most(1.02), None, "one round");
        assert_eq!(of(&[0.9, 1.1]).is_at_most(1.02), None, "noise");
        assert_eq!(of(&[2.0, 4.0]).is_at_most(1.02), Some(false), "noise, but beyond doubt");
    }

    #[test]
    fn a_distance_is_judged_with_the_error() {
        assert_eq!(of(&[1.01, 1.01]).is_within(0.02), Some(true));
        assert_eq!(of(&[0.97, 0.97]).is_within(0.02), Some(false));
        assert_eq!(of(&[1.0]).is_within(0.02), None, "one round");
        assert_eq!(of(&[0.5, 2.0]).is_within(0.02), None, "noise");
        assert_eq!(of(&[2.0, 4.0]).is_within(0.02), Some(false), "noise, but beyond doubt");
    }
}
