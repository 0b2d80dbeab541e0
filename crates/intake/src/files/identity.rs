//! Which file is which: device and inode, and because inodes are given out again, a fingerprint of the file's
//! beginning.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// Bytes of the beginning that are compared.
pub const HEAD_MAX: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId {
    pub dev: u64,
    pub ino: u64,
}

impl FileId {
    pub fn of(meta: &Metadata) -> FileId {
        FileId { dev: meta.dev(), ino: meta.ino() }
    }

    /// The name of its record in the state file.
    pub fn name(self, source: &str) -> Vec<u8> {
        let mut name = Vec::with_capacity(source.len() + 2 + 2 * u64::BITS as usize / 4);
        name.extend_from_slice(source.as_bytes());
        name.push(b'/');
        push_hex(&mut name, self.dev);
        name.push(b':');
        push_hex(&mut name, self.ino);
        name
    }

    /// The other way round.
    pub fn from_name(name: &[u8]) -> Option<FileId> {
        let text = std::str::from_utf8(name).ok()?.rsplit_once('/')?.1;
        let (dev, ino) = text.split_once(':')?;
        Some(FileId { dev: u64::from_str_radix(dev, 16).ok()?, ino: u64::from_str_radix(ino, 16).ok()? })
    }
}

/// Without leading zeros. By hand, because it is done for each of thousands of files.
fn push_hex(to: &mut Vec<u8>, value: u64) {
    let digits = (u64::BITS - (value | 1).leading_zeros()).div_ceil(4);
    to.extend((0..digits).rev().map(|at| match (value >> (4 * at) & 15) as u8 {
        digit @ 0..10 => b'0' + digit,
        digit => b'a' - 10 + digit,
    }));
}

/// The bytes a file begins with, as many as there were, at most [`HEAD_MAX`].
#[derive(Default)]
pub struct Head {
    length: usize,
    hash: u64,
}

impl Head {
    /// Whether the file still begins so. Takes in what it has grown by.
    pub fn check(&mut self, file: &File) -> io::Result<bool> {
        let mut now = [0; HEAD_MAX];
        let length = read_front(file, &mut now)?;
        let now = now.get(..length).unwrap_or_default();
        if now.get(..self.length).map(fingerprint) != Some(self.hash) && self.length > 0 {
            return Ok(false);
        }
        if now.len() > self.length {
            self.adopt(now);
        }
        Ok(true)
    }

    /// Takes in the beginning of the file from bytes that were just read there.
    pub fn adopt(&mut self, front: &[u8]) {
        let front = front.get(..HEAD_MAX).unwrap_or(front);
        (self.length, self.hash) = (front.len(), fingerprint(front));
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Whether that is all there can be of it in a file that was read up to this place.
    pub fn is_complete(&self, offset: u64) -> bool {
        self.length >= HEAD_MAX || self.length as u64 >= offset
    }

    pub fn clear(&mut self) {
        *self = Head::default();
    }
}

fn read_front(file: &File, into: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = into.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, length as u64) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(length)
}

/// As docs/state-format.md says: over words of eight bytes, because it is computed for each read.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let words = words.iter().chain(std::iter::once(&last));
    words.fold(bytes.len() as u64, |hash, word| {
        let hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
        hash ^ hash >> 32
    })
}

/// A place in a file whose beginning is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub offset: u64,
    head_bytes: u16,
    head_hash: u64,
}

/// The version of a record.
const VERSION: u8 = 3;
/// Without a number.
const VERSION_2: u8 = 2;
/// It had another fingerprint too: its files are known by inode and size alone.
const VERSION_1: u8 = 1;

/// What the state file says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    pub position: Position,
    /// Of two files that were at one path the later one has the higher number. Zero when it is not known.
    pub number: u64,
    /// The path the file had.
    pub path: &'a [u8],
}

impl Record<'_> {
    /// As docs/state-format.md says, the path last.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.clear();
        out.push(VERSION);
        out.extend_from_slice(&self.position.offset.to_le_bytes());
        out.extend_from_slice(&self.position.head_bytes.to_le_bytes());
        out.extend_from_slice(&self.position.head_hash.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(self.path);
    }

    pub fn decode(value: &[u8]) -> Option<Record<'_>> {
        let (version, rest) = value.split_first()?;
        let (offset, rest) = rest.split_first_chunk::<8>()?;
        let (bytes, rest) = rest.split_first_chunk::<2>()?;
        let (hash, rest) = rest.split_first_chunk::<8>()?;
        let (number, path) = match *version {
            VERSION => rest.split_first_chunk::<8>()?,
            VERSION_2 | VERSION_1 => (&[0; 8], rest),
            _ => return None,
        };
        let (head_bytes, head_hash) = match *version {
            VERSION_1 => (0, 0),
            _ => (u16::from_le_bytes(*bytes), u64::from_le_bytes(*hash)),
        };
        let position = Position { offset: u64::from_le_bytes(*offset), head_bytes, head_hash };
        Some(Record { position, number: u64::from_le_bytes(*number), path })
    }
}

impl Position {
    pub fn new(offset: u64, head: &Head) -> Position {
        Position { offset, head_bytes: head.length as u16, head_hash: head.hash }
    }

    /// Whether the file is the one this place was in.
    pub fn is_in(&self, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() < self.offset {
            return Ok(false);
        }
        let mut now = [0; HEAD_MAX];
        let length = read_front(file, &mut now)?;
        let head = now.get(..length).and_then(|now| now.get(..usize::from(self.head_bytes)));
        Ok(head.is_some_and(|head| head.is_empty() || fingerprint(head) == self.head_hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_records_come_back() {
        let id = FileId { dev: 0xfd01, ino: 77 };
        assert_eq!(FileId::from_name(&id.name("affile_sd_curpos(/a/b)")), Some(id));
        for (dev, ino) in [(0, 1), (16, 255), (0xfd01, u64::MAX), (u64::MAX, 0)] {
            let name = FileId { dev, ino }.name("s");
            assert_eq!(String::from_utf8(name).expect("text"), format!("s/{dev:x}:{ino:x}"));
        }
        assert_eq!(FileId::from_name(b"x"), None);
        let position = Position { offset: 5, head_bytes: 3, head_hash: 9 };
        let record = Record { position, number: 7, path: b"/a/b" };
        let mut value = Vec::new();
        record.encode(&mut value);
        assert_eq!(Record::decode(&value), Some(record));
        assert_eq!(Record::decode(&value[..26]), None);
        // Those that earlier versions wrote.
        value.drain(19..27);
        value[0] = VERSION_2;
        assert_eq!(Record::decode(&value), Some(Record { number: 0, ..record }));
        value[0] = VERSION_1;
        let position = Position { offset: 5, ..Position::default() };
        assert_eq!(Record::decode(&value), Some(Record { position, number: 0, ..record }));
    }

    #[test]
    fn a_file_is_known_by_its_beginning() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("f");
        let mut head = Head::default();
        std::fs::write(&path, "abc").expect("write");
        let file = File::open(&path).expect("open");
        assert!(head.check(&file).expect("read"));
        let position = Position::new(3, &head);
        std::fs::write(&path, "abcdef").expect("write");
        assert!(head.check(&file).expect("read") && position.is_in(&file).expect("read"));
        std::fs::write(&path, "xbcdef").expect("write");
        assert!(!head.check(&file).expect("read") && !position.is_in(&file).expect("read"));
        std::fs::write(&path, "ab").expect("write");
        assert!(!position.is_in(&file).expect("read"));
    }
}
