//! What the store tells about itself: what was found when it was opened, what its queues hold, what it has
//! written.

use std::ops::AddAssign;
use std::time::Duration;

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub messages: u64,
    pub bytes: u64,
}

impl Waiting {
    /// What is left without `other`, which is a part of it.
    pub fn less(self, other: Waiting) -> Waiting {
        Waiting {
            messages: self.messages.saturating_sub(other.messages),
            bytes: self.bytes.saturating_sub(other.bytes),
        }
    }
}

impl AddAssign for Waiting {
    fn add_assign(&mut self, other: Waiting) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// What opening found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub segments: usize,
    /// Bytes of the segments on disk.
    pub bytes: u64,
    /// Frames that were once written, are not delivered and cannot be read any more, as far as opening has
    /// seen: damage in the middle of old segments is found when they are read. Frames the store wrote for
    /// itself are among them.
    pub frames_lost: u64,
    pub damaged: Vec<Damaged>,
    pub took: Duration,
}

/// A file with something in it that cannot be read.
#[derive(Clone, Debug)]
pub struct Damaged {
    pub file: String,
    pub what: String,
    pub frames_lost: u64,
}

#[derive(Clone, Debug)]
pub struct QueueInfo {
    pub id: u32,
    pub name: Vec<u8>,
    pub waiting: Waiting,
    /// Bytes that may wait; 0 when nobody has opened the queue since the start.
    pub capacity: u64,
    /// Somebody asked for it since the start.
    pub opened: bool,
    pub first_waiting: u64,
    pub end: u64,
    /// Messages and bytes ever put in, and ever done.
    pub appended: Waiting,
    pub done: Waiting,
}

/// How long the oldest message of each group waited until the group was safe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// Groups that took less than 2^i microseconds and at least half of it.
    pub buckets: [u64; 32],
    pub sum: Duration,
    pub max: Duration,
}

#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub messages_appended: u64,
    /// Of these, stored once with those of another queue.
    pub messages_shared: u64,
    /// Bytes written to segments, headers and checksums included.
    pub bytes_written: u64,
    pub commits: u64,
    pub syncs: u64,
    /// Of groups that were synced.
    pub synced: Latency,
    pub segments: usize,
    pub segments_free: usize,
    pub bytes_on_disk: u64,
    /// Free bytes of the file system, as last looked at.
    pub bytes_free: u64,
    /// Appended and not yet written.
    pub bytes_pending: u64,
    pub segments_compacted: u64,
    /// Frames found to be unreadable since the start.
    pub frames_lost: u64,
    pub io_errors: u64,
    /// Nothing can be written now for want of space.
    pub disk_full: bool,
}
