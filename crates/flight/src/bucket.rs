//! `throttle()`: so many messages a second, saved up for a second at most.

use std::time::{Duration, Instant};

/// The shortest wait: at high rates several messages go at a time.
const WAIT_MIN: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Bucket {
    rate: u32,
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    /// `None` where there is no limit.
    pub fn new(rate: u32, now: Instant) -> Option<Bucket> {
        (rate > 0).then(|| Bucket { rate, tokens: f64::from(rate), filled: now })
    }

    /// Messages that may go now.
    pub fn allowed(&mut self, now: Instant) -> usize {
        let gained = now.saturating_duration_since(self.filled).as_secs_f64() * f64::from(self.rate);
        self.tokens = (self.tokens + gained).min(f64::from(self.rate));
        self.filled = now;
        self.tokens as usize
    }

    pub fn spend(&mut self, messages: usize) {
        self.tokens -= messages as f64;
    }

    /// Until the next message may go.
    pub fn wait(&self) -> Duration {
        let missing = (1.0 - self.tokens).max(0.0);
        Duration::from_secs_f64(missing / f64::from(self.rate)).max(WAIT_MIN)
    }
}
