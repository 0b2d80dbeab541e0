//! Guests that take leave of their servers with something to do there: the end of the program waits for
//! them.

use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

pub fn begins() {
    *UNDER_WAY.lock() += 1;
}

pub fn ends() {
    let mut count = UNDER_WAY.lock();
    *count = count.saturating_sub(1);
    ENDED.notify_all();
}

/// Waits until no guest takes leave any more, at most so long: the last thing before the process ends.
pub fn wait_for_leaves(max: Duration) {
    let until = Instant::now() + max;
    let mut count = UNDER_WAY.lock();
    while *count > 0 && !ENDED.wait_until(&mut count, until).timed_out() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_leave_is_waited_for() {
        begins();
        let other = std::thread::spawn(ends);
        wait_for_leaves(Duration::from_secs(60));
        other.join().expect("ended");
        assert_eq!(*UNDER_WAY.lock(), 0);
        begins();
        wait_for_leaves(Duration::from_millis(1));
        assert_eq!(*UNDER_WAY.lock(), 1);
        ends();
    }
}
