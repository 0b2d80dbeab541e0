//! How far the destination is behind its sources, in time. As long as that is little, the sources wait for it
//! rather than that what they bring takes the way over the disk, which costs more. One that is slow, or
//! pauses, does not hold them back: that is what it has a disk for.

use super::{Memory, Spool};
use crate::chunk::Chunk;
use crate::window::{Ticket, Tickets};
use std::time::{Duration, Instant};

/// The sources wait for a destination that is behind by so much, and not for one that is behind by twice as
/// much.
pub(in crate::outlet) const LAG_MAX: Duration = Duration::from_millis(250);

/// Some of what waits came at a known time, or before it.
#[derive(Default)]
pub(super) struct Lag {
    since: Option<Instant>,
    /// So many messages at the front had come by then.
    before: usize,
    pub clock: Clock,
}

/// The time that lags are measured in: tests have one of their own, which passes when they say so.
#[derive(Clone, Default)]
pub(in crate::outlet) struct Clock {
    #[cfg(test)]
    set: std::sync::Arc<parking_lot::Mutex<Option<Instant>>>,
}

impl Clock {
    pub fn now(&self) -> Instant {
        #[cfg(test)]
        if let Some(set) = *self.set.lock() {
            return set;
        }
        Instant::now()
    }

    /// From now on time stands still, and goes on by so much.
    #[cfg(test)]
    pub fn pass(&self, time: Duration) {
        let now = self.now();
        *self.set.lock() = Some(now + time);
    }
}

impl Lag {
    /// Messages came, and so many wait with them.
    pub fn came(&mut self, waiting: usize, now: Instant) {
        if self.since.is_none() {
            (self.since, self.before) = (Some(now), waiting);
        }
    }

    /// `messages` went from the front, and so many wait still.
    pub fn went(&mut self, messages: usize, waiting: usize, now: Instant) {
        self.before = self.before.saturating_sub(messages);
        if self.before == 0 {
            (self.since, self.before) = ((waiting > 0).then_some(now), waiting);
        }
    }

    pub fn is_long(&self, now: Instant) -> bool {
        self.since.is_some_and(|since| now.saturating_duration_since(since) > LAG_MAX)
    }
}

impl Spool {
    /// The memory part is full: the sources that wait until there is room, so that the chunk can go there
    /// nevertheless once it is on disk.
    pub(super) fn to_hold(&self, memory: &Memory<'_>, chunk: &Chunk, now: Instant) -> Tickets {
        if memory.flow.is_stalled() || self.is_overfull(*memory.messages) || self.lag.is_long(now) {
            return Tickets::default();
        }
        chunk.tickets.another_of(Ticket::can_wait)
    }

    /// Notes what was written, and lets the sources go that need not or should not wait any longer. Returns
    /// whether what is in memory only is to go to disk, so that its sources can go too.
    pub fn look_at_lag(&mut self, done: usize, messages: usize, now: Instant) -> bool {
        self.lag.went(done, messages, now);
        let is_long = self.lag.is_long(now);
        if is_long || self.is_half_empty(messages) {
            self.held.settle();
        }
        is_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_what_waits_counts_whatever_comes_and_goes_behind_it() {
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        let mut lag = Lag::default();
        assert!(!lag.is_long(at(10_000)), "nothing waits");
        lag.came(10, at(0));
        lag.came(30, at(200));
        lag.went(9, 21, at(200));
        assert!(!lag.is_long(at(250)) && lag.is_long(at(251)), "the tenth came at 0");
        lag.went(1, 20, at(300));
        assert!(
            !lag.is_long(at(550)) && lag.is_long(at(551)),
            "of the rest it is known that it was there at 300"
        );
        lag.went(20, 0, at(600));
        assert!(!lag.is_long(at(10_000)), "nothing waits");
    }
}
