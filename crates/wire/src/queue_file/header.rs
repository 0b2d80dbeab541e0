//! The first page of a queue file.

/// Messages that were in memory when syslog-ng ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    pub at: u64,
    pub bytes: u64,
    pub count: u64,
}

/// `magic SLRQ or SLQF | version u8 | big endian u8 | 2 bytes | read head, write head, length i64 | three
/// times: place i64, bytes i32, count i32 | backlog head, backlog length i64`, in the byte order it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub reliable: bool,
    pub version: u8,
    pub big_endian: bool,
    /// Where the next message to be sent is.
    pub read_head: u64,
    pub write_head: u64,
    /// Messages between the two.
    pub length: u64,
    /// The first messages of the queue; only of files that are not reliable, as the other two.
    pub front: Saved,
    /// Sent and not acknowledged.
    pub backlog: Saved,
    /// The last messages, which the file had no room for.
    pub overflow: Saved,
    /// The first message of a reliable file that was sent and not acknowledged; there are so many.
    pub backlog_head: u64,
    pub backlog_length: u64,
}

const BYTES: usize = 96;
const NEGATIVE: &str = "a negative number stands in its header";

impl Header {
    /// Reads the beginning of a file. The error says what is wrong with it.
    pub fn parse(bytes: &[u8]) -> Result<Header, &'static str> {
        let reliable = match bytes.get(..4) {
            Some(b"SLRQ") => true,
            Some(b"SLQF") => false,
            _ => return Err("this is no queue file of syslog-ng: its first bytes are neither SLRQ nor SLQF"),
        };
        let Some(fields) = bytes.get(..BYTES) else { return Err("the file ends in its header") };
        let big_endian = fields[5] != 0;
        let long = |at: usize| {
            fields.get(at..).and_then(|rest| rest.first_chunk::<8>()).map_or(0, |word| match big_endian {
                true => i64::from_be_bytes(*word),
                false => i64::from_le_bytes(*word),
            })
        };
        let short = |at: usize| {
            fields.get(at..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |word| match big_endian {
                true => i32::from_be_bytes(*word),
                false => i32::from_le_bytes(*word),
            })
        };
        let long = |at| u64::try_from(long(at)).map_err(|_| NEGATIVE);
        let short = |at| u64::try_from(short(at)).map_err(|_| NEGATIVE);
        let saved = |at| {
            Ok::<Saved, &'static str>(Saved { at: long(at)?, bytes: short(at + 8)?, count: short(at + 12)? })
        };
        Ok(Header {
            reliable,
            version: fields[4],
            big_endian,
            read_head: long(8)?,
            write_head: long(16)?,
            length: long(24)?,
            front: saved(32)?,
            backlog: saved(48)?,
            overflow: saved(64)?,
            backlog_head: long(80)?,
            backlog_length: long(88)?,
        })
    }

    /// Where reading begins, and how many messages there are to be read from the ring: what was not
    /// acknowledged is sent again.
    pub(super) fn begin(&self) -> (u64, u64) {
        let (at, count) = match self.reliable && self.backlog_length > 0 {
            true => (self.backlog_head, self.length.saturating_add(self.backlog_length)),
            false => (self.read_head, self.length),
        };
        (at.max(super::RESERVED), count)
    }

    /// All messages that the file is said to hold.
    pub fn messages(&self) -> u64 {
        let saved = [self.front, self.backlog, self.overflow].iter().map(|saved| saved.count).sum::<u64>();
        self.begin().1.saturating_add(saved)
    }
}
