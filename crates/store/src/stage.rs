//! Large writes past the page cache: gathered in aligned memory, in whole pages. The last, begun page is
//! written again with what follows it, so that frames lie one behind the other. What will be read back is
//! written through the page cache: reading it from there takes half the time a disk takes.

use crate::files::{PAGE, SegmentFile, write_all};
use std::io::{self, ErrorKind};
use std::ops::Range;

/// Less is written through the page cache: that costs no round trip to the disk.
const DIRECT_MIN: usize = if cfg!(test) { 1 << 10 } else { 64 << 10 };
/// Bytes of one write.
const STAGE_BYTES: usize = if cfg!(test) { 8 << 10 } else { 4 << 20 };

#[derive(Default)]
pub struct Stage {
    /// Bytes of the page that is begun.
    tail: Vec<u8>,
    /// Large enough that `STAGE_BYTES` of it begin at a page.
    memory: Vec<u8>,
    /// This file cannot be written so.
    refused: bool,
}

impl Stage {
    /// A new file, written from the beginning of a page.
    pub fn restart(&mut self) {
        self.tail.clear();
        self.refused = false;
    }

    /// Writes `run` of the buffer behind what was written before, which ends at `at`; through the page cache
    /// if it is `read_back`.
    pub fn append(
        &mut self,
        file: &dyn SegmentFile,
        at: u64,
        buffer: &mut Vec<u8>,
        run: Range<usize>,
        read_back: bool,
    ) -> io::Result<()> {
        let begun = at as usize % PAGE;
        let mut outcome = Err(ErrorKind::Unsupported.into());
        if run.len() >= DIRECT_MIN && !read_back && !self.refused && self.tail.len() == begun {
            outcome = match self.in_place(buffer, &run) {
                Some(pages) => write_whole(file, pages, at - begun as u64),
                None => self.write_pages(file, at, buffer.get(run.clone()).unwrap_or_default()),
            };
            self.refused = outcome.as_ref().is_err_and(is_refusal);
        }
        let bytes = buffer.get(run).unwrap_or_default();
        if outcome.as_ref().is_err_and(is_refusal) {
            outcome = write_all(file, bytes, at);
        }
        outcome?;
        let left = (begun + bytes.len()) % PAGE;
        if left > bytes.len() {
            self.tail.extend_from_slice(bytes);
        } else {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - left..]);
        }
        Ok(())
    }

    /// If the buffer happens to lie in memory as the file does in pages, it is written as it is: with the
    /// begun page in front of the run, and zeros behind it.
    fn in_place<'b>(&self, buffer: &'b mut Vec<u8>, run: &Range<usize>) -> Option<&'b [u8]> {
        let start = run.start.checked_sub(self.tail.len())?;
        let end = start + (run.end - start).next_multiple_of(PAGE);
        let room = run.end == buffer.len() && end <= buffer.capacity();
        if !room || buffer.get(start..)?.as_ptr().align_offset(PAGE) != 0 {
            return None;
        }
        buffer.get_mut(start..run.start)?.copy_from_slice(&self.tail);
        buffer.resize(end, 0);
        buffer.get(start..end)
    }

    fn write_pages(&mut self, file: &dyn SegmentFile, at: u64, mut bytes: &[u8]) -> io::Result<()> {
        if self.memory.is_empty() {
            self.memory = vec![0; STAGE_BYTES + PAGE];
        }
        let start = self.memory.as_ptr().align_offset(PAGE).min(PAGE);
        let stage = &mut self.memory[start..start + STAGE_BYTES];
        let mut at = at - self.tail.len() as u64;
        stage[..self.tail.len()].copy_from_slice(&self.tail);
        let mut filled = self.tail.len();
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(STAGE_BYTES - filled));
            stage[filled..filled + now.len()].copy_from_slice(now);
            bytes = rest;
            filled += now.len();
            if filled == STAGE_BYTES {
                write_whole(file, stage, at)?;
                at += filled as u64;
                filled = 0;
            }
        }
        let whole = filled.next_multiple_of(PAGE);
        stage[filled..whole].fill(0);
        write_whole(file, &stage[..whole], at)
    }
}

/// Writes whole pages past the page cache, from anywhere in memory.
pub fn write_aligned(file: &dyn SegmentFile, pages: &[u8], at: u64) -> io::Result<()> {
    let mut memory = vec![0; pages.len() + PAGE];
    let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
    let copy = &mut memory[start..start + pages.len()];
    copy.copy_from_slice(pages);
    write_whole(file, copy, at)
}

/// The file cannot be written so, and nothing is wrong with it.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

fn write_whole(file: &dyn SegmentFile, pages: &[u8], at: u64) -> io::Result<()> {
    let mut written = 0;
    while written < pages.len() {
        match file.write_pages(&pages[written..], at + written as u64) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) if count < PAGE => return Err(ErrorKind::InvalidInput.into()),
            // A short write ends anywhere: its last page is written again.
            Ok(count) => written = (written + count) / PAGE * PAGE,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    #[derive(Default)]
    struct Recorder {
        bytes: Mutex<Vec<u8>>,
        past_the_cache: Mutex<usize>,
    }

    impl SegmentFile for Recorder {
        fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
            unreachable!("nothing is read")
        }

        fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
            let mut all = self.bytes.lock();
            let end = at as usize + bytes.len();
            let length = all.len().max(end);
            all.resize(length, 0);
            all[at as usize..end].copy_from_slice(bytes);
            Ok(bytes.len())
        }

        fn write_pages(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
            *self.past_the_cache.lock() += 1;
            self.write_at(bytes, at)
        }

        fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        fn length(&self) -> io::Result<u64> {
            Ok(self.bytes.lock().len() as u64)
        }

        fn allocate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }

        fn truncate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn both_ways_join_without_a_gap() {
        let (file, mut stage) = (Recorder::default(), Stage::default());
        let text: Vec<u8> = (0..100_000u32).map(|i| (i % 251) as u8).collect();
        let mut at = 0;
        for (round, length) in [3000, 9000, 5000, 100, 20_000, 7000, 1, 12_000].into_iter().enumerate() {
            let mut buffer = text[at..at + length].to_vec();
            let before = *file.past_the_cache.lock();
            let read_back = round % 2 == 1;
            stage.append(&file, at as u64, &mut buffer, 0..length, read_back).unwrap();
            assert_eq!(
                *file.past_the_cache.lock() > before,
                !read_back && length >= DIRECT_MIN,
                "round {round}"
            );
            at += length;
        }
        assert_eq!(&file.bytes.lock()[..at], &text[..at]);
    }
}
