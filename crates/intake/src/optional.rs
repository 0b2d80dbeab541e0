//! `optional(yes)`: a source that cannot be opened keeps nothing from starting, and is tried again with each
//! reload.

use diag::Fault;
use std::collections::BTreeMap;

/// What could not be opened, and how often. As many entries at most as configurations named optional sources.
static FAILED: parking_lot::Mutex<BTreeMap<String, u64>> = parking_lot::Mutex::new(BTreeMap::new());

/// The option and what the source opens.
pub struct Optional {
    is: bool,
    key: String,
    location: String,
}

impl Optional {
    pub fn new(is: bool, key: &str, location: &str) -> Optional {
        Optional { is, key: key.to_owned(), location: location.to_owned() }
    }

    pub fn is(&self) -> bool {
        self.is
    }

    /// Goes into [`engine::driver::SourceDriver::opened_with`]: after a failure it differs from what it was,
    /// so that a reload does not take the source for one that runs already.
    pub fn attempt(&self) -> u64 {
        if self.is { FAILED.lock().get(&self.key).copied().unwrap_or(0) } else { 0 }
    }

    /// What becomes of an attempt to open the source.
    pub fn settle(&self, outcome: Result<(), Fault>) -> Result<(), Fault> {
        let Err(fault) = outcome else { return Ok(()) };
        if !self.is {
            return Err(fault);
        }
        *FAILED.lock().entry(self.key.clone()).or_default() += 1;
        oplog::warning(
            "Optional source cannot be opened, going on without it",
            &[("location", &self.location), ("error", &fault)],
        );
        Ok(())
    }
}
