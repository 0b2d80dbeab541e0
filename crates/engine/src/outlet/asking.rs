//! Sources that wait until a peer has what was sent to it: nobody says when that is, so it is looked for
//! again and again.

use super::{Outlet, Queue};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first look comes so long after a write, each further one after twice as long, up to the other.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(64);
/// At its end an outlet waits so long for a peer that has nearly everything.
const LAST_MAX: Duration = Duration::from_millis(60);
const LOOK: Duration = Duration::from_millis(1);

/// When the next look is due.
#[derive(Default)]
pub(super) struct Asking {
    at: Option<Instant>,
    in_a_row: u32,
}

impl Asking {
    /// Whether a look is due. If so, it is for the caller to take.
    pub fn take(&mut self) -> bool {
        let is_due = self.at.is_some_and(|at| at <= Instant::now());
        if is_due {
            self.at = None;
        }
        is_due
    }

    /// When to come for the next look. `None` when somebody comes for one anyway.
    fn next(&mut self) -> Option<Instant> {
        let now = Instant::now();
        if self.at.is_some_and(|at| at > now) {
            return None;
        }
        let at = now + (PAUSE * 2u32.pow(self.in_a_row.min(6))).min(PAUSE_MAX);
        self.in_a_row += 1;
        self.at = Some(at);
        self.at
    }
}

impl Outlet {
    /// Something was written, and sources wait to hear that the peer has it.
    pub(super) fn ask_soon(self: &Arc<Outlet>, queue: &mut Queue) {
        queue.asking.in_a_row = 0;
        self.ask_again(queue);
    }

    fn ask_again(self: &Arc<Outlet>, queue: &mut Queue) {
        if let Some(at) = queue.asking.next() {
            self.home.pump_at(at, self);
        }
    }

    /// Whether sources wait for what was sent to the peer.
    pub(crate) fn is_awaited(&self) -> bool {
        self.sink.try_lock().is_some_and(|mut sink| sink.ask_peer())
    }

    /// Waits for the peer to have what was sent to it, for a moment, where that is all there is.
    pub(super) fn wait_for_last(&self) {
        let until = Instant::now() + LAST_MAX;
        while self.waiting() == 0 && self.is_moving() && self.is_awaited() && Instant::now() < until {
            std::thread::park_timeout(LOOK);
        }
    }

    /// Finds out what the peer has, for the sources that wait.
    pub(super) fn ask_for_sources(self: &Arc<Outlet>) {
        let is_awaited = match self.sink.try_lock() {
            // Whoever has it asks as well, but perhaps before the peer had anything.
            None => true,
            Some(mut sink) => {
                let is_awaited = sink.ask_peer();
                if self.place.get().is_some() {
                    self.settle(sink.unsettled());
                }
                is_awaited
            }
        };
        let mut queue = self.queue.lock();
        if is_awaited && !queue.service.is_closed() {
            self.ask_again(&mut queue);
        }
    }
}
