//! The log's key: a random number that hides the numbers of frames, so that no message can look like one.

use crate::files::{Files, SegmentFile, read_all, write_all};
use crate::snapshot::Snapshot;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::Arc;

pub const KEY: &str = "key";
const KEY_MAGIC: [u8; 8] = *b"PSTOREK\x01";

/// A file that is called a segment: the number in its name, its name, itself, its length.
pub type NamedFile = (u64, String, Arc<dyn SegmentFile>, u64);

/// The log's key: from its file, else from any header; a new one for a new log.
pub fn find(files: &dyn Files, opened: &[NamedFile]) -> io::Result<u64> {
    let mut bytes = [0; 20];
    if let Ok(file) = files.open(KEY)
        && read_all(&*file, &mut bytes, 0) == bytes.len()
        && let Some(key) = key_in(&bytes)
    {
        return Ok(key);
    }
    let key = of_segments(opened.iter().map(|(_, _, file, _)| &**file)).unwrap_or_else(random);
    bytes[..8].copy_from_slice(&KEY_MAGIC);
    bytes[8..16].copy_from_slice(&key.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[..16]);
    bytes[16..].copy_from_slice(&sum.to_le_bytes());
    let file = files.create(KEY)?;
    write_all(&*file, &bytes, 0)?;
    file.sync()?;
    files.sync_folder()?;
    Ok(key)
}

/// As the headers and footers of segments tell it, the last one first.
pub fn of_segments<'f>(files: impl DoubleEndedIterator<Item = &'f dyn SegmentFile>) -> Option<u64> {
    files.rev().find_map(|file| {
        let length = file.length().ok()?;
        let snapshot = Snapshot::read_header(file, length).or_else(|| Snapshot::read_footer(file, length));
        snapshot.map(|snapshot| snapshot.key)
    })
}

/// What the file of the key holds, if it is whole.
pub(crate) fn key_in(bytes: &[u8; 20]) -> Option<u64> {
    let whole = bytes[..8] == KEY_MAGIC && crc32c::crc32c(&bytes[..16]).to_le_bytes() == bytes[16..];
    let key = bytes[8..].first_chunk()?;
    whole.then(|| u64::from_le_bytes(*key))
}

pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
