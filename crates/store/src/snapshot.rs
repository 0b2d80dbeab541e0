//! Header and footer of a segment: which queues there are, how far each was written and done at that place.
//! Both are one structure.

use crate::files::{SegmentFile, read_all, write_all};
use crate::report::Waiting;
use crate::shared::Mark;
use std::collections::BTreeMap;
use std::io;

const HEADER: [u8; 8] = *b"PSTOREH\x01";
const FOOTER: [u8; 8] = *b"PSTOREF\x01";
pub(crate) const WAYPOINT: [u8; 8] = *b"PSTOREW\x01";
/// The last bytes of a closed segment, behind the length of its footer.
const TRAILER: [u8; 8] = *b"PSTOREZ\x01";
const TRAILER_BYTES: usize = 16;
const FIXED: usize = 64;
const ROW: usize = 72;
/// No number, count or place is as large: what says so is damaged.
pub const NUMBER_MAX: u64 = 1 << 62;
/// Headers and their copies begin at multiples of it.
pub const PAGE: u64 = 4096;
/// Bytes of a queue's name.
pub const NAME_MAX: usize = 1024;
/// Queues of a log.
pub const QUEUES_MAX: u32 = 4096;
/// Of the file of cursors, which is there before it is needed.
pub const ASIDE_BYTES: u64 = 64 << 10;
const BYTES_MAX: usize = FIXED + QUEUES_MAX as usize * (ROW + NAME_MAX) + 4;

/// What is known of a queue at a place of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub name: Vec<u8>,
    /// Ever put in before this place.
    pub appended: Waiting,
    /// The number after its last message before this place.
    pub end: u64,
    /// Everything before this number is done, which was so much.
    pub cursor: u64,
    pub done: Waiting,
    /// In this segment; of a footer only.
    pub here: Waiting,
}

impl Row {
    /// The numbers of it that are written everywhere, in their order on disk.
    pub fn words(&self) -> [u64; 6] {
        let Row { appended, end, cursor, done, .. } = self;
        [appended.messages, appended.bytes, *end, *cursor, done.messages, done.bytes]
    }

    pub fn of_words([messages, bytes, end, cursor, done_messages, done_bytes]: [u64; 6]) -> Row {
        let appended = Waiting { messages, bytes };
        let done = Waiting { messages: done_messages, bytes: done_bytes };
        Row { appended, end, cursor, done, ..Row::default() }
    }

    /// Of a footer: the queue's part of the segment.
    pub fn mark(&self) -> Mark {
        Mark { appended: self.appended, here: self.here, end: self.end }
    }

    pub fn waiting(&self) -> Waiting {
        self.appended.less(self.done)
    }

    /// What is done stays done: the later cursor of both.
    pub fn take_done(&mut self, other: &Row) {
        if other.cursor > self.cursor {
            self.cursor = other.cursor;
            self.done = other.done;
        }
    }
}

pub type Table = BTreeMap<u32, Row>;

