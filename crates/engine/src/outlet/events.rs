//! What happens to an outlet beside messages: its descriptor is ready, files are to be opened anew, a second
//! is over.

use super::{Outlet, Sink};
use std::sync::Arc;
use std::time::Instant;

impl Outlet {
    /// The descriptor became ready.
    pub fn event(self: &Arc<Outlet>) {
        if self.is_over() {
            return;
        }
        self.sink.lock().event();
        self.queue.lock().not_before = None;
        self.pump();
    }

    pub fn reopen(self: &Arc<Outlet>) {
        self.anew(|sink| sink.reopen());
    }

    pub fn reloaded(self: &Arc<Outlet>) {
        self.anew(|sink| sink.reloaded());
    }

    fn anew(self: &Arc<Outlet>, tell: impl FnOnce(&mut dyn Sink)) {
        if self.is_over() {
            return;
        }
        // A message that was begun ends where it began.
        self.pump();
        tell(&mut **self.sink.lock());
        self.queue.lock().not_before = None;
        self.pump();
    }

    /// Once a second: notices an outlet in which nothing moves.
    pub fn tick(self: &Arc<Outlet>, now: Instant) {
        self.tell_of_shedding(now);
        if self.is_over() {
            return;
        }
        let (is_well, is_awaited) =
            self.sink.try_lock().map_or((false, false), |mut sink| (sink.is_well(now), sink.ask_peer()));
        let mut queue = self.queue.lock();
        // With a queue on disk nobody waits for a peer that takes nothing.
        let waits = !queue.chunks.is_empty() || (is_awaited && queue.spool.is_some());
        let stalls = !queue.attendance.is_busy() && waits && !queue.progressed && !is_well;
        queue.progressed = false;
        queue.is_well = is_well;
        let is_held = queue.held > 0;
        match stalls {
            true => self.stall(queue),
            false => drop(queue),
        }
        if is_held {
            return;
        }
        let own = self.sink.try_lock().and_then(|mut sink| {
            sink.tick(now);
            if self.place.get().is_some() {
                self.settle(sink.unsettled());
            }
            sink.own(now)
        });
        let has_own = own.is_some();
        if let Some(chunk) = own {
            self.say_own(&chunk);
            self.push_new(chunk);
        }
        // The sink may have heard of something when it was called.
        if has_own || waits {
            self.pump();
        }
    }
}
