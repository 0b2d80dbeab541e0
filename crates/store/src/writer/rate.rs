//! How much is written at the moment.

use std::time::{Duration, Instant};

/// So long is looked back, at least.
const SPAN: Duration = Duration::from_millis(250);

#[derive(Default)]
pub struct Rate {
    begun: Option<Instant>,
    bytes: u64,
    last: u64,
}

impl Rate {
    /// So many bytes more are written; returns bytes a second.
    pub fn of(&mut self, bytes: u64) -> u64 {
        self.at(Instant::now(), bytes)
    }

    fn at(&mut self, now: Instant, bytes: u64) -> u64 {
        let begun = *self.begun.get_or_insert(now);
        let took = now.duration_since(begun);
        if took >= SPAN {
            self.last = (self.bytes as f64 / took.as_secs_f64()) as u64;
            (self.begun, self.bytes) = (Some(now), 0);
        }
        self.bytes += bytes;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_moments() {
        let (mut rate, start) = (Rate::default(), Instant::now());
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        assert_eq!(rate.at(at(0), 1000), 0);
        assert_eq!(rate.at(at(100), 1000), 0);
        assert_eq!(rate.at(at(500), 10), 4000);
        assert_eq!(rate.at(at(600), 10), 4000);
        assert_eq!(rate.at(at(2500), 10), 10);
    }
}