/// The snapshot's queues; what is known to be done stays done.
pub fn follow(table: &mut Table, snapshot: &Table) {
    let old = std::mem::replace(table, snapshot.clone());
    for (id, row) in table {
        if let Some(old) = old.get(id).filter(|old| old.name == row.name) {
            row.take_done(old);
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub key: u64,
    /// Number of the first frame, and the one after the last (of a header: as the first).
    pub first: u64,
    pub next: u64,
    /// Where frames begin and end (of a header: as they begin).
    pub data_start: u64,
    pub data_end: u64,
    /// Frames that were done are left out: holes between numbers mean nothing.
    pub sparse: bool,
    pub table: Table,
}

impl Snapshot {
    fn encode(&self, magic: [u8; 8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(FIXED + self.table.len() * (ROW + 64) + 4);
        out.extend_from_slice(&magic);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&u32::from(self.sparse).to_le_bytes());
        for word in [self.key, self.first, self.next, self.data_start, self.data_end] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&(self.table.len() as u64).to_le_bytes());
        for (id, row) in &self.table {
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&(row.name.len() as u32).to_le_bytes());
            for word in row.words().into_iter().chain([row.here.messages, row.here.bytes]) {
                out.extend_from_slice(&word.to_le_bytes());
            }
            out.extend_from_slice(&row.name);
        }
        let length = (out.len() + 4) as u32;
        out[8..12].copy_from_slice(&length.to_le_bytes());
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// The one at the front of `bytes`, or how many bytes are needed.
    fn decode(bytes: &[u8], magic: [u8; 8]) -> Result<Snapshot, usize> {
        if bytes.get(..8) != Some(&magic[..]) {
            return Err(0);
        }
        let length =
            bytes.get(8..).and_then(|b| b.first_chunk()).map_or(0, |b| u32::from_le_bytes(*b)) as usize;
        if !(FIXED + 4..=BYTES_MAX).contains(&length) {
            return Err(0);
        }
        let Some((body, sum)) = bytes.get(..length).and_then(|b| b.split_last_chunk::<4>()) else {
            return Err(length);
        };
        if crc32c::crc32c(body) != u32::from_le_bytes(*sum) && !cfg!(feature = "unchecked") {
            return Err(0);
        }
        Self::fields(body).ok_or(0)
    }

    fn fields(body: &[u8]) -> Option<Snapshot> {
        let mut rest = body.get(12..)?;
        let sparse = number(&mut rest)? & 1 == 1;
        let mut words = [0; 6];
        for word in &mut words {
            *word = long(&mut rest)?;
        }
        let [key, first, next, data_start, data_end, count] = words;
        if words[1..].iter().any(|word| *word >= NUMBER_MAX) {
            return None;
        }
        let mut table = Table::new();
        for _ in 0..count {
            let id = number(&mut rest).filter(|id| *id < QUEUES_MAX)?;
            let name_bytes = number(&mut rest).filter(|n| *n as usize <= NAME_MAX)? as usize;
            let words = numbers(&mut rest)?;
            let [messages, bytes] = numbers(&mut rest)?;
            let (name, after) = rest.split_at_checked(name_bytes)?;
            rest = after;
            let here = Waiting { messages, bytes };
            table.insert(id, Row { name: name.to_vec(), here, ..Row::of_words(words) });
        }
        Some(Snapshot { key, first, next, data_start, data_end, sparse, table })
    }

    /// Writes the header twice, each copy in pages of its own; frames begin behind it.
    pub fn write_header(&mut self, file: &dyn SegmentFile) -> io::Result<()> {
        let length = self.encode(HEADER).len().next_multiple_of(PAGE as usize);
        (self.data_start, self.data_end) = (2 * length as u64, 2 * length as u64);
        let mut bytes = self.encode(HEADER);
        bytes.resize(length, 0);
        bytes.extend_from_within(..);
        write_all(file, &bytes, 0)
    }

    /// Of the segment's two headers the first that is whole.
    pub fn read_header(file: &dyn SegmentFile, length: u64) -> Option<Snapshot> {
        let mut at = 0;
        while at < length.min(BYTES_MAX as u64 + 2 * PAGE) {
            match Self::read_at(file, at, HEADER) {
                Some(found) if found.data_start <= length => return Some(found),
                _ => at += PAGE,
            }
        }
        None
    }

    fn read_at(file: &dyn SegmentFile, at: u64, magic: [u8; 8]) -> Option<Snapshot> {
        let mut bytes = vec![0; PAGE as usize];
        let filled = read_all(file, &mut bytes, at);
        match Self::decode(&bytes[..filled], magic) {
            Ok(found) => Some(found),
            Err(0) => None,
            Err(needed) => {
                bytes.resize(needed, 0);
                let filled = read_all(file, &mut bytes, at);
                Self::decode(&bytes[..filled], magic).ok()
            }
        }
    }

    /// Writes it into one of the two places of the file of cursors, by turns.
    pub fn write_aside(&self, file: &dyn SegmentFile, turn: bool) -> io::Result<()> {
        let bytes = self.encode(HEADER);
        if bytes.len() as u64 > ASIDE_BYTES / 2 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        write_all(file, &bytes, u64::from(turn) * ASIDE_BYTES / 2)?;
        file.sync()
    }

    /// What [`Snapshot::write_aside`] has written, the newer last.
    pub fn read_aside(file: &dyn SegmentFile) -> Vec<Snapshot> {
        let places = [0, ASIDE_BYTES / 2];
        let mut found: Vec<_> = places.iter().filter_map(|at| Self::read_at(file, *at, HEADER)).collect();
        found.sort_by_key(|snapshot| snapshot.next);
        found
    }

    /// Its bytes in a segment that is being written, see [`crate::writer::find_waypoint`].
    pub fn waypoint(&self) -> Vec<u8> {
        self.encode(WAYPOINT)
    }

    pub fn read_waypoint(file: &dyn SegmentFile, at: u64) -> Option<Snapshot> {
        Self::read_at(file, at, WAYPOINT)
    }

    /// The bytes of the footer, to be put at the end of the file.
    pub fn footer(&self) -> Vec<u8> {
        let mut bytes = self.encode(FOOTER);
        let length = bytes.len() as u64;
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&TRAILER);
        bytes
    }

    pub fn read_footer(file: &dyn SegmentFile, length: u64) -> Option<Snapshot> {
        let at = length.checked_sub(TRAILER_BYTES as u64)?;
        let mut trailer = [0; TRAILER_BYTES];
        if read_all(file, &mut trailer, at) < TRAILER_BYTES || trailer[8..] != TRAILER {
            return None;
        }
        let bytes = u64::from_le_bytes(*trailer.first_chunk()?);
        let start = at.checked_sub(bytes)?;
        let found = Self::read_at(file, start, FOOTER)?;
        (found.data_start <= found.data_end && found.data_end <= start && found.first <= found.next)
            .then_some(found)
    }
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (head, tail) = rest.split_first_chunk::<4>()?;
    *rest = tail;
    Some(u32::from_le_bytes(*head))
}

/// Numbers as they may be.
pub fn numbers<const N: usize>(rest: &mut &[u8]) -> Option<[u64; N]> {
    let mut words = [0; N];
    for word in &mut words {
        *word = long(rest).filter(|word| *word < NUMBER_MAX)?;
    }
    Some(words)
}

fn long(rest: &mut &[u8]) -> Option<u64> {
    let (head, tail) = rest.split_first_chunk::<8>()?;
    *rest = tail;
    Some(u64::from_le_bytes(*head))
}
