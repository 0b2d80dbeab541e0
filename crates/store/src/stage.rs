//! Large writes past the page cache: gathered in aligned memory, in whole pages. The last, begun page is written again with what follows
//! it, so that frames lie one behind the other.

use crate::files::{PAGE, SegmentFile, write_all};
use std::io::{self, ErrorKind};

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

    /// Writes `bytes` behind what was written before, which ends at `at`.
    pub fn append(&mut self, file: &dyn SegmentFile, at: u64, bytes: &[u8]) -> io::Result<()> {
        let begun = at as usize % PAGE;
        if bytes.len() < DIRECT_MIN || self.refused || self.tail.len() != begun {
            write_all(file, bytes, at)?;
        } else if let Err(error) = self.write_pages(file, at, bytes) {
            if !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput) {
                return Err(error);
            }
            self.refused = true;
            write_all(file, bytes, at)?;
        }
        let left = (begun + bytes.len()) % PAGE;
        if left > bytes.len() {
            self.tail.extend_from_slice(bytes);
        } else {
            self.tail.clear();
            self.tail.extend_from_slice(&bytes[bytes.len() - left..]);
        }
        Ok(())
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
            let count = bytes.len().min(STAGE_BYTES - filled);
            stage[filled..filled + count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            filled += count;
            let whole = filled.next_multiple_of(PAGE);
            stage[filled..whole].fill(0);
            let mut written = 0;
            while written < whole {
                match file.write_pages(&stage[written..whole], at + written as u64) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(count) if count < PAGE => return Err(ErrorKind::InvalidInput.into()),
                    // A short write ends anywhere: its last page is written again.
                    Ok(count) => written = (written + count) / PAGE * PAGE,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            at += whole as u64;
            filled = 0;
        }
        Ok(())
    }
}
