//! Waiting for a state. The bound is only for tests that will never get there; it is generous, so a busy
//! machine does not fail.

use std::time::{Duration, Instant};

/// How long nothing may change on the way to a state before the test is given up.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take in all, while what is missing becomes less.
const PATIENCE_MAX: Duration = Duration::from_secs(300);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Returns when `reached` does; panics with `what` when it never does.
#[track_caller]
pub fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    wait_while_some(|| (!reached()).then(|| what.to_owned()));
}

/// Returns when `missing` finds nothing missing any more; panics with what it named last.
#[track_caller]
pub fn wait_while_some(mut missing: impl FnMut() -> Option<String>) {
    let start = Instant::now();
    let (mut last, mut changed) = (String::new(), start);
    while let Some(what) = missing() {
        let is_late = changed.elapsed() >= PATIENCE && what == last;
        assert!(!is_late && start.elapsed() < PATIENCE_MAX, "gave up waiting: {what}");
        if what != last {
            (last, changed) = (what, Instant::now());
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}
