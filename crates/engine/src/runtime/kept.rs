//! Queues that a stop or a take-over has left on disk for destinations without `disk-buffer()`, and what
//! becomes of them when the next configuration does not have the destination any more: dead letters. The
//! state file says which queues these are, and whose.

use super::Engine;
use crate::chunk::Chunk;
use crate::durable::LogFolder;
use crate::outlet::Outlet;
use std::sync::Arc;

/// Before the name of the queue, in the state file; the value is the destination.
const MARK: &[u8] = b"kept-at-stop/";
const GONE: &str = "its destination was not in the configuration any more at a start";

impl Engine {
    /// Notes what is on disk for the next start, and forgets what is not any more.
    pub(super) fn note_kept(&self) {
        let state = self.shared.state();
        for (id, destination) in &self.view.destinations {
            for (index, outlet) in destination.outlets().iter().enumerate() {
                if let Some(queue) = outlet.left_in_refuge() {
                    self.note_left(id, outlet, index, &queue);
                }
            }
        }
        let place = self.state_place();
        for (mark, _) in state.with_prefix(MARK) {
            let queue = mark.get(MARK.len()..).unwrap_or_default();
            if place.as_ref().is_some_and(|place| !place.has(queue)) {
                state.remove(&mark);
            }
        }
    }

    /// Notes what an outlet has left in a queue, and in which form it stands there: the next configuration
    /// may have the destination in another one, and takes it along.
    fn note_left(&self, id: &str, outlet: &Outlet, index: usize, queue: &[u8]) {
        self.shared.state().put(&[MARK, queue].concat(), id.as_bytes());
        let mut all = self.existing.destinations.iter();
        if let Some((key, destination)) = all.find(|(key, _)| key.id == *id)
            && !destination.names_outlets()
            && let Some(place) = self.state_place()
        {
            let address = destination.described().1;
            self.note_queue(key, (&address, index), outlet, (&place.dir, queue.to_vec()));
        }
    }

    /// What waits at an outlet is put on disk for the process that takes over. What cannot be is returned.
    pub(super) fn leave_behind(&self, id: &str, outlet: &Outlet) -> Vec<Chunk> {
        let (chunks, queue) = outlet.leave_behind(&self.shared.durable);
        if let Some(queue) = queue {
            let of = self.view.destinations.iter().find(|(key, _)| **key == *id);
            let outlets = of.map_or_else(Vec::new, |(_, destination)| destination.outlets());
            let index = outlets.iter().position(|one| std::ptr::eq(&**one, outlet)).unwrap_or_default();
            self.note_left(id, outlet, index, queue);
        }
        chunks
    }

    /// The log of the state folder, if it is open.
    fn state_place(&self) -> Option<Arc<LogFolder>> {
        let durable = &self.shared.durable;
        let dir = durable.state_dir()?.canonicalize().ok()?;
        durable.places().into_iter().find(|place| place.dir == dir)
    }

    /// What lies in such queues and belongs to no destination becomes dead letters. At a start, that is
    /// whatever nobody uses; later, a destination of that name may still come to it.
    pub(super) fn bury_kept(&self, is_start: bool) {
        let state = self.shared.state();
        for (mark, id) in state.with_prefix(MARK) {
            let queue = mark.get(MARK.len()..).unwrap_or_default();
            let id = String::from_utf8_lossy(&id).into_owned();
            let runs = self.existing.destinations.keys().any(|key| key.id == id);
            let Some(place) = self.shared.durable.kept_in(queue) else { continue };
            if place.is_used(queue) || (runs && !is_start) {
                continue;
            }
            let letters = self.shared.durable.letters();
            let (kept, outcome) = match letters {
                Ok(letters) => letters.take_queue(&place, queue, &id, GONE),
                Err(why) => (0, Err(why)),
            };
            if kept > 0 {
                oplog::warning(
                    "Messages that a stop has left for a destination that is gone are kept as dead letters",
                    &[("destination", &id), ("messages", &kept)],
                );
            }
            match outcome {
                Ok(()) => state.remove(&mark),
                Err(why) => oplog::error(
                    "Messages that a stop has left for a destination that is gone stay in their queue",
                    &[("destination", &id), ("queue", &String::from_utf8_lossy(queue)), ("error", &why)],
                ),
            }
        }
    }
}
