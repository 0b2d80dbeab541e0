//! Goes over the frames of a file in order, and over what is no frame to the next one that is intact.

mod ahead;
mod window;

use crate::files::SegmentFile;
use crate::frame::{self, Parsed};
pub use ahead::{Ahead, Reader};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use window::{BLOCK, Source};
pub use window::{BLOCK_MAX, Window};

pub struct Walk<'f> {
    source: Source<'f>,
    key: u64,
    /// Numbers that may still come: they only grow.
    seqs: Range<u64>,
    window: Window,
    /// Bytes passed over since the last intact frame.
    skipped: u64,
    /// Of the last frame.
    length: usize,
    error: Option<io::Error>,
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
    /// Walks `range` of the file; frames with other numbers than `seqs` do not count as frames. What cannot
    /// be read is no frame either.
    pub fn new(file: &'f dyn SegmentFile, range: Range<u64>, key: u64, seqs: Range<u64>) -> Self {
        let source = Source { file, end: range.end, block: BLOCK, strict: false, ahead: None };
        let mut window = Window::default();
        window.restart(range.start);
        Walk { source, key, seqs, window, skipped: 0, length: 0, error: None }
    }

    /// Reads less at once, when less is wanted.
    pub fn block(mut self, bytes: usize) -> Self {
        self.source.block = bytes.clamp(4096, BLOCK_MAX);
        self
    }

    /// Ends where something cannot be read: [`Walk::error`] tells why.
    pub fn strict(mut self, strict: bool) -> Self {
        self.source.strict = strict;
        self
    }

    /// Goes on in a window, which shows this file where the walk begins.
    pub fn within(mut self, mut window: Window) -> Self {
        if window.place() != self.window.place() {
            window.restart(self.window.place());
        }
        self.window = window;
        self
    }

    /// Lets the next piece be read while this one is looked at.
    pub fn ahead(mut self, ahead: &'f Arc<Ahead>, file: &'f Arc<dyn SegmentFile>) -> Self {
        self.source.ahead = Some((ahead, file));
        self
    }

    /// Lets what comes first be read, for a walk over it later.
    pub fn begin(mut self) -> Window {
        self.window.begin(&self.source);
        self.window
    }

    pub fn into_window(self) -> Window {
        self.window
    }

    /// Where it is in the file.
    pub fn place(&self) -> u64 {
        self.window.place()
    }

    /// The numbers that may still come.
    pub fn seqs(&self) -> Range<u64> {
        self.seqs.clone()
    }

    /// Bytes passed over since the last frame: at the end of a walk, those behind the last one.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Why a strict walk has ended before its end.
    pub fn error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    pub fn next(&mut self) -> Option<Found<'_>> {
        let (length, seq, queues) = loop {
            let room = self.source.end.saturating_sub(self.window.place());
            match frame::parse(self.window.ready(), self.key, &self.seqs, room) {
                Parsed::Frame { length, seq, queues } => break (length, seq, queues),
                Parsed::More(needed) if self.fill(needed) => {}
                _ => {
                    if self.error.is_some() || !self.skip() {
                        return None;
                    }
                }
            }
        };
        self.window.pass(length as u64);
        self.length = length;
        self.seqs.start = seq + 1;
        let skipped = std::mem::take(&mut self.skipped);
        let frame = self.window.passed(length);
        Some(Found { seq, queues, payload: frame::payload(frame), frame, skipped, end: self.window.place() })
    }

    /// The last frame comes once more.
    pub fn put_back(&mut self) {
        self.window.back(self.length);
        self.seqs.start -= 1;
        self.length = 0;
    }

    /// Goes on to the next place where a frame may begin. `false` at the end.
    fn skip(&mut self) -> bool {
        let mut from = 1;
        loop {
            let (to, found) = match frame::candidate(self.window.ready(), from, self.key, &self.seqs) {
                Ok(to) => (to as u64, true),
                Err(to) => (to as u64, false),
            };
            let left = self.source.end.saturating_sub(self.window.place());
            if left <= frame::HEAD as u64 || to >= left {
                self.pass_over(left);
                return false;
            }
            // The file may be shorter than what is asked of it: then less lies ready than is passed.
            self.pass_over(to);
            if found {
                return true;
            }
            if !self.fill(self.source.block.max(frame::HEAD)) && self.window.ready().len() < frame::HEAD {
                if self.error.is_none() {
                    self.pass_over(self.source.end.saturating_sub(self.window.place()));
                }
                return false;
            }
            from = 0;
        }
    }

    fn pass_over(&mut self, bytes: u64) {
        self.window.pass(bytes);
        self.skipped += bytes;
    }

    fn fill(&mut self, needed: usize) -> bool {
        match self.window.fill(&self.source, needed) {
            Ok(filled) => filled,
            Err(error) => {
                self.error = Some(error);
                false
            }
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
        let mut walk = Walk::new(&*file, 0..10_000, 7, 1..100);
        assert!(walk.next().is_none());
        assert_eq!(walk.skipped(), 10_000);
        let mut bytes = Vec::new();
        frame::push(&mut bytes, 7, 1, 1, b"one");
        write_all(&*file, &bytes, 0).expect("written");
        let mut walk = Walk::new(&*file, 0..10_000, 7, 1..100);
        assert_eq!(walk.next().map(|found| found.payload.to_vec()), Some(b"one".to_vec()));
        assert!(walk.next().is_none());
        assert_eq!(walk.skipped(), 10_000 - bytes.len() as u64);
    }
}
