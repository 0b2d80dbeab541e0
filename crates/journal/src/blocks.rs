//! Pieces of a file kept in memory, so that its small objects do not cost a system call each. What stands in
//! a piece and was complete when it was read never changes; what was not is forgotten by
//! [`Blocks::forget_from`].

use crate::error::Error;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;

/// Bytes of a piece.
const BLOCK: u64 = 32 * 1024;
/// Pieces of one file that are kept.
const SLOTS: u64 = 64;

#[derive(Default)]
pub struct Blocks {
    /// Number of the piece and its bytes; a slot is used for every piece of the same remainder.
    slots: Vec<Option<(u64, Vec<u8>)>>,
}

impl Blocks {
    /// Fills `into` from a place in the file; an error when it ends before.
    pub fn read(&mut self, file: &File, mut at: u64, mut into: &mut [u8]) -> Result<(), Error> {
        while !into.is_empty() {
            let inside = (at % BLOCK) as usize;
            let block = self.block(file, at / BLOCK)?;
            let found = block.get(inside..).unwrap_or_default();
            let count = found.len().min(into.len());
            if count == 0 {
                return Err(Error::Object(at, "the file ends here"));
            }
            let (now, rest) = into.split_at_mut(count);
            now.copy_from_slice(found.get(..count).unwrap_or_default());
            into = rest;
            at = at.saturating_add(count as u64);
        }
        Ok(())
    }

    fn block(&mut self, file: &File, number: u64) -> Result<&[u8], Error> {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS as usize, || None);
        }
        let slot = self.slots.get_mut((number % SLOTS) as usize).ok_or(Error::Object(0, "no room"))?;
        if slot.as_ref().is_none_or(|(held, _)| *held != number) {
            let mut bytes = slot.take().map(|(_, bytes)| bytes).unwrap_or_default();
            bytes.resize(BLOCK as usize, 0);
            let length = read_at(file, &mut bytes, number.saturating_mul(BLOCK))?;
            bytes.truncate(length);
            *slot = Some((number, bytes));
        }
        Ok(slot.as_ref().map(|(_, bytes)| bytes.as_slice()).unwrap_or_default())
    }

    /// Forgets every piece that reaches beyond `at`.
    pub fn forget_from(&mut self, at: u64) {
        for slot in &mut self.slots {
            if slot.as_ref().is_some_and(|(number, _)| (number + 1).saturating_mul(BLOCK) > at) {
                *slot = None;
            }
        }
    }

    pub fn clear(&mut self) {
        self.slots = Vec::new();
    }
}

/// Reads as much as there is.
pub fn read_at(file: &File, mut into: &mut [u8], mut at: u64) -> Result<usize, Error> {
    let mut length = 0;
    while !into.is_empty() {
        match file.read_at(into, at) {
            Ok(0) => break,
            Ok(count) => {
                length += count;
                at = at.saturating_add(count as u64);
                into = into.get_mut(count..).unwrap_or_default();
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Beyond what a file can have.
            Err(error) if error.kind() == ErrorKind::InvalidInput => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(length)
}
