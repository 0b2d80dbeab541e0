//! Messages that come a second time, because their sender could not be told before a crash that they are on
//! disk.

use super::Outlet;
use crate::chunk::Chunk;
use crate::ledger::Reason;
use store::{Lot, Origin};

impl Outlet {
    /// Announced messages, those from `at` on, are of this origin. What of them is on disk already is taken
    /// out and counted.
    pub(crate) fn note_origin(&self, chunk: &mut Chunk, at: usize, origin: &Origin) {
        let Some(place) = self.place.get() else { return };
        if place.log.may_repeat() {
            let lot = Lot { origin: Some(origin.clone()), messages: (chunk.ends.len() - at) as u32 };
            let queue = self.queue.lock();
            let repeated =
                queue.spool.as_ref().map_or(0, |spool| place.log.repeated(spool.name(), &lot) as usize);
            drop(queue);
            if repeated > 0 {
                let texts = chunk.iter().skip(at).take(repeated);
                self.counters.remains.keep_all(Reason::Repeated, repeated, texts);
                chunk.take_out(at, repeated);
                self.counters.waiting.sub(repeated);
                self.counters.dropped.add(Reason::Repeated, repeated);
                // What is left of them is not what the origin says.
                return;
            }
        }
        chunk.came_from(origin, at);
    }
}
