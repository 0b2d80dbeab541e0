//! What the engine knows of a parser's contexts: whose they are, so that a reload can hand them over, and how to close them.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The contexts of one reference of a parser.
pub trait State: Any + Send + Sync {
    /// The persist-name(), or what tells the parser from others.
    fn key(&self) -> &str;

    /// From now on every batch, above all the empty ones of ticks, closes all contexts as if their time was over: nobody will come back.
    fn close(&self);

    fn counters(&self) -> &StateCounters;

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Counted per batch.
#[derive(Debug, Default)]
pub struct StateCounters {
    /// Messages made.
    pub generated: AtomicU64,
    /// Contexts closed before their time for want of room.
    pub closed_early: AtomicU64,
}

impl StateCounters {
    pub(super) fn add(&self, generated: usize, closed_early: usize) {
        if generated > 0 {
            self.generated.fetch_add(generated as u64, Relaxed);
        }
        if closed_early > 0 {
            self.closed_early.fetch_add(closed_early as u64, Relaxed);
        }
    }
}
