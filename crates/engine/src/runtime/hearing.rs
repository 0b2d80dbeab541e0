//! Outlets that end, or that another process goes on with, are heard out first: what their servers are about
//! to answer would be sent twice otherwise.

use super::Engine;
use crate::outlet::Outlet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for answers to what is on the way, of all outlets together.
pub(super) const ANSWERS_MAX: Duration = Duration::from_secs(5);
/// The same in a take-over, where the sources stand still meanwhile.
const ANSWERS_MAX_PARTING: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);

/// Nothing new is begun at these outlets, and answers to what is on the way are waited for, so long at most
/// and as long as the servers seem well.
pub(super) fn hear_out(outlets: &[Arc<Outlet>], patience: Duration) {
    outlets.iter().for_each(|outlet| outlet.leave());
    let until = Instant::now() + patience;
    while Instant::now() < until && outlets.iter().any(|outlet| outlet.is_under_way()) {
        std::thread::park_timeout(LOOK);
    }
    // The last answer may have been heard and not acted upon.
    outlets.iter().for_each(|outlet| outlet.pump());
}

impl Engine {
    /// The same before another process goes on: where that one finds what waits. What stays here, to be sent
    /// by this process until it ends, is begun as ever.
    pub(super) fn hear_out_parting(&self) {
        let parting = |key: &str, outlet: &Arc<Outlet>, count: usize| {
            outlet.is_on_disk() || (count == 1 && !(self.alone.contains(key) && outlet.is_moving()))
        };
        let mut outlets = Vec::new();
        for (key, destination) in &self.existing.destinations {
            let all = destination.outlets();
            let count = all.len();
            outlets.extend(all.into_iter().filter(|outlet| parting(&key.id, outlet, count)));
        }
        hear_out(&outlets, ANSWERS_MAX_PARTING);
    }
}
