//! One journal file: its entries in their order, from any place on, while somebody may be writing more of
//! them.

use crate::blocks::{Blocks, read_at};
use crate::error::Error;
use crate::object::{ARRAY_FIXED, ENTRY_FIXED, EntryHead, HEADER_MIN, Header, Kind, OBJECT, object};
use crate::payload::{Unpacker, is_packed};
use crate::place::{EntryPosition, Id};
use crate::skipped::Skipped;
use std::fs::File;

/// Fields of an entry; systemd writes no more.
const FIELDS_MAX: u64 = 1024;
/// Bytes of a field's name that are looked at; systemd's have 64 at most.
const NAME_MAX: usize = 256;
/// A packed value that is larger is an error.
const PACKED_MAX: u64 = 16 * 1024 * 1024;
/// Numbers read from an entry array in one go.
const ITEMS: u64 = 512;
/// Short values are kept: most entries share most of them.
const KEPT_BYTES: usize = 256;
const KEPT_SLOTS: u64 = 2048;

pub struct JournalFile {
    file: File,
    header: Header,
    /// Bytes of the file when the header was read.
    length: u64,
    blocks: Blocks,
    kept: Vec<(u64, Vec<u8>)>,
    unpacker: Unpacker,
    walk: Walk,
    /// Entries that could not be read.
    skipped: Skipped,
    buffer: Vec<u8>,
}

/// A place in the chain of entry arrays.
#[derive(Default)]
struct Walk {
    /// Where the array is; 0 before the first.
    array: u64,
    /// Numbers in it.
    count: u64,
    /// The next one.
    index: u64,
    /// Entries of the arrays before.
    passed: u64,
    /// Some of the array's numbers, and which is the first of them.
    items: Vec<u64>,
    items_from: u64,
}

impl JournalFile {
    pub fn open(file: File) -> Result<JournalFile, Error> {
        let (header, length) = header(&file)?;
        Ok(JournalFile {
            file,
            header,
            length,
            blocks: Blocks::default(),
            kept: Vec::new(),
            unpacker: Unpacker::default(),
            walk: Walk::default(),
            skipped: Skipped::default(),
            buffer: Vec::new(),
        })
    }

    pub fn into_inner(self) -> File {
        self.file
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Nobody writes to it any more.
    pub fn is_archived(&self) -> bool {
        self.header.archived
    }

    /// The boot in which somebody is writing to it.
    pub fn boot_of_writer(&self) -> Option<Id> {
        let has_one = self.header.online && self.header.boot != Id::default();
        has_one.then_some(self.header.boot)
    }

    /// Looks whether there is more. Whether there is.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let (header, length) = header(&self.file)?;
        let grown = header.entries != self.header.entries;
        if grown || header.tail_object != self.header.tail_object {
            self.blocks.forget_from(self.header.tail_object);
        }
        // What was the end of an array may have been filled.
        self.walk.items.clear();
        (self.header, self.length) = (header, length);
        Ok(grown)
    }

    /// Gives back what reading has kept in memory.
    pub fn rest(&mut self) {
        self.blocks.clear();
        self.kept = Vec::new();
    }

    /// Entries that could not be read since the last call.
    pub fn take_skipped(&mut self) -> Skipped {
        std::mem::take(&mut self.skipped)
    }

    /// What stands at a place, as far as there is something: of an entry that cannot be read.
    fn raw(&self, at: u64) -> Vec<u8> {
        let mut bytes = vec![0; Skipped::TEXT_BYTES_MAX];
        let read = read_at(&self.file, &mut bytes, at).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }

    pub fn place(&self, head: &EntryHead) -> EntryPosition {
        EntryPosition {
            seqnum_id: self.header.seqnum_id,
            seqnum: head.seqnum,
            boot: head.boot,
            monotonic: head.monotonic,
            realtime: head.realtime,
            hash: head.hash,
        }
    }

    /// The next entry, without going on to the one behind it. One that is damaged is skipped and counted; an
    /// error is a damaged chain.
    pub fn peek(&mut self) -> Result<Option<EntryHead>, Error> {
        while let Some(at) = self.item()? {
            match self.entry(at) {
                Ok(head) => return Ok(Some(head)),
                Err(Error::Io(error)) => return Err(error.into()),
                Err(_) => {
                    self.skipped.add(self.raw(at));
                    self.advance();
                }
            }
        }
        Ok(None)
    }

    /// Goes on behind the entry that [`JournalFile::peek`] has shown.
    pub fn advance(&mut self) {
        self.walk.index += 1;
    }

    /// Goes to the first entry behind a place: by number if it is of the same numbering, otherwise by time.
    pub fn seek_after(&mut self, place: &EntryPosition) -> Result<(), Error> {
        let same = place.seqnum_id == self.header.seqnum_id;
        self.seek(|head| match same {
            true => head.seqnum > place.seqnum,
            false => head.realtime >= place.realtime,
        })
    }

