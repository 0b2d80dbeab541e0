//! How far delivery may be ahead of the disk. What is done and not on the disk as done comes again after a
//! power loss: a queue that asks here is never ahead by more than [`AHEAD_BYTES_MAX`], and while messages
//! come by [`AHEAD_BUSY_BYTES_MAX`], however slow the disk is.

use crate::queue::Queue;
use crate::shared::{OnRoom, QueueState, State};
use oplog::Level;

/// Bytes of messages that are dealt with, told or not, before the disk has to know that the first of them
/// are.
pub const AHEAD_BYTES_MAX: u64 = 4 << 20;
/// The same while messages are written too: the disk is told with them, and takes as long as they need.
pub const AHEAD_BUSY_BYTES_MAX: u64 = 16 << 20;
/// So many bytes to be written are messages.
const BUSY_BYTES: u64 = 64 << 10;

/// Who waits for the disk before he deals with more.
#[derive(Default)]
pub struct Ahead {
    on_move: Option<OnRoom>,
    /// Somebody asked how far he may go.
    bounded: bool,
    awaits_safe: bool,
    awaits_written: bool,
}

impl QueueState {
    /// What is done, and not on the disk as done.
    pub fn unsafe_bytes(&self) -> u64 {
        self.row.done.bytes.saturating_sub(self.safe.1.bytes)
    }

    /// Whether the disk is to be told of what is done, whatever else it has to do: from half of `ahead_max`
    /// on, so that it knows of that by the time the other half is dealt with.
    pub fn is_urgent(&self, ahead_max: u64) -> bool {
        self.ahead.awaits_safe || self.ahead.bounded && self.unsafe_bytes() >= ahead_max / 2
    }
}

impl State {
    /// How far a queue may be ahead now.
    pub fn ahead_max(&self) -> u64 {
        let bytes = self.stats.bytes_pending + self.pending.bytes() as u64;
        if bytes >= BUSY_BYTES { AHEAD_BUSY_BYTES_MAX } else { AHEAD_BYTES_MAX }
    }

    /// Whether somebody waits for messages to be written, synced or not.
    pub fn is_writing_awaited(&self) -> bool {
        self.queues.values().any(|queue| queue.ahead.awaits_written)
    }

    /// Whom to tell that more is written, and that cursors are `safe` or cannot be made so.
    pub fn moved_on(&mut self, safe: bool) -> Vec<OnRoom> {
        let ahead = self.queues.values_mut().map(|queue| &mut queue.ahead);
        let told = ahead.filter_map(|ahead| {
            let awaited = std::mem::take(&mut ahead.awaits_written) | (safe && ahead.awaits_safe);
            ahead.awaits_safe &= !safe;
            ahead.on_move.clone().filter(|_| awaited)
        });
        told.collect()
    }
}

impl Queue {
    /// `on_move` is called, from the committing thread and without locks, when [`Queue::room_ahead`] or
    /// [`Queue::written`] said no and is worth asking again. It takes the place of the one of an earlier
    /// call.
    pub fn on_move(&self, on_move: Box<dyn Fn() + Send + Sync>) {
        if let Some(queue) = self.log.shared.lock().queues.get_mut(&self.id) {
            queue.ahead.on_move = Some(on_move.into());
        }
    }

    /// How many bytes may be dealt with now, beside the `untold` ones that are and that [`Queue::done`] was
    /// not told of. When those are less than `next`, and the disk is to be waited for, `None`: then `on_move`
    /// is called. A disk that takes nothing stops nobody.
    pub fn room_ahead(&self, untold: u64, next: u64) -> Option<u64> {
        let shared = &self.log.shared;
        let mut state = shared.lock();
        let (trouble, closed, ahead_max) = (state.trouble, state.closed, state.ahead_max());
        let Some(queue) = state.queues.get_mut(&self.id) else { return Some(next) };
        queue.ahead.bounded = true;
        let ahead = queue.unsafe_bytes();
        let room = ahead_max.saturating_sub(ahead.saturating_add(untold));
        if room >= next || ahead == 0 {
            return Some(room);
        }
        if !trouble && !closed {
            queue.ahead.awaits_safe = true;
            state.urgent = true;
            drop(state);
            shared.work.notify_one();
            return None;
        }
        let said = closed || std::mem::replace(&mut state.ahead_said, true);
        drop(state);
        if !said {
            let text =
                "Messages are sent on, though the disk cannot be told: a power failure would send them again";
            oplog::limited("store-ahead", Level::Warning, text, &[("dir", &shared.path)]);
        }
        Some(next)
    }

    /// Up to which number everything is written, so that a kill of the process does not cost it. When that is
    /// less than `wanted`, `on_move` is called. A disk that takes nothing stops nobody.
    pub fn written(&self, wanted: u64) -> u64 {
        let mut state = self.log.shared.lock();
        let written = if state.trouble || state.closed { wanted } else { state.written };
        if written < wanted
            && let Some(queue) = state.queues.get_mut(&self.id)
        {
            queue.ahead.awaits_written = true;
        }
        written
    }
}

#[cfg(test)]
mod tests;
