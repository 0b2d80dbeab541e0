//! Memory that was freed goes back to the system. The allocator of glibc keeps it for itself where something
//! behind it is still in use, so that the peak of a day, contexts that ended or queues that emptied, would be
//! held for good. What the next batch needs again at once stays: glibc would give the end of a heap back with
//! each batch, and the kernel would clear the same pages for the next one.
//!
//! `malloc_trim` and `mallopt` are foreign functions and therefore unsafe to call. They take no pointer, lock
//! the allocator themselves, and touch only memory that nobody has.
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

/// At the end of a heap so much stays, until [`FreedMemory::look`] gives it back: some copies of a batch.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 60 << 20;
/// Only what is larger than a batch may be is asked of the kernel each time. glibc itself goes no further.
#[cfg(target_env = "gnu")]
const OWN_BYTES: libc::c_int = 32 << 20;

/// Before there are threads: what a batch takes and gives back stays with the program.
#[cfg(target_env = "gnu")]
pub fn keep_for_batches() {
    // SAFETY: they take no pointer, and lock the allocator themselves.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES);
        libc::mallopt(libc::M_MMAP_THRESHOLD, OWN_BYTES);
    }
}

#[cfg(not(target_env = "gnu"))]
pub fn keep_for_batches() {}

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

    /// The pages of a batch, and of the copies that a library makes of it, are asked for once.
    #[cfg(target_env = "gnu")]
    #[test]
    fn a_batch_needs_no_pages_of_those_before_it() {
        const COPIES: usize = 4;
        const BYTES: usize = 512 << 10;
        fn faults() -> u64 {
            let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("readable");
            let behind_name = stat.rsplit_once(')').expect("a name").1;
            behind_name.split_whitespace().nth(7).and_then(|count| count.parse().ok()).expect("minor faults")
        }
        fn batch() {
            let copies: Vec<Vec<u8>> = (0..COPIES).map(|copy| vec![copy as u8 + 1; BYTES]).collect();
            std::hint::black_box(&copies);
        }
        keep_for_batches();
        let more = std::thread::spawn(|| {
            // The first ones make room.
            (0..3).for_each(|_| batch());
            let before = faults();
            (0..10).for_each(|_| batch());
            faults() - before
        });
        let (more, pages) = (more.join().expect("a thread"), (COPIES * BYTES / 4096) as u64);
        assert!(more < pages, "{more} pages for ten batches of {pages}");
    }
}
