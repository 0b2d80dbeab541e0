//! How many messages are due at a moment: the arithmetic of `--rate`, free of clocks so that it can be
//! tested.

use std::time::Duration;

/// A steady rate for one connection. Connections get different phases so that they do not all send in the
/// same tick.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    per_second: f64,
    /// In messages, `0 < phase <= 1`; 1 sends the first message at once.
    phase: f64,
}

/// Shortest and longest pause between two bursts. Short bursts keep a UDP receiver's buffer from overflowing.
const TICK_MIN: Duration = Duration::from_millis(1);
const TICK_MAX: Duration = Duration::from_millis(50);

impl Pace {
    /// `per_second` messages a second for connection `index` of `count`.
    pub fn new(per_second: f64, index: usize, count: usize) -> Pace {
        let phase = 1.0 - index as f64 / count.max(1) as f64;
        Pace { per_second, phase }
    }

    /// Messages that should have been sent `elapsed` after the start.
    pub fn due(&self, elapsed: Duration) -> u64 {
        (elapsed.as_secs_f64() * self.per_second + self.phase) as u64
    }

    /// How long after the start message number `sent` (from 0) becomes due.
    pub fn due_at(&self, sent: u64) -> Duration {
        let seconds = ((sent + 1) as f64 - self.phase) / self.per_second;
        Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
    }

    /// How long to sleep at `elapsed` when nothing is due: until the next message, but at least a tick.
    pub fn pause(&self, sent: u64, elapsed: Duration) -> Duration {
        self.due_at(sent).saturating_sub(elapsed).clamp(TICK_MIN, TICK_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_message_at_once_then_steady() {
        let pace = Pace::new(1000.0, 0, 1);
        assert_eq!(pace.due(Duration::ZERO), 1);
        assert_eq!(pace.due(Duration::from_micros(999)), 1);
        assert_eq!(pace.due(Duration::from_millis(5)), 6);
        assert_eq!(pace.due(Duration::from_secs(60)), 60_001);
    }

    #[test]
    fn connections_are_spread_over_one_interval() {
        let first: Vec<_> = (0..4).map(|index| Pace::new(10.0, index, 4).due_at(0).as_millis()).collect();
        assert_eq!(first, [0, 25, 50, 75]);
    }

    #[test]
    fn due_and_due_at_agree() {
        for rate in [0.5, 1.0, 7.0, 1000.0, 67_000.0] {
            let pace = Pace::new(rate, 1, 3);
            for sent in 0..2000 {
                let at = pace.due_at(sent);
                assert!(pace.due(at + Duration::from_nanos(100)) > sent, "rate {rate} message {sent}");
                assert!(
                    pace.due(at.saturating_sub(Duration::from_micros(1))) <= sent,
                    "rate {rate} message {sent}"
                );
            }
        }
    }

    #[test]
    fn pauses_stay_in_bounds() {
        let slow = Pace::new(0.1, 0, 1);
        assert_eq!(slow.pause(1, Duration::ZERO), TICK_MAX);
        let fast = Pace::new(1e6, 0, 1);
        assert_eq!(fast.pause(1, Duration::ZERO), TICK_MIN);
        let middle = Pace::new(100.0, 0, 1);
        assert_eq!(middle.pause(1, Duration::ZERO), Duration::from_millis(10));
    }
}
