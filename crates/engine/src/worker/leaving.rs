//! Connections that nothing is read from any more and that still have something to say: the end of the
//! process waits a moment for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest that a peer is waited for which was told to go.
pub const LEAVE_MAX: Duration = Duration::from_secs(2);

/// How many there are.
#[derive(Default)]
pub(super) struct Count(Arc<AtomicUsize>);

/// One of them, as long as it is not dropped.
pub struct Leaving {
    count: Arc<AtomicUsize>,
    since: Instant,
}

impl Count {
    pub fn enter(&self) -> Leaving {
        self.0.fetch_add(1, Ordering::SeqCst);
        Leaving { count: Arc::clone(&self.0), since: Instant::now() }
    }

    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Leaving {
    /// Whether its peer is waited for no longer.
    pub fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= LEAVE_MAX
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}
