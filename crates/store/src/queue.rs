//! A queue of the log: appended at its end, read from anywhere, done from its front.

use crate::MESSAGE_BYTES_MAX;
use crate::log::Log;
use crate::origin::Lot;
use crate::read::{ReadPosition, read};
use crate::report::Waiting;
use crate::shared::QueueState;
use parking_lot::Mutex;
use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// When the value given to [`Queue::append`] is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Safe {
    /// When the system has it: survives the end of the process.
    Written,
    /// When the disk has it: survives a power loss.
    Synced,
}

/// Dropped by the committing thread when the messages are safe; never dropped if they could not be made so.
pub type Held = Box<dyn OnSafe>;

/// Whoever wants to know when messages are safe. Told once, in one of these ways; dropped without a word only
/// when they were not taken.
pub trait OnSafe: Any + Send {
    /// They are as safe as was asked for.
    fn safe(self: Box<Self>);

    /// The log ends, and they are not.
    fn never_safe(self: Box<Self>);
}

impl std::fmt::Debug for dyn OnSafe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OnSafe")
    }
}

/// Nobody wants to know.
impl OnSafe for () {
    fn safe(self: Box<Self>) {}

    fn never_safe(self: Box<Self>) {}
}

/// Why nothing was stored. After any of the first three, `on_room` of the queue is called once it is worth
/// trying again.
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

/// Messages of a queue, read back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    pub bytes: Vec<u8>,
    /// Where each message ends in `bytes`.
    pub ends: Vec<u32>,
    /// Their numbers, in runs: from this message on, beginning with this number.
    pub numbers: Vec<(u32, u64)>,
    /// From what was asked for to what is to be asked for next, and to be told to [`Queue::done`] when all of
    /// it is dealt with. Empty when nothing is written beyond.
    pub seqs: Range<u64>,
    /// Messages of this queue in that range that cannot be read any more. They count as done messages too.
    pub lost: u64,
    /// What of those is left: the first bytes of some, in order, with whatever is wrong in them.
    pub scraps: Vec<Vec<u8>>,
}

impl Read {
    /// The number of one of its messages.
    pub fn number(&self, message: usize) -> Option<u64> {
        let runs = self.numbers.partition_point(|(first, _)| *first as usize <= message);
        let (first, number) = self.numbers.get(runs.checked_sub(1)?)?;
        (message < self.ends.len()).then(|| number + (message - *first as usize) as u64)
    }

    /// How many of its messages have numbers before `until`.
    pub fn before(&self, until: u64) -> usize {
        let runs = self.numbers.partition_point(|(_, number)| *number < until);
        let Some((first, number)) = runs.checked_sub(1).and_then(|last| self.numbers.get(last)) else {
            return 0;
        };
        let end = self.numbers.get(runs).map_or(self.ends.len(), |(next, _)| *next as usize);
        end.min((*first as usize).saturating_add((until - number) as usize))
    }
}

/// One of the log's queues. Handles of the same name are the same queue.
pub struct Queue {
    pub(crate) log: Arc<Log>,
    pub(crate) id: u32,
    place: Mutex<ReadPosition>,
}

impl Clone for Queue {
    fn clone(&self) -> Queue {
        Queue::new(self.log.clone(), self.id)
    }
}

impl Queue {
    pub(crate) fn new(log: Arc<Log>, id: u32) -> Queue {
        Queue { log, id, place: Mutex::default() }
    }

    /// Stores messages at the end of the queue; `ends` are the ends of each in `bytes`. Copies and returns,
    /// never waits for the disk; `held` is told when they are safe. All or nothing is stored. The numbers of
    /// the messages are in the range, which may have holes; its end is what [`Queue::done`] is to be told
    /// when all are dealt with.
    pub fn append(
        &self,
        bytes: &[u8],
        ends: &[u32],
        safe: Safe,
        held: Held,
    ) -> Result<Range<u64>, (Full, Held)> {
        self.append_from(bytes, ends, &[], safe, held)
    }

