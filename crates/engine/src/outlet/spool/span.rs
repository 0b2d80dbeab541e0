//! Messages in memory that are on disk too, and how much of them is dealt with.

use std::ops::Range;
use store::Queue;

/// Bytes read at once to find a number.
const LOOK_BYTES: usize = 64 << 10;

/// Consecutive messages that came to disk together, or were read from it together. The ones at the front may
/// be delivered already.
#[derive(Debug)]
pub(super) struct Span {
    /// The numbers of all messages it was made with; of this queue there are no others among them.
    seqs: Range<u64>,
    /// Not yet delivered.
    pub messages: usize,
    pub bytes: usize,
    /// Delivered, and not told to the disk by a number of their own.
    part: usize,
    part_bytes: usize,
    /// Messages in front of them that were not readable: they count as done with the first of these.
    lost: usize,
}

impl Span {
    pub fn new(seqs: Range<u64>, messages: usize, bytes: usize) -> Span {
        Span { seqs, messages, bytes, part: 0, part_bytes: 0, lost: 0 }
    }

    pub fn with_lost(mut self, lost: usize) -> Span {
        self.lost = lost;
        self
    }

    /// `messages` more are delivered. The disk hears of it when it is the last of them.
    pub fn take(&mut self, messages: usize, bytes: usize, finished: &mut Finished) {
        self.messages -= messages;
        self.bytes -= bytes;
        self.part += messages;
        self.part_bytes += bytes;
        if self.messages == 0 {
            finished.next = Some(self.seqs.end);
            finished.stored += self.part + self.lost;
            finished.bytes += self.part_bytes;
        }
    }

    /// Nothing of it is delivered.
    pub fn is_whole(&self) -> bool {
        self.part == 0
    }

    /// Its messages with numbers before `until`, as far as they are not delivered; `None` when all have.
    pub fn before(&self, queue: Option<&Queue>, until: u64) -> Option<usize> {
        if self.seqs.end <= until {
            return None;
        }
        if until <= self.seqs.start {
            return Some(0);
        }
        let count = queue.map_or(0, |queue| count_before(queue, self.seqs.start, until));
        Some(count.saturating_sub(self.part).min(self.messages))
    }

    /// Tells the disk of those that are delivered, though the last one is not.
    pub fn note_part(&self, queue: &Queue) {
        if self.part == 0 {
            return;
        }
        if let Some(next) = number_after(queue, self.seqs.start, self.part) {
            queue.done(next, (self.part + self.lost) as u64, self.part_bytes as u64);
        }
    }
}

/// Messages from `begin` on with numbers before `until`.
fn count_before(queue: &Queue, begin: u64, until: u64) -> usize {
    let (mut at, mut count) = (begin, 0);
    while at < until {
        let Ok(read) = queue.read(at, LOOK_BYTES) else { break };
        count += read.before(until);
        if read.seqs.end <= at {
            break;
        }
        at = read.seqs.end;
    }
    count
}

/// The number after the first `messages` messages from `begin` on.
fn number_after(queue: &Queue, begin: u64, messages: usize) -> Option<u64> {
    let (mut at, mut left) = (begin, messages);
    loop {
        let read = queue.read(at, LOOK_BYTES).ok()?;
        if let Some(number) = left.checked_sub(1).and_then(|last| read.number(last)) {
            return Some(number + 1);
        }
        if left == 0 || read.seqs.end <= at {
            return (left == 0).then_some(at);
        }
        left = left.saturating_sub(read.ends.len());
        at = read.seqs.end;
    }
}

/// What a sink has finished in one go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finished {
    pub messages: usize,
    /// Of these, those that were in memory only.
    pub bare: usize,
    /// Of these and earlier ones, those that the disk is to hear of, and the number after them.
    pub next: Option<u64>,
    pub stored: usize,
    pub bytes: usize,
}

impl Finished {
    pub fn add(&mut self, other: &Finished) {
        self.messages += other.messages;
        self.bare += other.bare;
        self.next = other.next.or(self.next);
        self.stored += other.stored;
        self.bytes += other.bytes;
    }
}
