//! Whether a destination can be reached, as the ledger has it.

use engine::ledger::DestinationCounters;
use std::sync::Arc;

/// The note in the ledger that a destination cannot be reached, taken back when it is dropped.
pub struct Unreachable {
    counters: Arc<DestinationCounters>,
    is: bool,
}

impl Unreachable {
    pub fn new(counters: &Arc<DestinationCounters>) -> Unreachable {
        Unreachable { counters: Arc::clone(counters), is: false }
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