    /// The same for messages some of which count: the first are those of the first lot, and so on.
    pub fn append_from(
        &self,
        bytes: &[u8],
        ends: &[u32],
        lots: &[Lot],
        safe: Safe,
        held: Held,
    ) -> Result<Range<u64>, (Full, Held)> {
        let shared = &self.log.shared;
        if bytes.len() > MESSAGE_BYTES_MAX && too_large(ends) {
            return Err((Full::TooLarge, held));
        }
        let mut state = shared.lock();
        if let Some(why) = state.refusal(self.id, bytes.len() as u64) {
            return Err((why, held));
        }
        state.tell_time(shared.key);
        let seqs = shared.append(&mut state, self.id, bytes, ends, lots);
        let group = &mut state.pending;
        let idle = group.began.is_none();
        if idle {
            group.began = Some(Instant::now());
        }
        let urgent = safe == Safe::Synced && !group.synced;
        group.synced |= safe == Safe::Synced;
        group.held.push((safe, held));
        drop(state);
        if idle || urgent {
            shared.work.notify_one();
        }
        Ok(seqs)
    }

    pub fn waiting(&self) -> Waiting {
        self.state(QueueState::waiting)
    }

    /// Reads from `from` on, about `bytes_max` bytes, at least one message if there is one. Reads from the
    /// disk. When what comes next is appended and not yet written, waits for it a moment (at most 100 ms) and
    /// may return nothing. Damage is told by `lost`, it is no error. What cannot be read is one, at first: it
    /// is to be tried again after a while, and counts as damage when it still cannot be read after
    /// [`crate::READ_PATIENCE`].
    pub fn read(&self, from: u64, bytes_max: usize) -> io::Result<Read> {
        self.read_into(from, bytes_max, Vec::new(), Vec::new())
    }

    /// The same into memory that was used before.
    pub fn read_into(
        &self,
        from: u64,
        bytes_max: usize,
        mut bytes: Vec<u8>,
        mut ends: Vec<u32>,
    ) -> io::Result<Read> {
        bytes.clear();
        ends.clear();
        let mut place = self.place.lock();
        let out = Read { bytes, ends, ..Read::default() };
        read(&self.log.shared, self.id, &mut place, from, (out, bytes_max))
    }

    /// Where reading has to begin.
    pub fn first_waiting(&self) -> u64 {
        self.state(|queue| queue.row.cursor)
    }

    /// The number after the last message of this queue; nothing waits when [`Queue::first_waiting`] is as
    /// large.
    pub fn end(&self) -> u64 {
        self.state(|queue| queue.row.end)
    }

    /// Everything before `next_seq` is dealt with, which is so many messages and bytes more than before.
    /// Those that a read said are lost count as messages. To be called in order.
    pub fn done(&self, next_seq: u64, messages: u64, bytes: u64) {
        let shared = &self.log.shared;
        let mut state = shared.lock();
        let ahead_max = state.ahead_max();
        let Some(queue) = state.queues.get_mut(&self.id) else { return };
        let was_urgent = queue.is_urgent(ahead_max);
        queue.done(next_seq, messages, bytes);
        let urgent = queue.is_urgent(ahead_max) && !was_urgent;
        shared.noted.note(self.id, &queue.row);
        let room = match state.trouble {
            true => None,
            false => state.queues.get_mut(&self.id).and_then(QueueState::room),
        };
        let first = !std::mem::replace(&mut state.moved, true);
        state.urgent |= urgent;
        drop(state);
        if first || urgent {
            shared.work.notify_one();
        }
        if let Some(on_room) = room {
            on_room();
        }
    }

    fn state<T: Default>(&self, look: impl FnOnce(&QueueState) -> T) -> T {
        self.log.shared.lock().queues.get(&self.id).map(look).unwrap_or_default()
    }
}

fn too_large(ends: &[u32]) -> bool {
    let starts = std::iter::once(&0).chain(ends);
    starts.zip(ends).any(|(start, end)| end.saturating_sub(*start) as usize > MESSAGE_BYTES_MAX)
}