    /// Goes behind the last entry; its place, if there is one.
    pub fn seek_end(&mut self) -> Result<Option<EntryPosition>, Error> {
        self.seek(|_| false)?;
        let Some(last) = self.walk.index.checked_sub(1) else { return Ok(None) };
        let at = self.item_at(last)?;
        let head = self.entry(at)?;
        Ok(Some(self.place(&head)))
    }

    /// Goes to the first entry that `is_after`, given that all behind it are too.
    fn seek(&mut self, mut is_after: impl FnMut(&EntryHead) -> bool) -> Result<(), Error> {
        self.walk = Walk::default();
        if self.header.entry_array == 0 {
            return Ok(());
        }
        self.enter(self.header.entry_array, 0)?;
        loop {
            let (array, passed) = (self.walk.array, self.walk.passed);
            let Some((next, before)) = self.next_array()? else { break };
            self.enter(next, before)?;
            let first = self.item_at(0)?;
            if first == 0 || is_after(&self.entry(first)?) {
                self.enter(array, passed)?;
                break;
            }
        }
        let left = self.header.entries.saturating_sub(self.walk.passed);
        let (mut low, mut high) = (0, self.walk.count.min(left));
        while low < high {
            let middle = low + (high - low) / 2;
            let at = self.item_at(middle)?;
            match at == 0 || is_after(&self.entry(at)?) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        self.walk.index = low;
        Ok(())
    }

    /// Where the next entry is; `None` when there is none yet.
    fn item(&mut self) -> Result<Option<u64>, Error> {
        loop {
            if self.walk.array == 0 {
                if self.header.entry_array == 0 {
                    return Ok(None);
                }
                self.enter(self.header.entry_array, 0)?;
            }
            let entries = self.walk.passed.saturating_add(self.walk.index);
            if entries >= self.header.entries {
                return Ok(None);
            }
            if self.walk.index < self.walk.count {
                let at = self.item_at(self.walk.index)?;
                return Ok((at != 0).then_some(at));
            }
            match self.next_array()? {
                Some((next, passed)) => self.enter(next, passed)?,
                None => return Ok(None),
            }
        }
    }

    /// The array behind this one, and how many entries are before it.
    fn next_array(&self) -> Result<Option<(u64, u64)>, Error> {
        let mut bytes = [0; 8];
        let array = self.walk.array;
        if read_at(&self.file, &mut bytes, array.saturating_add(OBJECT))? < bytes.len() {
            return Err(Error::Object(array, "the file ends here"));
        }
        match u64::from_le_bytes(bytes) {
            0 => Ok(None),
            // Files only grow: each array stands behind the one before it. So there is no going round in
            // circles.
            next if next <= array => Err(Error::Object(array, "entry arrays lead backwards")),
            next => Ok(Some((next, self.walk.passed.saturating_add(self.walk.count)))),
        }
    }

    fn enter(&mut self, array: u64, passed: u64) -> Result<(), Error> {
        let mut bytes = [0; OBJECT as usize];
        if read_at(&self.file, &mut bytes, array)? < bytes.len() {
            return Err(Error::Object(array, "the file ends here"));
        }
        let (size, _) = object(&bytes, array, Kind::EntryArray, ARRAY_FIXED)?;
        let count = (size - ARRAY_FIXED) / self.header.item_bytes();
        let mut items = std::mem::take(&mut self.walk.items);
        items.clear();
        self.walk = Walk { array, count, index: 0, passed, items, items_from: 0 };
        Ok(())
    }

    /// A number of the array; 0 when it is not filled in yet.
    fn item_at(&mut self, index: u64) -> Result<u64, Error> {
        if let Some(at) = index.checked_sub(self.walk.items_from)
            && let Some(item) = self.walk.items.get(at as usize)
        {
            return Ok(*item);
        }
        let bytes = self.header.item_bytes();
        let count = ITEMS.min(self.walk.count.saturating_sub(index));
        let at = index.saturating_mul(bytes).saturating_add(self.walk.array).saturating_add(ARRAY_FIXED);
        self.buffer.resize((count * bytes) as usize, 0);
        let read = read_at(&self.file, &mut self.buffer, at)?;
        let found = self.buffer.get(..read).unwrap_or_default();
        self.walk.items.clear();
        self.walk.items_from = index;
        let items = found.chunks_exact(bytes as usize).map(|item| self.header.item(item, 0));
        // What is not filled in yet is read again.
        self.walk.items.extend(items.take_while(|item| *item != 0));
        Ok(self.walk.items.first().copied().unwrap_or(0))
    }

    fn entry(&mut self, at: u64) -> Result<EntryHead, Error> {
        if !at.is_multiple_of(8) || at < self.header.size {
            return Err(Error::Object(at, "no place for an entry"));
        }
        let mut bytes = [0; ENTRY_FIXED as usize];
        self.blocks.read(&self.file, at, &mut bytes)?;
        EntryHead::parse(&bytes, at)
    }

    /// Hands out the fields of an entry, name and value, values cut to `value_max` bytes. An error
    /// where one cannot be read; the others are handed out all the same.
    pub fn fields(
        &mut self,
        head: &EntryHead,
        value_max: usize,
        mut sink: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Error> {
        let step = self.header.field_bytes();
        let count = (head.size.saturating_sub(ENTRY_FIXED) / step).min(FIELDS_MAX);
        let mut items = std::mem::take(&mut self.buffer);
        items.resize((count * step) as usize, 0);
        let mut outcome = self.blocks.read(&self.file, head.offset.saturating_add(ENTRY_FIXED), &mut items);
        let has_items = outcome.is_ok();
        for item in items.chunks_exact(step as usize).filter(|_| has_items) {
            let read = self.field(self.header.item(item, 0), value_max, &mut sink);
            outcome = outcome.and(read);
        }
        self.buffer = items;
        outcome
    }

    fn field(&mut self, at: u64, value_max: usize, sink: &mut impl FnMut(&[u8], &[u8])) -> Result<(), Error> {
        if self.kept.is_empty() {
            self.kept.resize_with(KEPT_SLOTS as usize, Default::default);
        }
        let slot = ((at / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) % KEPT_SLOTS;
        let Some(mut kept) = self.kept.get_mut(slot as usize).map(std::mem::take) else { return Ok(()) };
        if kept.0 != at {
            kept = (0, kept.1);
            kept.1.clear();
            let read = self.data(at, NAME_MAX + 1 + value_max, &mut kept.1);
            // Only what is whole and short is worth keeping.
            match read {
                Ok(()) if kept.1.len() <= KEPT_BYTES && kept.1.len() <= value_max => kept.0 = at,
                Ok(()) => {}
                Err(error) => return Err(error),
            }
        }
        let named = kept.1.get(..kept.1.len().min(NAME_MAX + 1)).unwrap_or_default();
        let Some(equals) = memchr::memchr(b'=', named).filter(|equals| *equals > 0) else {
            return Err(Error::Object(at, "a field has no name"));
        };
        let (name, value) = kept.1.split_at(equals);
        let value = value.get(1..).unwrap_or_default();
        sink(name, value.get(..value.len().min(value_max)).unwrap_or_default());
        match kept.0 {
            // A large one gives its memory back.
            0 if kept.1.capacity() > 4 * KEPT_BYTES => kept.1 = Vec::new(),
            _ => {}
        }
        if let Some(place) = self.kept.get_mut(slot as usize) {
            *place = kept;
        }
        Ok(())
    }

    /// Adds the first `max` bytes of a data object's value to `out`.
    fn data(&mut self, at: u64, max: usize, out: &mut Vec<u8>) -> Result<(), Error> {
        let fixed = self.header.data_fixed();
        if !at.is_multiple_of(8) || at < self.header.size {
            return Err(Error::Object(at, "no place for a value"));
        }
        let mut bytes = [0; OBJECT as usize];
        self.blocks.read(&self.file, at, &mut bytes)?;
        let (size, flags) = object(&bytes, at, Kind::Data, fixed + 1)?;
        if at.checked_add(size).is_none_or(|end| end > self.length) {
            return Err(Error::Object(at, "a value reaches beyond the end"));
        }
        let length = size - fixed;
        if !is_packed(flags) {
            let length = length.min(max as u64) as usize;
            let start = out.len();
            out.resize(start + length, 0);
            return self.blocks.read(&self.file, at + fixed, out.get_mut(start..).unwrap_or_default());
        }
        if length > PACKED_MAX {
            return Err(Error::Packed(at, "too large"));
        }
        let mut packed = vec![0; length as usize];
        self.blocks.read(&self.file, at + fixed, &mut packed)?;
        self.unpacker.unpack(&packed, flags, max, at, out)
    }
}

fn header(file: &File) -> Result<(Header, u64), Error> {
    let mut bytes = [0; HEADER_MIN];
    let read = read_at(file, &mut bytes, 0)?;
    let header = Header::parse(bytes.get(..read).unwrap_or_default())?;
    Ok((header, file.metadata()?.len()))
}

/// Whether a file is too short to have a header: one that is just being made.
pub fn is_unborn(length: u64) -> bool {
    length < HEADER_MIN as u64
}

#[cfg(test)]
mod tests;
