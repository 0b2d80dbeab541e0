//! What of a file lies in memory: large pieces read past the page cache, one behind the other, what is left
//! of one in front of the next.

use super::ahead::{Ahead, Pending, Piece};
use crate::files::{PAGE, SegmentFile, read_all, read_on};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// Bytes read at once.
pub const BLOCK_MAX: usize = 1 << 20;
pub const BLOCK: usize = if cfg!(test) { 8 << 10 } else { BLOCK_MAX };
/// Less is read through the page cache.
const DIRECT_MIN: usize = if cfg!(test) { 4096 } else { 128 << 10 };
/// Pieces of a file that are read ahead.
const PIECES_AHEAD: usize = 3;
/// What is left of a piece, a frame that its end cuts, is kept in front of the next one when it is no longer
/// than this.
const HEADROOM: usize = if cfg!(test) { 4096 } else { 64 << 10 };

/// What a window shows.
pub struct Source<'f> {
    pub file: &'f dyn SegmentFile,
    /// Where the file, or what of it may be read, ends.
    pub end: u64,
    /// Bytes read at once.
    pub block: usize,
    /// What cannot be read is an error. Else it is zeros, page by page.
    pub strict: bool,
    /// Who reads the next piece while this one is looked at. It is on the disk up to `end`.
    pub ahead: Option<(&'f Arc<Ahead>, &'f Arc<dyn SegmentFile>)>,
}

/// `at <= filled <= memory.len()`.
#[derive(Default)]
pub struct Window {
    memory: Vec<u8>,
    /// What was read and not yet passed is `memory[at..filled]`, the first of it at `place` in the file.
    at: usize,
    filled: usize,
    place: u64,
    /// What follows, under way.
    next: VecDeque<Pending>,
}

impl Window {
    /// Gives it working space if it has none.
    pub fn lend(&mut self, memory: impl FnOnce() -> Vec<u8>) {
        if self.memory.is_empty() {
            self.memory = memory();
        }
    }

    pub fn place(&self) -> u64 {
        self.place
    }

    pub fn ready(&self) -> &[u8] {
        self.memory.get(self.at..self.filled).unwrap_or_default()
    }

    /// What [`Window::pass`] has passed last, `length` bytes of it.
    pub fn passed(&self, length: usize) -> &[u8] {
        self.memory.get(self.at.saturating_sub(length)..self.at).unwrap_or_default()
    }

    /// Goes on behind so many bytes, which need not lie ready: a file may be shorter than what is asked of
    /// it.
    pub fn pass(&mut self, length: u64) {
        self.at = self.filled.min(self.at.saturating_add(length as usize));
        self.place += length;
    }

    /// Takes back what was passed last, all of which lay ready.
    pub fn back(&mut self, length: usize) {
        self.at = self.at.saturating_sub(length);
        self.place = self.place.saturating_sub(length as u64);
    }

    /// Shows another place, or the same one read anew.
    pub fn restart(&mut self, place: u64) {
        (self.at, self.filled, self.place) = (0, 0, place);
        self.next.clear();
    }

    /// Its memory; what follows is read anew.
    pub fn take_memory(&mut self) -> Vec<u8> {
        self.restart(self.place);
        std::mem::take(&mut self.memory)
    }

    /// Reads on until `needed` bytes lie ready. `false` if the file has not so many.
    pub fn fill(&mut self, source: &Source<'_>, needed: usize) -> io::Result<bool> {
        if needed <= source.block && self.fill_pages(source) && self.ready().len() >= needed {
            return Ok(true);
        }
        let ready = self.ready().len();
        let left = source.end.saturating_sub(self.place).saturating_sub(ready as u64);
        let wanted = needed.max(source.block).saturating_sub(ready);
        let wanted = (wanted as u64).min(left) as usize;
        self.memory.copy_within(self.at..self.filled, 0);
        (self.at, self.filled) = (0, ready);
        if self.memory.len() < ready + wanted {
            self.memory.resize(ready + wanted, 0);
        }
        let (room, from) = (&mut self.memory[ready..ready + wanted], self.place + ready as u64);
        if source.strict {
            let (count, error) = read_on(source.file, room, from);
            self.filled += count;
            if let Some(error) = error.filter(|_| self.filled < needed) {
                return Err(error);
            }
        } else {
            self.filled += read_all(source.file, room, from);
        }
        Ok(self.filled > ready && self.filled >= needed)
    }

