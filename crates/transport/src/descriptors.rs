//! Descriptors of the process: who could take all of them stops below a ceiling, so that the control socket,
//! a reload and the store always find some, and what is open and idle is closed when there are none.

use parking_lot::Mutex;
use rustix::process::{Resource, getrlimit};
use std::collections::BTreeMap;
use std::io::Error;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of the descriptors that the system allows, one in so many is held back ...
const HELD_BACK_SHARE: u64 = 8;
/// ... but not fewer than this, unless that were more than a quarter ...
const HELD_BACK_MIN: u64 = 16;
/// ... and no more than this.
const HELD_BACK_MAX: u64 = 256;
/// Of the idle ones, one in so many is closed when descriptors are missing: those that were used least
/// recently.
const CLOSED_SHARE: usize = 8;

/// The limit of open files of this process.
pub fn limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Files and connections have descriptors below this number. The kernel gives out the lowest that is free, so
/// the number of a new one says how many are taken.
pub fn ceiling() -> u64 {
    below(limit())
}

fn below(limit: u64) -> u64 {
    limit - (limit / HELD_BACK_SHARE).clamp(HELD_BACK_MIN, HELD_BACK_MAX).min(limit / 4)
}

/// Whether a new descriptor is one that files and connections may have.
pub fn is_below_ceiling(fd: &impl AsFd) -> bool {
    u64::try_from(fd.as_fd().as_raw_fd()).is_ok_and(|number| number < ceiling())
}

/// Whether this error says that the process or the system has no descriptor left.
pub fn are_used_up(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE))
}

/// Something with a descriptor that can be closed whenever nobody uses it, because its owner opens it again.
pub trait Idle: Send + Sync {
    /// When it was used last: the greater, the later.
    fn used(&self) -> u64;

    /// Closes it, unless it is in use right now. Says whether it did.
    fn close(&self) -> bool;
}

/// What is known to be open, by the number [`enter`] gave it.
static OPEN: Mutex<BTreeMap<u64, Arc<dyn Idle>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(0);

/// From now on it may be closed when descriptors are missing. Whoever closes it himself calls [`leave`] with
/// the number.
pub fn enter(idle: Arc<dyn Idle>) -> u64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    OPEN.lock().insert(number, idle);
    number
}

pub fn leave(number: u64) {
    let _left = OPEN.lock().remove(&number);
}

/// Closes some of what is idle, least recently used first. Returns how many that were: 0 when all are in use.
pub fn close_idle() -> usize {
    let mut open: Vec<(u64, u64, Arc<dyn Idle>)> = {
        let open = OPEN.lock();
        open.iter().map(|(number, idle)| (idle.used(), *number, Arc::clone(idle))).collect()
    };
    open.sort_unstable_by_key(|(used, number, _)| (*used, *number));
    let wanted = open.len().div_ceil(CLOSED_SHARE);
    let mut closed = 0;
    for (_, number, idle) in open {
        if closed == wanted {
            break;
        }
        if idle.close() {
            leave(number);
            closed += 1;
        }
    }
    closed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn some_are_held_back() {
        assert_eq!([16, 64, 100, 1024, 20_000, u64::MAX].map(|n| n - below(n)), [4, 16, 16, 128, 256, 256]);
    }

    struct Opened {
        used: u64,
        in_use: bool,
        open: AtomicBool,
    }

    impl Idle for Opened {
        fn used(&self) -> u64 {
            self.used
        }

        fn close(&self) -> bool {
            !self.in_use && self.open.swap(false, Ordering::SeqCst)
        }
    }

    #[test]
    fn the_least_recently_used_go_and_never_those_in_use() {
        let opened: Vec<_> = (0..16)
            .map(|n| Arc::new(Opened { used: 100 - n, in_use: n == 15, open: AtomicBool::new(true) }))
            .collect();
        let numbers: Vec<_> = opened.iter().map(|one| enter(Arc::clone(one) as Arc<dyn Idle>)).collect();
        let left = || opened.iter().filter(|one| one.open.load(Ordering::SeqCst)).count();
        assert_eq!((close_idle(), left()), (2, 14));
        let is_open = |n: usize| opened[n].open.load(Ordering::SeqCst);
        assert!(is_open(15) && !is_open(14) && !is_open(13) && is_open(12));
        while close_idle() > 0 {}
        assert_eq!(left(), 1, "the one in use");
        numbers.into_iter().for_each(leave);
        assert!(OPEN.lock().is_empty());
    }
}
