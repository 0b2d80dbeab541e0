//! Goes over the frames of a file in order, and over what is no frame to the next one that is intact.

use crate::files::{PAGE, SegmentFile, read_all};
use crate::frame::{self, Parsed};
use std::ops::Range;

/// Bytes read at once.
pub const BLOCK_MAX: usize = 1 << 20;

/// Less is read through the page cache.
const DIRECT_MIN: usize = if cfg!(test) { 4096 } else { 128 << 10 };

pub struct Walk<'f> {
    file: &'f dyn SegmentFile,
    key: u64,
    /// Numbers that may still come: they only grow.
    seqs: Range<u64>,
    /// Where the file, or what of it may be read, ends.
    end: u64,
    /// Bytes read at once.
    block: usize,
    /// What was read and not yet passed is `buffer[at..filled]`, the first of it at `place` in the file.
    buffer: Vec<u8>,
    at: usize,
    filled: usize,
    place: u64,
    /// Bytes passed over since the last intact frame.
    skipped: u64,
}

/// An intact frame.
pub struct Found<'a> {
    pub seq: u64,
    pub queues: u64,
    pub payload: &'a [u8],
    /// All bytes of it.
    pub frame: &'a [u8],
    /// Bytes in front of it that were no frame.
    pub skipped: u64,
    /// Where the next one should begin.
    pub end: u64,
}

impl<'f> Walk<'f> {
    /// Walks `range` of the file; frames with other numbers than `seqs` do not count as frames. `buffer` is working space.
    pub fn new(
        file: &'f dyn SegmentFile,
        range: Range<u64>,
        key: u64,
        seqs: Range<u64>,
        buffer: Vec<u8>,
    ) -> Self {
        let Range { start: place, end } = range;
        Walk { file, key, seqs, end, block: BLOCK_MAX, buffer, at: 0, filled: 0, place, skipped: 0 }
    }

    /// Reads less at once, when less is wanted.
    pub fn block(mut self, bytes: usize) -> Self {
        self.block = bytes.clamp(4096, BLOCK_MAX);
        self
    }

    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Bytes passed over since the last frame: at the end of a walk, those behind the last one.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    pub fn next(&mut self) -> Option<Found<'_>> {
        let (length, seq, queues) = loop {
            let room = self.end.saturating_sub(self.place);
            match frame::parse(&self.buffer[self.at..self.filled], self.key, &self.seqs, room) {
                Parsed::Frame { length, seq, queues } => break (length, seq, queues),
                Parsed::More(needed) if self.fill(needed) => {}
                _ => {
                    if !self.skip() {
                        return None;
                    }
                }
            }
        };
        let start = self.at;
        self.at += length;
        self.place += length as u64;
        self.seqs.start = seq + 1;
        let skipped = std::mem::take(&mut self.skipped);
        let frame = &self.buffer[start..start + length];
        Some(Found { seq, queues, payload: frame::payload(frame), frame, skipped, end: self.place })
    }

    /// Goes on to the next place where a frame may begin. `false` at the end.
    fn skip(&mut self) -> bool {
        let mut from = self.at + 1;
        loop {
            let (to, found) = match frame::candidate(&self.buffer[..self.filled], from, self.key, &self.seqs)
            {
                Ok(to) => (to, true),
                Err(to) => (to, false),
            };
            let passed = to.saturating_sub(self.at) as u64;
            let left = self.end.saturating_sub(self.place);
            if left <= frame::HEAD as u64 || passed >= left {
                self.skipped += left;
                self.place = self.end;
                self.at = self.filled;
                return false;
            }
            // The file may be shorter than what is asked of it: then less lies ready than is passed.
            self.at = (self.at + passed as usize).min(self.filled);
            self.place += passed;
            self.skipped += passed;
            if found {
                return true;
            }
            if !self.fill(self.block.max(frame::HEAD)) && self.filled - self.at < frame::HEAD {
                let left = self.end.saturating_sub(self.place);
                self.skipped += left;
                self.place = self.end;
                self.at = self.filled;
                return false;
            }
            from = self.at;
        }
    }

    /// Reads on until `needed` bytes lie ready. `false` if the file has not so many.
    fn fill(&mut self, needed: usize) -> bool {
        if needed <= self.block && self.fill_pages() && self.filled - self.at >= needed {
            return true;
        }
        let ready = self.filled - self.at;
        let left = self.end.saturating_sub(self.place).saturating_sub(ready as u64);
        let wanted = needed.saturating_sub(ready).max(self.block.saturating_sub(ready));
        let wanted = (wanted as u64).min(left) as usize;
        self.buffer.copy_within(self.at..self.filled, 0);
        (self.at, self.filled) = (0, ready);
        if self.buffer.len() < ready + wanted {
            self.buffer.resize(ready + wanted, 0);
        }
        let from = self.place + ready as u64;
        self.filled += read_all(self.file, &mut self.buffer[ready..ready + wanted], from);
        self.filled > ready && self.filled >= needed
    }

    /// The same past the page cache, from the beginning of the page. `false` if nothing was gained by it.
    fn fill_pages(&mut self) -> bool {
        let ready = self.filled - self.at;
        let base = self.place / PAGE as u64 * PAGE as u64;
        let left = self.end.saturating_sub(base) / PAGE as u64 * PAGE as u64;
        let length = (self.block as u64).next_multiple_of(PAGE as u64).min(left) as usize;
        let begun = (self.place - base) as usize;
        if length < DIRECT_MIN || length <= begun + ready {
            return false;
        }
        if self.buffer.len() < length + PAGE {
            self.buffer.resize(length + PAGE, 0);
        }
        let start = self.buffer.as_ptr().align_offset(PAGE).min(PAGE);
        // What lies ready is read once more: it may be written over.
        (self.at, self.filled) = (0, 0);
        match self.file.read_pages(&mut self.buffer[start..start + length], base) {
            Ok(count) if count > begun + ready => {
                (self.at, self.filled) = (start + begun, start + count);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::{Files, Folder, write_all};

    #[test]
    fn a_file_that_is_shorter_than_it_should_be() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        let file = folder.create("short").expect("a file");
        let mut walk = Walk::new(&*file, 0..10_000, 7, 1..100, Vec::new());
        assert!(walk.next().is_none());
        assert_eq!(walk.skipped(), 10_000);
        let mut bytes = Vec::new();
        frame::push(&mut bytes, 7, 1, 1, b"one");
        write_all(&*file, &bytes, 0).expect("written");
        let mut walk = Walk::new(&*file, 0..10_000, 7, 1..100, Vec::new());
        assert_eq!(walk.next().map(|found| found.payload.to_vec()), Some(b"one".to_vec()));
        assert!(walk.next().is_none());
        assert_eq!(walk.skipped(), 10_000 - bytes.len() as u64);
    }
}
