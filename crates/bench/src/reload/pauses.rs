//! What the reloads cost: the longest pause around each, how long it took, and what pauses there are without
//! one.

use std::fmt;
use std::time::Duration;

#[derive(Default)]
pub struct Pauses {
    pauses: Vec<Duration>,
    took: Vec<Duration>,
    /// The longest each time, of as long a time without a reload.
    without: Vec<Duration>,
}

impl Pauses {
    pub fn note(&mut self, pause: Duration, took: Duration) {
        self.pauses.push(pause);
        self.took.push(took);
    }

    pub fn note_without(&mut self, pause: Duration) {
        self.without.push(pause);
    }

    /// Of the pauses.
    pub fn percentile(&self, percent: usize) -> Duration {
        percentile(&self.pauses, percent)
    }
}

/// The smallest that so many percent are not above.
fn percentile(all: &[Duration], percent: usize) -> Duration {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

impl fmt::Display for Pauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, all) in [("pause", &self.pauses), ("without", &self.without), ("reload", &self.took)] {
            let ms = |percent| percentile(all, percent).as_secs_f64() * 1000.0;
            writeln!(f, "{name:<8} ms: median {:.1}, 99th {:.1}, longest {:.1}", ms(50), ms(99), ms(100))?;
        }
        write!(f, "{} reloads", self.pauses.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles() {
        let ms = Duration::from_millis;
        let all: Vec<Duration> = (1..=100).map(ms).collect();
        assert_eq!(
            (percentile(&all, 50), percentile(&all, 99), percentile(&all, 100)),
            (ms(50), ms(99), ms(100))
        );
        assert_eq!((percentile(&[], 99), percentile(&[ms(7)], 1)), (ms(0), ms(7)));
    }
}
