//! Whether a destination can be reached, and how often it could again, as the ledger has it.

use engine::ledger::DestinationCounters;
use std::sync::Arc;

/// The note in the ledger that a destination cannot be reached, taken back when it is dropped.
pub struct Unreachable {
    counters: Arc<DestinationCounters>,
    is: bool,
    reached_before: bool,
}

impl Unreachable {
    pub fn new(counters: &Arc<DestinationCounters>) -> Unreachable {
        Unreachable { counters: Arc::clone(counters), is: false, reached_before: false }
    }

    /// It can be reached: counted every time but the first.
    pub fn reached(&mut self) {
        self.set(false);
        self.counters.setbacks.is_over();
        if std::mem::replace(&mut self.reached_before, true) {
            self.counters.reconnects.add(1);
        }
    }

    /// It cannot, and is tried again after that.
    pub fn lost(&mut self, pause: std::time::Duration) {
        self.set(true);
        self.counters.setbacks.pauses(pause);
    }

    pub fn set(&mut self, is: bool) {
        match (std::mem::replace(&mut self.is, is), is) {
            (false, true) => self.counters.unreachable.add(1),
            (true, false) => self.counters.unreachable.sub(1),
            _ => {}
        }
    }
}

impl Drop for Unreachable {
    fn drop(&mut self) {
        self.set(false);
    }
}
