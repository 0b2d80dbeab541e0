//! The records of a store: keys, chunks and time stamps, as they stand in the file.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub const COMPRESSED: u8 = 1;
pub const ENCRYPTED: u8 = 2;
pub const BROKEN: u8 = 4;
pub const SERIALIZED: u8 = 8;

/// Size, kind and flags.
pub const HEAD: usize = 6;
pub const CHUNK_HEAD: usize = 54;
/// Each record with a time stamp has this length.
pub const STAMP_BYTES: usize = 4096;
const STAMP_HEAD: usize = 14;
/// A tail that says: digests follow.
const HASH: u32 = 2;

pub const KEY: u8 = 1;
pub const CHUNK: u8 = 2;
pub const STAMP: u8 = 3;

/// A time of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    pub seconds: u64,
    pub micros: u32,
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Time {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Time { seconds: since.as_secs(), micros: since.subsec_micros() }
    }
}

/// A record, whose parts stand in the bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// The key of what follows, as only the certificate's owner can read it.
    Key(&'a [u8]),
    Chunk(Chunk<'a>),
    /// A time stamp for the chunk of that number.
    Stamp {
        chunk: u32,
        token: &'a [u8],
    },
    Unknown(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    pub flags: u8,
    pub start: Time,
    pub end: Time,
    /// The numbers of its first and last message, which count from 1.
    pub first: u32,
    pub last: u32,
    pub id: u32,
    /// Where its key stands.
    pub key_at: u64,
    /// The head, of [`CHUNK_HEAD`] bytes.
    pub head: &'a [u8],
    pub data: &'a [u8],
    pub tail_flags: u32,
    pub file_mac: &'a [u8],
    pub mac: &'a [u8],
    /// Bytes behind the tail, of which the format knows nothing.
    pub behind: usize,
}

impl Record<'_> {
    /// The whole of a record; the error says what in it cannot be.
    pub fn read(bytes: &[u8]) -> Result<Record<'_>, &'static str> {
        parse(bytes)
    }
}

impl Chunk<'_> {
    pub fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub fn messages(&self) -> u32 {
        self.last.wrapping_sub(self.first).wrapping_add(1)
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|number| u32::from_be_bytes(*number))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|number| u64::from_be_bytes(*number))
}

/// A field with its length in front, and what is behind it.
fn field(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

/// The whole of a record; the error says what in it cannot be.
pub fn parse(bytes: &[u8]) -> Result<Record<'_>, &'static str> {
    let (Some(kind), Some(flags)) = (bytes.get(4), bytes.get(5)) else {
        return Err("a record without a head");
    };
    match *kind {
        KEY => {
            let data = bytes.get(HEAD..).unwrap_or_default();
            match field(data) {
                Some((key, [])) => Ok(Record::Key(key)),
                _ => Err("the length of a key is wrong"),
            }
        }
        CHUNK => chunk(bytes, *flags).map(Record::Chunk).ok_or("the parts of a chunk do not fit in it"),
        STAMP => stamp(bytes).ok_or("the length of a time stamp is wrong"),
        kind => Ok(Record::Unknown(kind)),
    }
}

fn chunk(bytes: &[u8], flags: u8) -> Option<Chunk<'_>> {
    let time = |at| Some(Time { seconds: u64_at(bytes, at)?, micros: u32_at(bytes, at + 8)? });
    let tail_at = u32_at(bytes, 50)? as usize;
    let tail = bytes.get(tail_at..)?;
    let (file_mac, rest) = field(tail.get(4..)?)?;
    let (mac, rest) = field(rest)?;
    Some(Chunk {
        flags,
        start: time(6)?,
        end: time(18)?,
        first: u32_at(bytes, 30)?,
        last: u32_at(bytes, 34)?,
        id: u32_at(bytes, 38)?,
        key_at: u64_at(bytes, 42)?,
        head: bytes.get(..CHUNK_HEAD)?,
        data: bytes.get(CHUNK_HEAD..tail_at)?,
        tail_flags: u32_at(tail, 0)?,
        file_mac,
        mac,
        behind: rest.len(),
    })
}

fn stamp(bytes: &[u8]) -> Option<Record<'_>> {
    let (token, _) = field(bytes.get(10..)?)?;
    Some(Record::Stamp { chunk: u32_at(bytes, HEAD)?, token })
}

fn head(out: &mut Vec<u8>, size: usize, kind: u8, flags: u8) {
    out.extend_from_slice(&(size as u32).to_be_bytes());
    out.extend_from_slice(&[kind, flags]);
}

pub fn write_key(out: &mut Vec<u8>, wrapped: &[u8]) {
    head(out, HEAD + 4 + wrapped.len(), KEY, 0);
    out.extend_from_slice(&(wrapped.len() as u32).to_be_bytes());
    out.extend_from_slice(wrapped);
}

/// `None`: the token is longer than such a record can hold.
pub fn write_stamp(chunk: u32, token: &[u8]) -> Option<Vec<u8>> {
    if token.len() > STAMP_BYTES - STAMP_HEAD {
        return None;
    }
    let mut out = Vec::with_capacity(STAMP_BYTES);
    head(&mut out, STAMP_BYTES, STAMP, 0);
    out.extend_from_slice(&chunk.to_be_bytes());
    out.extend_from_slice(&(token.len() as u32).to_be_bytes());
    out.extend_from_slice(token);
    out.resize(STAMP_BYTES, 0);
    Some(out)
}

/// What stands in the head of a chunk.
pub struct ChunkHead {
    pub flags: u8,
    pub start: Time,
    pub end: Time,
    pub first: u32,
    pub last: u32,
    pub id: u32,
    pub key_at: u64,
}

/// Begins a chunk of which `data` bytes follow, and digests of `digest` bytes.
pub fn chunk_head(this: &ChunkHead, data: usize, digest: usize) -> Vec<u8> {
    let tail_at = CHUNK_HEAD + data;
    let mut out = Vec::with_capacity(tail_at + 12 + 2 * digest);
    head(&mut out, tail_at + 12 + 2 * digest, CHUNK, this.flags);
    for time in [this.start, this.end] {
        out.extend_from_slice(&time.seconds.to_be_bytes());
        out.extend_from_slice(&time.micros.to_be_bytes());
    }
    for number in [this.first, this.last, this.id] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&this.key_at.to_be_bytes());
    out.extend_from_slice(&(tail_at as u32).to_be_bytes());
    out
}

/// Ends a chunk.
pub fn chunk_tail(out: &mut Vec<u8>, file_mac: &[u8], mac: &[u8]) {
    out.extend_from_slice(&HASH.to_be_bytes());
    for digest in [file_mac, mac] {
        out.extend_from_slice(&(digest.len() as u32).to_be_bytes());
        out.extend_from_slice(digest);
    }
}
