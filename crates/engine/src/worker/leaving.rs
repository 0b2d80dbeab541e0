//! Connections that nothing is read from any more and that still have something to say: the end of the
//! process waits a moment for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The longest that a peer is waited for which was told to go.
pub const LEAVE_MAX: Duration = Duration::from_secs(2);

/// How many there are.
#[derive(Default)]
pub(super) struct Count(Arc<AtomicUsize>);

/// One of them, as long as it is not dropped.
pub struct Leaving(Arc<AtomicUsize>);

impl Count {
    pub fn enter(&self) -> Leaving {
        self.0.fetch_add(1, Ordering::SeqCst);
        Leaving(Arc::clone(&self.0))
    }

    pub fn is_any(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