    /// The same past the page cache: on behind the last piece, or from the beginning of a page. `false` if
    /// nothing was gained by it.
    fn fill_pages(&mut self, source: &Source<'_>) -> bool {
        let ready = self.ready().len();
        let behind = self.place + ready as u64;
        let joins = ready > 0 && ready <= HEADROOM && behind.is_multiple_of(PAGE as u64);
        let base = if joins { behind } else { self.place / PAGE as u64 * PAGE as u64 };
        // What of the piece is there already.
        let known = (behind - base) as usize;
        let length = piece(base, source);
        if length < DIRECT_MIN || length <= known {
            return false;
        }
        let fetched = self.take_fetched(base).filter(|piece| piece.count > known);
        let mut spare = Vec::new();
        let (start, count) = match fetched {
            Some(Piece { mut memory, start, count }) => {
                if joins {
                    memory[start - ready..start].copy_from_slice(self.ready());
                }
                spare = std::mem::replace(&mut self.memory, memory);
                (start, count)
            }
            None => {
                let start = aligned(&mut self.memory, length);
                if joins {
                    self.memory.copy_within(self.at..self.filled, start - ready);
                    (self.at, self.filled) = (start - ready, start);
                } else {
                    // What lies ready is read once more: it may be written over.
                    (self.at, self.filled) = (0, 0);
                }
                match source.file.read_pages(&mut self.memory[start..start + length], base) {
                    Ok(count) if count > known => (start, count.min(length)),
                    _ => return false,
                }
            }
        };
        let begun = self.place.saturating_sub(base) as usize;
        self.at = if joins { start - ready } else { start + begun };
        self.filled = start + count;
        self.fetch(source, base + count as u64, spare);
        true
    }

    /// Lets the pieces from here on be read, before anything is asked for.
    pub fn begin(&mut self, source: &Source<'_>) {
        self.fetch(source, self.place / PAGE as u64 * PAGE as u64, Vec::new());
    }

    /// Lets what follows be read: the pieces from `base` on, or those behind what is under way.
    fn fetch(&mut self, source: &Source<'_>, base: u64, mut spare: Vec<u8>) {
        let Some((ahead, file)) = source.ahead else { return };
        let mut base = self.next.back().map_or(base, Pending::end);
        while self.next.len() < PIECES_AHEAD && base.is_multiple_of(PAGE as u64) {
            let length = piece(base, source);
            if length < DIRECT_MIN {
                return;
            }
            let Some(pending) = ahead.fetch(file, base, length, std::mem::take(&mut spare)) else { return };
            base = pending.end();
            self.next.push_back(pending);
        }
    }

    /// The piece that begins there, if it is the next under way.
    fn take_fetched(&mut self, base: u64) -> Option<Piece> {
        if self.next.front().is_some_and(|next| next.base() != base) {
            self.next.clear();
        }
        let piece = self.next.pop_front()?.wait();
        if piece.is_none() {
            self.next.clear();
        }
        piece
    }
}

/// Bytes of the piece that begins at `base`: whole pages of what may be read.
fn piece(base: u64, source: &Source<'_>) -> usize {
    let left = source.end.saturating_sub(base) / PAGE as u64 * PAGE as u64;
    (source.block.next_multiple_of(PAGE) as u64).min(left) as usize
}

/// Where a piece of `length` bytes can begin in memory: at a page, behind the headroom.
pub fn aligned(memory: &mut Vec<u8>, length: usize) -> usize {
    let all = HEADROOM + PAGE + length;
    if memory.len() < all {
        memory.resize(all, 0);
    }
    HEADROOM + memory[HEADROOM..].as_ptr().align_offset(PAGE).min(PAGE)
}
