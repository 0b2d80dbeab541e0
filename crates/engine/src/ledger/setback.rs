//! Why a destination does not take messages: the last thing that went wrong, kept until it works again.
//! Written when something fails, never on the way of a message.

use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// Bytes that are kept of what was said.
const WHY_BYTES_MAX: usize = 1024;

/// What went wrong last at a destination, while that lasts.
#[derive(Debug, Default)]
pub struct Setbacks(Mutex<Option<Setback>>);

#[derive(Clone, Debug)]
pub struct Setback {
    /// The first of those that came one after the other.
    pub since: Instant,
    /// The last of them, and what was said of it.
    pub last: Instant,
    pub why: String,
    /// When it is tried again, if that is known.
    pub next_try: Option<Instant>,
    pub times: u64,
}

impl Setbacks {
    /// It did not work, and is tried again after `pause`.
    pub fn failed(&self, why: impl std::fmt::Display, pause: Option<Duration>) {
        let now = Instant::now();
        let mut why = why.to_string();
        let cut = (0..=WHY_BYTES_MAX).rev().find(|at| why.is_char_boundary(*at)).unwrap_or(0);
        why.truncate(cut);
        let next_try = pause.and_then(|pause| now.checked_add(pause));
        let mut slot = self.0.lock();
        let (since, times) = slot.as_ref().map_or((now, 0), |known| (known.since, known.times));
        *slot = Some(Setback { since, last: now, why, next_try, times: times.saturating_add(1) });
    }

    /// The next try is not before then.
    pub fn pauses(&self, pause: Duration) {
        if let Some(known) = &mut *self.0.lock() {
            known.next_try = Instant::now().checked_add(pause);
        }
    }

    /// It works.
    pub fn is_over(&self) {
        *self.0.lock() = None;
    }

    pub fn last(&self) -> Option<Setback> {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_the_last_and_how_often() {
        let setbacks = Setbacks::default();
        assert!(setbacks.last().is_none());
        setbacks.failed("refused", None);
        let first = setbacks.last().expect("a setback");
        setbacks.failed("ü".repeat(WHY_BYTES_MAX), Some(Duration::from_secs(60)));
        setbacks.pauses(Duration::from_secs(90));
        let last = setbacks.last().expect("a setback");
        assert_eq!((last.since, last.times, last.why.len()), (first.since, 2, WHY_BYTES_MAX));
        assert!(last.next_try > Instant::now().checked_add(Duration::from_secs(80)));
        setbacks.is_over();
        assert!(setbacks.last().is_none());
    }
}
