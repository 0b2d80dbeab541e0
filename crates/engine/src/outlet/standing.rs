//! How an outlet stands at a moment: what waits there, since when, and how much more has room. For whoever
//! says why something waits; asked now and then.

use super::{Outlet, Waits};
use crate::durable::DiskBuffer;
use std::time::Instant;

/// What waits at an outlet.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub messages: usize,
    /// Messages that have left it since it began: what does not grow stands still.
    pub finished: u64,
    /// When the oldest of them came, if that is known.
    pub oldest: Option<Instant>,
    /// It waits for something that is not late: the rest of a batch, an answer, a rate.
    pub is_well: bool,
    /// What for.
    pub waits: Waits,
    /// Something that came to it, or to others of its log, is not safe on disk yet.
    pub is_being_stored: bool,
    /// Messages without flow-control do not hold their sources any more.
    pub stalled: bool,
    pub next_try: Option<Instant>,
    /// What bounds it. None where the windows of the sources do.
    pub room: Option<Headroom>,
}

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headroom {
    /// `log-fifo-size()`, of messages without flow-control.
    Messages { used: u64, max: u64 },
    /// `disk-buffer()`.
    DiskBytes { used: u64, max: u64 },
}

impl Outlet {
    pub fn standing(&self) -> Standing {
        let waits = self.sink.try_lock().map(|sink| sink.waits_for()).unwrap_or_default();
        let messages_max = self.limits.lock().messages_max as u64;
        let queue = self.queue.lock();
        let in_memory = queue.messages;
        let on_disk = queue.spool.as_ref().map_or(0, |spool| spool.waiting());
        let room = match &queue.spool {
            Some(spool) if spool.capacity_bytes() < DiskBuffer::BOUNDLESS => spool.queue().map(|stored| {
                Headroom::DiskBytes { used: stored.waiting().bytes, max: spool.capacity_bytes() }
            }),
            // Before it stalls, or with flow-control only, the windows of the sources are the bound.
            // What the last run left is read from disk here too; there is no more room for that.
            _ if queue.flow.is_stalled() && queue.chunks.iter().any(|chunk| !chunk.flow_control) => {
                Some(Headroom::Messages { used: in_memory as u64, max: messages_max })
            }
            _ => None,
        };
        let front = queue.chunks.front().and_then(crate::chunk::Chunk::came);
        Standing {
            messages: in_memory + on_disk,
            finished: queue.finished,
            oldest: if queue.attendance.is_busy() { queue.in_hand.or(front) } else { front },
            is_well: queue.is_well && !queue.attendance.is_busy(),
            waits,
            is_being_stored: queue
                .spool
                .as_ref()
                .is_some_and(|spool| spool.place().log.load().is_on_its_way()),
            stalled: queue.flow.is_stalled(),
            next_try: queue.not_before.filter(|at| *at > Instant::now()),
            room,
        }
    }
}
