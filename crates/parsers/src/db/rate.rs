//! `rate="1/60"` of actions: a bucket for each action and each set of messages that could share a context.

use parking_lot::Mutex;
use patterndb::model::Rate;
use std::collections::HashMap;

/// Buckets of one parser; beyond, all start anew.
const BUCKETS_MAX: usize = 100_000;

#[derive(Default)]
pub struct Rates {
    /// Only taken by actions with a rate.
    buckets: Mutex<HashMap<Box<[u8]>, Bucket>>,
}

struct Bucket {
    /// Actions that are still free, times `per_s`.
    credit: u64,
    /// Correlation time of the last look.
    at: i64,
}

impl Rates {
    /// Whether an action may be taken now, in seconds of correlation time.
    pub fn admit(&self, key: &[u8], rate: Rate, now: i64) -> bool {
        let full = u64::from(rate.count) * u64::from(rate.per_s);
        let mut buckets = self.buckets.lock();
        if buckets.len() >= BUCKETS_MAX && !buckets.contains_key(key) {
            buckets.clear();
        }
        let bucket = match buckets.get_mut(key) {
            Some(bucket) => bucket,
            None => buckets.entry(key.into()).or_insert(Bucket { credit: full, at: now }),
        };
        let passed = u64::try_from(now.saturating_sub(bucket.at)).unwrap_or(0);
        bucket.credit = bucket.credit.saturating_add(passed.saturating_mul(u64::from(rate.count))).min(full);
        bucket.at = now;
        let price = u64::from(rate.per_s);
        let free = bucket.credit >= price;
        bucket.credit -= if free { price } else { 0 };
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_as_fit_and_again_when_time_has_passed() {
        let rates = Rates::default();
        let rate = Rate { count: 2, per_s: 60 };
        let got: Vec<bool> =
            [0, 0, 0, 29, 30, 31, 1000, 1000, 1000].iter().map(|now| rates.admit(b"a", rate, *now)).collect();
        assert_eq!(got, [true, true, false, false, true, false, true, true, false]);
        assert!(rates.admit(b"b", rate, 0), "another key");
    }
}
