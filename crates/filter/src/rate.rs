//! `rate-limit()`: a token bucket for each key, shared by all workers or one in each.

use crate::context::{Workspace, new_asker};
use record::{Batch, Record, Stamp};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use template::{Msg, RenderContext, Template};

/// Keys remembered; later ones share one bucket, so that senders that invent keys cannot fill the memory.
const KEYS_MAX: usize = 100_000;
/// Longer keys are cut.
const KEY_BYTES_MAX: usize = 256;

pub struct RateLimit {
    key: Option<Template>,
    /// Messages a second, and the most that can be saved up.
    rate: u32,
    buckets: Mutex<Buckets>,
    /// Each worker has buckets of its own, which it knows by this number.
    own: Option<u64>,
}

/// Locked once for a batch, not for a message.
#[derive(Default)]
pub struct Buckets {
    keys: HashMap<Box<[u8]>, Bucket>,
    shared: Option<Bucket>,
    /// When idle keys were last looked for: not more often than once a second, however many new keys come.
    swept_us: Option<i64>,
}

#[derive(Clone, Copy)]
struct Bucket {
    /// Millionths of a message.
    tokens: u64,
    filled_us: i64,
}

const ONE: u64 = 1_000_000;

impl Bucket {
    fn full(rate: u32, now_us: i64) -> Bucket {
        Bucket { tokens: u64::from(rate) * ONE, filled_us: now_us }
    }

    fn refill(&mut self, rate: u32, now_us: i64) {
        // A clock set back refills nothing.
        let passed = u64::try_from(now_us.saturating_sub(self.filled_us)).unwrap_or(0);
        self.tokens =
            self.tokens.saturating_add(passed.saturating_mul(u64::from(rate))).min(u64::from(rate) * ONE);
        self.filled_us = now_us;
    }

    fn take(&mut self, rate: u32, now_us: i64) -> bool {
        self.refill(rate, now_us);
        let enough = self.tokens >= ONE;
        if enough {
            self.tokens -= ONE;
        }
        enough
    }
}

impl RateLimit {
    /// `by_worker`: the rate is that of each worker, not of all together.
    pub fn new(key: Option<Template>, rate: u32, by_worker: bool) -> RateLimit {
        RateLimit { key, rate, buckets: Mutex::default(), own: by_worker.then(new_asker) }
    }

    pub fn key(&self) -> Option<&Template> {
        self.key.as_ref()
    }

    /// Gives the buckets of this worker, or those of all, to `f`.
    pub fn with<R>(&self, work: &mut Workspace, f: impl FnOnce(&mut Buckets, &mut Workspace) -> R) -> R {
        let Some(own) = self.own else {
            let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
            return f(&mut buckets, work);
        };
        let mut buckets = work.take_state(own, Buckets::default);
        let result = f(&mut buckets, work);
        work.keep_state(own, buckets);
        result
    }

    /// Takes a token for the message, if there is one.
    pub fn passes(
        &self,
        buckets: &mut Buckets,
        batch: &Batch,
        record: &Record,
        work: &mut Workspace,
        render: &mut RenderContext,
    ) -> bool {
        let now = micros(render.now());
        let mut key = work.text();
        if let Some(template) = &self.key {
            template.render(Msg { batch, record }, render, &mut key);
            key.truncate(KEY_BYTES_MAX);
        }
        let passes = self.bucket(buckets, &key, now).take(self.rate, now);
        work.keep_text(key);
        passes
    }

    fn bucket<'b>(&self, buckets: &'b mut Buckets, key: &[u8], now: i64) -> &'b mut Bucket {
        if !buckets.keys.contains_key(key) {
            let due = buckets.swept_us.is_none_or(|at| now.abs_diff(at) >= ONE);
            if buckets.keys.len() >= KEYS_MAX && due {
                buckets.swept_us = Some(now);
                // A full bucket says no more than none at all.
                let rate = self.rate;
                buckets.keys.retain(|_, bucket| {
                    bucket.refill(rate, now);
                    bucket.tokens < u64::from(rate) * ONE
                });
            }
            if buckets.keys.len() >= KEYS_MAX {
                return buckets.shared.get_or_insert(Bucket::full(self.rate, now));
            }
            buckets.keys.insert(key.into(), Bucket::full(self.rate, now));
        }
        match buckets.keys.get_mut(key) {
            Some(bucket) => bucket,
            None => buckets.shared.get_or_insert(Bucket::full(self.rate, now)),
        }
    }
}

fn micros(stamp: Stamp) -> i64 {
    stamp.secs.saturating_mul(1_000_000).saturating_add(i64::from(stamp.usec))
}
