//! A queue of the log: appended at its end, read from anywhere, done from its front.

use crate::log::Log;
use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// When the value given to [`Queue::append`] is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safe {
    /// When the system has it: survives the end of the process.
    Written,
    /// When the disk has it: survives a power loss.
    Synced,
}

/// Dropped by the committing thread when the messages are safe; never dropped if they could not be made so.
pub type Held = Box<dyn Any + Send>;

/// Why nothing was stored. After any of the first three, `on_room` of the queue is called once it is worth trying again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The queue has as many bytes as it may have.
    Capacity,
    /// There is no space on the disk, or it cannot be written to.
    Disk,
    /// The disk is slower than what comes: as much as may waits to be written. It will be over in moments.
    Busy,
    /// A message is larger than [`crate::MESSAGE_BYTES_MAX`]: it will never fit.
    TooLarge,
    /// The log is closed, or the queue was removed.
    Closed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub messages: u64,
    pub bytes: u64,
}

/// Messages of a queue, read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub bytes: Vec<u8>,
    /// Where each message ends in `bytes`.
    pub ends: Vec<u32>,
    /// From what was asked for to what is to be asked for next, and to be told to [`Queue::done`] when all of it is dealt with.
    /// Empty when nothing is written beyond.
    pub seqs: Range<u64>,
    /// Messages of this queue in that range that cannot be read any more. They count as done messages too.
    pub lost: u64,
}

/// One of the log's queues. Handles of the same name are the same queue.
#[derive(Clone)]
pub struct Queue {
    log: Arc<Log>,
    id: u32,
}

impl Queue {
    /// Stores messages at the end of the queue; `ends` are the ends of each in `bytes`. Copies and returns, never waits for the disk;
    /// `held` is dropped when they are safe. All or nothing is stored. The numbers of the messages are in the range, which may have
    /// holes; `end` is what [`Queue::done`] is to be told when all are dealt with.
    pub fn append(&self, bytes: &[u8], ends: &[u32], safe: Safe, held: Held) -> Result<Range<u64>, (Full, Held)> {
        let _ = (&self.log, self.id, bytes, ends, safe, held);
        todo!()
    }

    pub fn waiting(&self) -> Waiting {
        todo!()
    }

    /// Reads from `from` on, about `bytes_max` bytes, at least one message if there is one. Reads from the disk. When what comes next is
    /// appended and not yet written, waits for it a moment (at most 100 ms) and may return nothing.
    pub fn read(&self, from: u64, bytes_max: usize) -> io::Result<Read> {
        let _ = (from, bytes_max);
        todo!()
    }

    /// Where reading has to begin.
    pub fn first_waiting(&self) -> u64 {
        todo!()
    }

    /// The number after the last message of this queue; nothing waits when [`Queue::first_waiting`] is as large.
    pub fn end(&self) -> u64 {
        todo!()
    }

    /// Everything before `next_seq` is dealt with, which is so many messages and bytes more than before. Those that a read said are lost
    /// count as messages. To be called in order.
    pub fn done(&self, next_seq: u64, messages: u64, bytes: u64) {
        let _ = (next_seq, messages, bytes);
        todo!()
    }
}
