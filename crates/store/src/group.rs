//! What has come together to be written at once.

use crate::files::PAGE;
use crate::frame::{self, Owners};
use crate::queue::{Held, Safe};
use std::time::Instant;

/// A chunk larger than this is several entries, so that none is larger unless a message is.
pub const ENTRY_BYTES_MAX: usize = 1 << 20;
/// Entries looked at for the same messages of another queue.
const SHARING_LOOKBACK: usize = 16;
/// A buffer that was larger than what was needed for so many groups is let go.
const SHRINK_AFTER: u32 = 64;
const BUFFER_KEPT: usize = 4 << 20;

#[derive(Default)]
pub struct Group {
    /// Frames one behind the other, after some bytes that bring them to where a page of the file begins.
    pub buffer: Vec<u8>,
    /// Of those bytes.
    begun: usize,
    pub entries: Vec<Entry>,
    pub held: Vec<(Safe, Held)>,
    /// Somebody waits for the disk.
    pub synced: bool,
    /// When the first chunk came.
    pub began: Option<Instant>,
    /// Groups since the buffer was last needed.
    idle: u32,
}

/// Frames of the same queues in a row.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub at: usize,
    pub length: usize,
    pub first: u64,
    pub messages: u64,
    pub payload: u64,
    pub queues: u64,
}

impl Entry {
    pub fn next(&self) -> u64 {
        self.first + self.messages
    }
}

impl Group {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of the frames, before the group is written.
    pub fn bytes(&self) -> usize {
        self.buffer.len() - self.begun
    }

    /// Where the first frame goes: so far behind the beginning of a page in memory as it will be in the file,
    /// so that it can be written without being copied. A guess that does not hold costs the copy.
    pub fn lie_at(&mut self, begun: usize) {
        self.buffer.clear();
        self.buffer.reserve(2 * PAGE);
        let aligned = self.buffer.as_ptr().align_offset(PAGE).min(PAGE);
        self.begun = aligned + begun;
        self.buffer.resize(self.begun, 0);
    }

    /// Adds messages, the first with number `seq`; `ends` are theirs in `bytes`, which begin at `start`.
    pub fn push(&mut self, key: u64, seq: u64, queues: u64, bytes: &[u8], ends: &[u32], start: usize) {
        let at = self.buffer.len();
        let payload = ends.last().map_or(0, |end| *end as usize).saturating_sub(start);
        self.buffer.reserve(payload + ends.len() * frame::HEAD);
        let (mut from, owners) = (start, Owners::from(queues));
        for (end, seq) in ends.iter().zip(seq..) {
            let message = bytes.get(from..*end as usize).unwrap_or_default();
            frame::push(&mut self.buffer, key, seq, owners, message);
            from = *end as usize;
        }
        let entry = Entry {
            at,
            length: self.buffer.len() - at,
            first: seq,
            messages: ends.len() as u64,
            payload: payload as u64,
            queues,
        };
        self.entries.push(entry);
    }

    pub fn push_control(&mut self, key: u64, seq: u64, payload: &[u8]) {
        self.push(key, seq, frame::CONTROL, payload, &[payload.len() as u32], 0);
    }

    /// If one of the last entries has the same messages, and numbers from `from` on, it becomes one of
    /// `queues` too.
    pub fn share(
        &mut self,
        from: u64,
        queues: u64,
        bytes: &[u8],
        ends: &[u32],
        start: usize,
    ) -> Option<Entry> {
        let payload = ends.last().map_or(0, |end| *end as usize).saturating_sub(start) as u64;
        let count = ends.len() as u64;
        let old = self.entries.len().saturating_sub(SHARING_LOOKBACK);
        let entry = self.entries[old..].iter_mut().rev().take_while(|e| e.first >= from).find(|e| {
            e.payload == payload
                && e.messages == count
                && e.queues != frame::CONTROL
                && e.queues < 1 << frame::SHARED_IDS
                && same(&self.buffer[e.at..e.at + e.length], bytes, ends, start)
        })?;
        let before = Owners::from(entry.queues);
        entry.queues |= queues;
        let (entry, after) = (*entry, Owners::from(entry.queues));
        let mut frames = self.buffer.get_mut(entry.at..entry.at + entry.length).unwrap_or_default();
        while let Some(length) = frame::length(frames).filter(|l| *l <= frames.len()) {
            let (frame, rest) = frames.split_at_mut(length);
            frame::hand_over(frame, before, after);
            frames = rest;
        }
        Some(entry)
    }

    /// Empty again, for the next use of its memory.
    pub fn clear(&mut self) {
        self.idle = if self.buffer.len() > BUFFER_KEPT { 0 } else { self.idle + 1 };
        self.buffer.clear();
        self.begun = 0;
        if self.idle > SHRINK_AFTER {
            self.buffer.shrink_to(BUFFER_KEPT);
        }
        self.entries.clear();
        self.held.clear();
        self.synced = false;
        self.began = None;
    }
}

fn same(mut frames: &[u8], bytes: &[u8], ends: &[u32], start: usize) -> bool {
    let mut from = start;
    for end in ends {
        let end = *end as usize;
        let Some(length) = frame::length(frames).filter(|l| *l <= frames.len()) else { return false };
        let (frame, rest) = frames.split_at(length);
        if bytes.get(from..end) != Some(frame::payload(frame)) {
            return false;
        }
        (from, frames) = (end, rest);
    }
    frames.is_empty()
}
