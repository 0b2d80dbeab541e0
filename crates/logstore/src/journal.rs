//! The journal beside a store: messages that are not in a chunk yet, so that a kill loses none of them.
//!
//! It holds one block, the chunk that comes next. A new block begins at the front again; entries that are
//! left over from an earlier one are told by their checksums, which count the number of the chunk.

use crate::error::Error;
use crate::header::ID_BYTES;
use crate::record::Time;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

const MAGIC: &[u8; 8] = b"PSLJ\0\0\0\x01";
const HEAD: usize = 8 + ID_BYTES + 4 + 4 + 8 + 4;
const ENTRY: usize = 4 + 4 + 8 + 4 + 4;
/// A larger journal is none.
const BYTES_MAX: u64 = 256 << 20;

/// The block that stands in a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalBlock {
    /// Of the store.
    pub id: [u8; ID_BYTES],
    /// The number of the chunk that it becomes.
    pub chunk: u32,
    /// The number of its first message.
    pub first: u32,
    /// Where its key stands; 0 of a store that is not encrypted.
    pub key_at: u64,
    pub messages: u32,
    pub start: Time,
    pub end: Time,
    /// Messages with their lengths, or encrypted segments.
    pub data: Vec<u8>,
}

pub struct Journal {
    file: File,
    chunk: u32,
    at: u64,
}

impl Journal {
    /// The journal of a file, and what stands in it.
    pub fn open(file: File) -> Result<(Journal, Option<JournalBlock>), Error> {
        if file.metadata()?.len() > BYTES_MAX {
            return Err(Error::Foreign("the journal is too large to be one"));
        }
        let mut bytes = Vec::new();
        (&file).take(BYTES_MAX).read_to_end(&mut bytes)?;
        let kept = match bytes.first_chunk::<8>() {
            Some(magic) if magic != MAGIC => {
                return Err(Error::Foreign("the file in the place of the journal is none"));
            }
            _ => read(&bytes),
        };
        Ok((Journal { file, chunk: 0, at: 0 }, kept))
    }

    /// Begins the block of a chunk: what stood here is over. `first`: the number of its first message.
    pub fn begin(&mut self, id: &[u8; ID_BYTES], chunk: u32, first: u32, key_at: u64) -> Result<(), Error> {
        let mut head = Vec::with_capacity(HEAD);
        head.extend_from_slice(MAGIC);
        head.extend_from_slice(id);
        head.extend_from_slice(&chunk.to_be_bytes());
        head.extend_from_slice(&first.to_be_bytes());
        head.extend_from_slice(&key_at.to_be_bytes());
        head.extend_from_slice(&crc32c::crc32c(&head).to_be_bytes());
        self.file.write_all_at(&head, 0)?;
        (self.chunk, self.at) = (chunk, HEAD as u64);
        Ok(())
    }

    /// Puts messages behind those of the block.
    pub fn add(&mut self, data: &[u8], messages: u32, time: Time) -> Result<(), Error> {
        let mut entry = Vec::with_capacity(ENTRY + data.len());
        entry.extend_from_slice(&(data.len() as u32).to_be_bytes());
        entry.extend_from_slice(&messages.to_be_bytes());
        entry.extend_from_slice(&time.seconds.to_be_bytes());
        entry.extend_from_slice(&time.micros.to_be_bytes());
        let sum = checksum(self.chunk, &entry, data);
        entry.extend_from_slice(&sum.to_be_bytes());
        entry.extend_from_slice(data);
        self.file.write_all_at(&entry, self.at)?;
        self.at += entry.len() as u64;
        Ok(())
    }
}

fn checksum(chunk: u32, head: &[u8], data: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c_append(crc32c::crc32c(&chunk.to_be_bytes()), head), data)
}

/// `None`: nothing stands in it, or not even its head is whole: then nothing was acknowledged either.
pub fn read(bytes: &[u8]) -> Option<JournalBlock> {
    let (head, mut rest) = bytes.split_at_checked(HEAD)?;
    let (said, sum) = head.split_last_chunk::<4>()?;
    if !said.starts_with(MAGIC) || crc32c::crc32c(said).to_be_bytes() != *sum {
        return None;
    }
    let u32_at = |bytes: &[u8], at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let u64_at = |bytes: &[u8], at: usize| Some(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let mut kept = JournalBlock {
        id: *said.get(8..)?.first_chunk()?,
        chunk: u32_at(said, 24)?,
        first: u32_at(said, 28)?,
        key_at: u64_at(said, 32)?,
        ..JournalBlock::default()
    };
    while let Some((head, behind)) = rest.split_at_checked(ENTRY) {
        let Some((data, behind)) = behind.split_at_checked(u32_at(head, 0)? as usize) else { break };
        if checksum(kept.chunk, head.get(..ENTRY - 4)?, data) != u32_at(head, ENTRY - 4)? {
            break;
        }
        let time = Time { seconds: u64_at(head, 8)?, micros: u32_at(head, 16)? };
        if kept.messages == 0 {
            kept.start = time;
        }
        kept.end = time;
        kept.messages = kept.messages.checked_add(u32_at(head, 4)?)?;
        kept.data.extend_from_slice(data);
        rest = behind;
    }
    (kept.messages > 0).then_some(kept)
}
