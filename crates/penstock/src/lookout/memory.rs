//! Memory that was freed goes back to the system. The allocator of glibc keeps it for itself where something
//! behind it is still in use, so that the peak of a day, contexts that ended or queues that emptied, would be
//! held for good.
//!
//! `malloc_trim` is a foreign function and therefore unsafe to call. It takes no pointer, locks the allocator
//! itself, and touches only memory that nobody has.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

/// A program of this size has nothing to give back.
const SMALL_BYTES: u64 = 64 << 20;
/// Between two times, while something is given back.
const PAUSE: Duration = Duration::from_secs(10);
/// The same while nothing is.
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// It was worth it when at least one part in so many was given back.
const WORTH_PARTS: u64 = 16;

pub struct FreedMemory {
    pause: Duration,
    next: Option<Instant>,
}

impl Default for FreedMemory {
    fn default() -> FreedMemory {
        FreedMemory { pause: PAUSE, next: None }
    }
}

impl FreedMemory {
    pub fn look(&mut self, now: Instant) {
        self.look_with(now, resident_bytes, give_back);
    }

    fn look_with(&mut self, now: Instant, resident: impl Fn() -> u64, give_back: impl FnOnce()) {
        if now < *self.next.get_or_insert(now + PAUSE) {
            return;
        }
        let before = resident();
        if before > SMALL_BYTES {
            give_back();
            let gone = before.saturating_sub(resident());
            self.pause = if gone > before / WORTH_PARTS { PAUSE } else { (2 * self.pause).min(PAUSE_MAX) };
        }
        self.next = Some(now + self.pause);
    }
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next());
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) << 10
}

#[cfg(target_env = "gnu")]
fn give_back() {
    // SAFETY: it takes no pointer, and locks the allocator itself.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// The seconds at which memory is given back, of a program that has `before` MiB and then `after`.
    fn times(before: u64, after: u64) -> Vec<u64> {
        let (start, mut freed) = (Instant::now(), FreedMemory::default());
        let gives_back = |second: &u64| {
            let has = Cell::new(before << 20);
            freed.look_with(start + Duration::from_secs(*second), || has.get(), || has.set(after << 20));
            has.get() != before << 20
        };
        (0..200).filter(gives_back).collect()
    }

    #[test]
    fn who_has_much_gives_back_and_seldom_where_that_is_little() {
        assert_eq!(times(64, 1), [0; 0]);
        assert_eq!(times(300, 60), (1..20).map(|n| n * 10).collect::<Vec<_>>());
        assert_eq!(times(300, 299), [10, 30, 70, 130, 190]);
    }
}
