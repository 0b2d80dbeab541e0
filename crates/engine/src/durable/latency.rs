//! How long messages of `disk-buffer(reliable(yes))` were under way from being received to being safe on
//! disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds in microseconds: close together where it is asked whether 15 or 25 milliseconds are kept.
pub const BOUNDS_US: [u64; 24] = [
    250,
    500,
    1000,
    2000,
    3000,
    4000,
    5000,
    6000,
    8000,
    10_000,
    12_000,
    15_000,
    20_000,
    25_000,
    30_000,
    40_000,
    50_000,
    75_000,
    100_000,
    150_000,
    250_000,
    500_000,
    1_000_000,
    u64::MAX,
];

/// Written by the log's thread, a few times for each group.
#[derive(Debug, Default)]
pub struct SafeLatency {
    buckets: [AtomicU64; BOUNDS_US.len()],
    sum_us: AtomicU64,
    max_us: AtomicU64,
}

impl SafeLatency {
    pub(crate) fn note(&self, took: Duration, messages: u64) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let at = BOUNDS_US.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get(at) {
            bucket.fetch_add(messages, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us.saturating_mul(messages), Ordering::Relaxed);
        self.max_us.fetch_max(us, Ordering::Relaxed);
    }

    /// Each bound and the messages that took no longer.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let mut sum = 0;
        let upto = |(bound, messages): (&u64, &AtomicU64)| {
            sum += messages.load(Ordering::Relaxed);
            (*bound, sum)
        };
        BOUNDS_US.iter().zip(&self.buckets).map(upto).collect()
    }

    pub fn sum(&self) -> Duration {
        Duration::from_micros(self.sum_us.load(Ordering::Relaxed))
    }

    pub fn max(&self) -> Duration {
        Duration::from_micros(self.max_us.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_the_last_takes_everything() {
        let latency = SafeLatency::default();
        latency.note(Duration::from_micros(250), 1);
        latency.note(Duration::from_millis(15), 20);
        latency.note(Duration::from_secs(60), 300);
        let upto =
            |us: u64| latency.buckets().iter().find(|(bound, _)| *bound == us).map(|(_, count)| *count);
        assert_eq!(
            (upto(250), upto(12_000), upto(15_000), upto(u64::MAX)),
            (Some(1), Some(1), Some(21), Some(321))
        );
        assert_eq!(latency.max(), Duration::from_secs(60));
        assert_eq!(latency.sum(), Duration::from_micros(250 + 20 * 15_000 + 300 * 60_000_000));
    }
}
