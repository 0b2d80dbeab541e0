//! The bytes of a journal file's header and objects, field by field, little endian. Pure functions over
//! bytes.

use crate::error::Error;
use crate::place::Id;

pub const SIGNATURE: [u8; 8] = *b"LPKSHHRH";
/// The part of the header that every version has.
pub const HEADER_MIN: usize = 208;
/// In front of every object: type, flags, size.
pub const OBJECT: u64 = 16;
pub const ENTRY_FIXED: u64 = 64;
pub const ARRAY_FIXED: u64 = 24;

/// Incompatible flags.
pub const COMPACT: u32 = 16;
const KNOWN: u32 = 1 | 2 | 4 | 8 | COMPACT;

/// State of a file that is being written.
const ONLINE: u8 = 1;
/// State of a file that nobody writes to any more.
const ARCHIVED: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Data,
    Entry,
    EntryArray,
}

impl Kind {
    fn number(self) -> u8 {
        match self {
            Kind::Data => 1,
            Kind::Entry => 3,
            Kind::EntryArray => 6,
        }
    }

    fn named(self) -> &'static str {
        match self {
            Kind::Data => "no data object",
            Kind::Entry => "no entry object",
            Kind::EntryArray => "no entry array object",
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Header {
    pub online: bool,
    pub archived: bool,
    pub compact: bool,
    pub file_id: Id,
    pub machine: Id,
    /// Of the last entry.
    pub boot: Id,
    pub seqnum_id: Id,
    pub size: u64,
    pub arena: u64,
    pub tail_object: u64,
    pub entries: u64,
    pub tail_seqnum: u64,
    pub entry_array: u64,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes).unwrap_or(0)
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes).unwrap_or(0)
}

fn id_at(bytes: &[u8], at: usize) -> Id {
    bytes.get(at..at + 16).and_then(|b| b.try_into().ok()).unwrap_or_default()
}

impl Header {
    pub fn parse(bytes: &[u8]) -> Result<Header, Error> {
        if bytes.len() < HEADER_MIN || !bytes.starts_with(&SIGNATURE) {
            return Err(Error::Foreign);
        }
        let flags = u32_at(bytes, 12);
        if flags & !KNOWN != 0 {
            return Err(Error::Flags(flags & !KNOWN));
        }
        let header = Header {
            online: bytes.get(16) == Some(&ONLINE),
            archived: bytes.get(16) == Some(&ARCHIVED),
            compact: flags & COMPACT != 0,
            file_id: id_at(bytes, 24),
            machine: id_at(bytes, 40),
            boot: id_at(bytes, 56),
            seqnum_id: id_at(bytes, 72),
            size: u64_at(bytes, 88),
            arena: u64_at(bytes, 96),
            tail_object: u64_at(bytes, 136),
            entries: u64_at(bytes, 152),
            tail_seqnum: u64_at(bytes, 160),
            entry_array: u64_at(bytes, 176),
        };
        if header.size < HEADER_MIN as u64 {
            return Err(Error::Object(88, "the header is too short"));
        }
        Ok(header)
    }

    /// Bytes of one number in an entry array.
    pub fn item_bytes(&self) -> u64 {
        if self.compact { 4 } else { 8 }
    }

    /// Bytes of one field in an entry.
    pub fn field_bytes(&self) -> u64 {
        if self.compact { 4 } else { 16 }
    }

    /// Where the value of a data object begins.
    pub fn data_fixed(&self) -> u64 {
        if self.compact { 72 } else { 64 }
    }

    /// The number at a place of an entry array or of an entry's fields.
    pub fn item(&self, bytes: &[u8], at: usize) -> u64 {
        if self.compact { u32_at(bytes, at).into() } else { u64_at(bytes, at) }
    }
}

/// The size of an object, and its flags; `bytes` are its first [`OBJECT`].
pub fn object(bytes: &[u8], at: u64, kind: Kind, least: u64) -> Result<(u64, u8), Error> {
    if bytes.first() != Some(&kind.number()) {
        return Err(Error::Object(at, kind.named()));
    }
    let size = u64_at(bytes, 8);
    if size < least {
        return Err(Error::Object(at, "an object is too small"));
    }
    Ok((size, bytes.get(1).copied().unwrap_or(0)))
}

/// What an entry says about itself, beside its fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryHead {
    /// In the file.
    pub offset: u64,
    pub size: u64,
    pub seqnum: u64,
    pub realtime: u64,
    pub monotonic: u64,
    pub boot: Id,
    pub hash: u64,
}

impl EntryHead {
    /// `bytes` are the first [`ENTRY_FIXED`] of the object.
    pub fn parse(bytes: &[u8], offset: u64) -> Result<EntryHead, Error> {
        let (size, _) = object(bytes, offset, Kind::Entry, ENTRY_FIXED)?;
        let seqnum = u64_at(bytes, 16);
        if seqnum == 0 {
            return Err(Error::Object(offset, "an entry has no number"));
        }
        Ok(EntryHead {
            offset,
            size,
            seqnum,
            realtime: u64_at(bytes, 24),
            monotonic: u64_at(bytes, 32),
            boot: id_at(bytes, 40),
            hash: u64_at(bytes, 56),
        })
    }
}
