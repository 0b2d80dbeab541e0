//! syslog-ng's own queue files, `.rqf` (reliable) and `.qf`: header, records and the messages in them, read
//! only.
//!
//! A header of 4096 bytes is followed by a ring of records, each a length (u32, big endian) and a serialised
//! message. What was in memory when syslog-ng ended stands in three more places of a `.qf`, messages one
//! behind the other without lengths.

mod header;
mod message;

pub use header::{Header, Saved};
pub use message::{Message, Value};

/// Where records begin.
pub const RESERVED: u64 = 4096;
/// Of a record.
pub const RECORD_BYTES_MAX: usize = 100 << 20;
/// Of what was in memory when syslog-ng ended.
const SAVED_BYTES_MAX: usize = 1 << 30;

/// Fills the bytes from a place of the file and says how many there were.
pub trait ReadAt {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> usize;
}

impl ReadAt for [u8] {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> usize {
        let rest = usize::try_from(at).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        if let (Some(to), Some(from)) = (bytes.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        count
    }
}

/// What was found in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub messages: u64,
    /// Records that are there and are no messages.
    pub damaged: u64,
    /// Messages that the header counts and that were not reached: what lies before them is damaged.
    pub missing: u64,
}

/// Gives every message to `each`, in the order in which syslog-ng would have sent them. `each` says whether
/// to go on.
pub fn messages<R: ReadAt + ?Sized>(
    file: &R,
    length: u64,
    header: &Header,
    mut each: impl FnMut(&Message<'_>) -> bool,
) -> Found {
    let mut found = Found::default();
    let saved = |saved: &Saved, found: &mut Found, each: &mut dyn FnMut(&Message<'_>) -> bool| {
        read_saved(file, length, saved, found, each)
    };
    let go_on = saved(&header.backlog, &mut found, &mut each)
        && saved(&header.front, &mut found, &mut each)
        && read_ring(file, length, header, &mut found, &mut each);
    if go_on {
        saved(&header.overflow, &mut found, &mut each);
    }
    found
}

/// Messages one behind the other.
fn read_saved<R: ReadAt + ?Sized>(
    file: &R,
    length: u64,
    saved: &Saved,
    found: &mut Found,
    each: &mut dyn FnMut(&Message<'_>) -> bool,
) -> bool {
    let there = length.saturating_sub(saved.at).min(saved.bytes).min(SAVED_BYTES_MAX as u64);
    let mut bytes = vec![0; there as usize];
    let count = file.read_at(&mut bytes, saved.at);
    let mut rest = bytes.get(..count).unwrap_or_default();
    for number in 0..saved.count {
        let Some((message, used)) = Message::parse(rest) else {
            // Nothing says where the next one begins.
            found.damaged += 1;
            found.missing += saved.count - number - 1;
            return true;
        };
        found.messages += 1;
        if !each(&message) {
            return false;
        }
        rest = rest.get(used..).unwrap_or_default();
    }
    true
}

/// The records between the heads.
fn read_ring<R: ReadAt + ?Sized>(
    file: &R,
    length: u64,
    header: &Header,
    found: &mut Found,
    each: &mut dyn FnMut(&Message<'_>) -> bool,
) -> bool {
    let (mut at, mut left) = header.begin();
    let mut wrapped = at <= header.write_head;
    let mut record = Vec::new();
    while left > 0 {
        if wrapped && at >= header.write_head {
            break;
        }
        let mut head = [0; 4];
        let size = match file.read_at(&mut head, at) {
            4 => u32::from_be_bytes(head) as usize,
            _ => 0,
        };
        let room = length.saturating_sub(at.saturating_add(4));
        if size == 0 || size > RECORD_BYTES_MAX || size as u64 > room {
            if !wrapped {
                // Behind the last record before the end of the file it goes on at the front.
                (at, wrapped) = (RESERVED, true);
                continue;
            }
            break;
        }
        record.resize(size, 0);
        if file.read_at(&mut record, at + 4) < size {
            break;
        }
        at += 4 + size as u64;
        left -= 1;
        match Message::parse(&record) {
            Some((message, _)) => {
                found.messages += 1;
                if !each(&message) {
                    return false;
                }
            }
            None => found.damaged += 1,
        }
    }
    found.missing += left;
    true
}

#[cfg(test)]
mod tests;
