//! When the next batch may go: pauses after failures, which double up to a ceiling and are not the same for
//! all who wait.

use std::time::{Duration, Instant};

/// The first pause after a failure.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// The longest that a server may ask for.
const ASKED_MAX: Duration = Duration::from_secs(3600);
/// A server that is busy is no outage, for so long: see [`engine::Sink::is_well`].
const BUSY_MAX: Duration = Duration::from_secs(30);

/// Why nothing goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The server is there, and asks for patience.
    Busy,
    /// The server is away, or wants something done first.
    Outage,
}

#[derive(Debug)]
pub struct Pace {
    ceiling: Duration,
    /// Failures since something was delivered.
    failures: u32,
    pause: Option<(Instant, Kind)>,
    /// Since when nothing was delivered although it was tried.
    failing_since: Option<Instant>,
    seed: u64,
}

impl Pace {
    pub fn new(ceiling: Duration, seed: u64) -> Pace {
        let seed = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
        Pace { ceiling: ceiling.max(PAUSE_MIN), failures: 0, pause: None, failing_since: None, seed }
    }

    /// Something was delivered.
    pub fn succeeded(&mut self) {
        self.failures = 0;
        self.pause = None;
        self.failing_since = None;
    }

    /// Nothing goes for a while: as long as the server asks for, or longer after each failure.
    pub fn failed(&mut self, kind: Kind, after: Option<Duration>, now: Instant) {
        let pause = match after {
            Some(after) => after.min(ASKED_MAX),
            None => self.next_pause(),
        };
        self.set(kind, pause, now);
    }

    /// Nothing goes until somebody may have done something.
    pub fn hold(&mut self, now: Instant) {
        self.set(Kind::Outage, self.ceiling, now);
    }

    fn set(&mut self, kind: Kind, pause: Duration, now: Instant) {
        self.failing_since.get_or_insert(now);
        self.pause = Some((now + pause, kind));
    }

    fn next_pause(&mut self) -> Duration {
        let pause = PAUSE_MIN.saturating_mul(1 << self.failures.min(20)).min(self.ceiling);
        self.failures = self.failures.saturating_add(1);
        // Between three quarters of it and all of it.
        pause - pause / 4 * (self.random() % 1000) as u32 / 1000
    }

    /// xorshift: what it decides is how long to wait, nothing else.
    fn random(&mut self) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed
    }

    /// How long nothing goes, and why.
    pub fn pause(&mut self, now: Instant) -> Option<(Duration, Kind)> {
        let (until, kind) = self.pause?;
        if until <= now {
            self.pause = None;
            return None;
        }
        Some((until - now, kind))
    }

    /// Until when a server that asks for patience counts as one that is well.
    pub fn well_until(&self) -> Option<Instant> {
        let (_, kind) = self.pause?;
        (kind == Kind::Busy).then_some(self.failing_since? + BUSY_MAX)
    }

    /// An event says that something may have changed: an outage is looked at again.
    pub fn restart(&mut self) {
        self.pause = None;
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_ceiling_and_begin_anew_after_a_success() {
        let now = Instant::now();
        let mut pace = Pace::new(Duration::from_secs(1), 7);
        let pause = |pace: &mut Pace| {
            pace.failed(Kind::Outage, None, now);
            pace.pause(now).expect("a pause").0.as_millis()
        };
        for most in [100, 200, 400, 800, 1000, 1000] {
            let found = pause(&mut pace);
            assert!(found <= most && found >= most * 3 / 4 - 1, "{found} of {most}");
        }
        pace.succeeded();
        assert!(pause(&mut pace) <= 100);
    }

    #[test]
    fn a_server_says_how_long_and_is_well_meanwhile() {
        let now = Instant::now();
        let mut pace = Pace::new(Duration::from_secs(1), 7);
        pace.failed(Kind::Busy, Some(Duration::from_secs(20)), now);
        assert_eq!(pace.pause(now), Some((Duration::from_secs(20), Kind::Busy)));
        assert_eq!(pace.well_until(), Some(now + BUSY_MAX));
        assert_eq!(pace.pause(now + Duration::from_secs(20)), None);
        pace.failed(Kind::Busy, Some(Duration::from_secs(1 << 40)), now);
        assert_eq!(pace.pause(now), Some((ASKED_MAX, Kind::Busy)));
    }
}
