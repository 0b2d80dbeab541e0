//! `failback()`: while another server is in use, sees whether the primary one answers again.

use super::Dialed;
use crate::single::SinkContext;
use crate::target::{Address, Connect};
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct Failback {
    /// `tcp-probe-interval()`.
    pub interval: Duration,
    /// `successful-probes-required()`.
    pub successes: u32,
}

pub struct Probing<L> {
    options: Failback,
    next: Instant,
    good: u32,
    attempt: Option<L>,
}

impl<L: Dialed> Probing<L> {
    pub fn new(options: Failback) -> Probing<L> {
        Probing { options, next: Instant::now(), good: 0, attempt: None }
    }

    /// A new connection: the first probe comes an interval later.
    pub fn begin(&mut self, now: Instant) {
        self.next = now + self.options.interval;
        self.good = 0;
        self.attempt = None;
    }

    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.next
    }

    /// Looks at the probe under way and sends one to `address`, when it is time for it. Returns whether
    /// enough in a row succeeded.
    pub fn turn(
        &mut self,
        address: Option<Address>,
        connect: &Connect,
        place: &SinkContext,
        now: Instant,
    ) -> bool {
        if let Some(mut attempt) = self.attempt.take() {
            match attempt.is_established(now) {
                Ok(true) => self.good += 1,
                // Still under way, unless its time is over.
                Ok(false) if !self.is_due(now) => self.attempt = Some(attempt),
                _ => self.good = 0,
            }
        }
        if self.good >= self.options.successes {
            return true;
        }
        if self.is_due(now) {
            self.next = now + self.options.interval;
            let probe = address.and_then(|a| connect.stream(&a).and_then(|s| L::new(s, place, None)).ok());
            match probe {
                Some(probe) => self.attempt = Some(probe),
                None => self.good = 0,
            }
        }
        false
    }
}
