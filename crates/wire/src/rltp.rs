//! The acknowledged protocol between two penstocks, `transport(rltp)`: batches of messages with numbers,
//! answered once they were dealt with. docs/rltp.md describes it byte by byte.
//!
//! A frame is read from one contiguous buffer or not at all: the caller keeps what [`next`] did not take,
//! puts more behind it and calls again.

mod cut;
mod pack;
mod write;

pub use cut::cut;
pub use pack::{LEVELS, Packer, unpack};
pub use write::{Number, Payload, ack, batch, hello, packed_batch, ping, refuse, start, welcome};

use record::Span;
use std::fmt;

/// What both sides begin with. No text begins so, no TLS, and a line end that was changed on the way shows.
pub const MAGIC: [u8; 8] = *b"\x93PRLTP\r\n";
/// The version spoken here: the oldest, and the newest.
pub const VERSIONS: (u8, u8) = (1, 1);
pub const HELLO_BYTES: usize = 32;
/// Type, flags and length of a frame.
pub const HEAD_BYTES: usize = 8;
/// What stands in a batch's body in front of its payload.
pub const BATCH_HEAD_BYTES: usize = 24;
/// The body of a frame other than a batch.
const CONTROL_BYTES_MAX: usize = 2048;
/// Bytes of a refusal's text.
pub const REASON_BYTES_MAX: usize = 1024;

/// The first word of the side that connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    pub oldest: u8,
    pub newest: u8,
    /// Batches will come compressed, if that is taken.
    pub packs: bool,
    /// Which of the sender's connections it is.
    pub lane: u16,
    /// The sender, the same over all its connections and restarts.
    pub stream: [u8; 16],
}

/// The answer of the side that listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    pub version: u8,
    pub packs: bool,
    /// The largest payload of a batch that is taken, in the clear.
    pub payload_bytes_max: u32,
    /// The numbering that was used last on this stream; 0 when the stream is not known.
    pub run: u64,
    /// The newest batch of it that was dealt with; all before it were too.
    pub acknowledged: u64,
    /// How far the messages themselves are dealt with.
    pub reached: Reached,
}

/// A place in the messages of a sender that keeps them on disk, where they have numbers that outlive it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Which numbers these are; 0 when there are none.
    pub numbering: u64,
    /// Every message with a smaller number is dealt with.
    pub position: u64,
}

/// What the sender goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The numbering of the batches that follow; not 0.
    pub run: u64,
    /// Which numbers the positions of the batches are; 0 when there will be none.
    pub numbering: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    pub sequence: u64,
    /// With its last message, all with smaller numbers on the sender's disk were sent; 0 says nothing of
    /// that.
    pub position: u64,
    pub messages: u32,
    /// Bytes of the payload in the clear.
    pub plain: u32,
    pub packed: bool,
    pub payload: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    Welcome(Welcome),
    Refuse {
        code: u16,
        text: &'a str,
    },
    /// Everything up to this batch was dealt with.
    Ack(u64),
    /// Nothing else was to be said for a while.
    Ping,
    Start(Start),
    Batch(Batch<'a>),
}

/// Why a connection is refused, for programs; the text beside it is for people.
pub mod code {
    pub const VERSION: u16 = 1;
    /// A newer connection has taken the stream over.
    pub const SUPERSEDED: u16 = 2;
    pub const PROTOCOL: u16 = 3;
}

const WELCOME: u8 = 1;
const REFUSE: u8 = 2;
const ACK: u8 = 3;
const PING: u8 = 4;
const START: u8 = 5;
const BATCH: u8 = 6;

const PACKED: u8 = 1;

/// What the peer did wrong; the connection is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// It begins with something else: the bytes found.
    Foreign(Vec<u8>),
    UnknownFrame(u8),
    /// A frame of this type has another length.
    Length {
        frame: &'static str,
        length: usize,
    },
    TooLarge {
        length: usize,
        max: usize,
    },
    /// The lengths of a batch's messages do not add up to it.
    Sum,
    Text,
    Unpack(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Foreign(found) => {
                write!(f, "the peer does not speak rltp, it begins with \"{}\"", found.escape_ascii())?;
                // An octet count may stand in front of a priority.
                let count = found.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b' ').count();
                match (found.first(), found.get(count)) {
                    (Some(0x16), _) => {
                        f.write_str(", which is TLS: tls() is missing here, or too much there")
                    }
                    (_, Some(b'<')) => {
                        f.write_str(", which looks like plain syslog: it has to send with transport(rltp)")
                    }
                    _ => Ok(()),
                }
            }
            Error::UnknownFrame(kind) => write!(f, "a frame of an unknown type, {kind}"),
            Error::Length { frame, length } => write!(f, "a {frame} frame of {length} bytes"),
            Error::TooLarge { length, max } => {
                write!(f, "a batch of {length} bytes, at most {max} were agreed on")
            }
            Error::Sum => f.write_str("a batch whose messages do not add up to its length"),
            Error::Text => f.write_str("a refusal that is not text"),
            Error::Unpack(why) => write!(f, "a batch that cannot be decompressed: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// Reads the first word of a sender; `None` when more bytes are needed.
pub fn read_hello(bytes: &[u8]) -> Result<Option<Hello>, Error> {
    if !read_magic(bytes)? {
        return Ok(None);
    }
    let Some(bytes) = bytes.first_chunk::<HELLO_BYTES>() else { return Ok(None) };
    let (_, rest) = bytes.split_at(MAGIC.len());
    let [oldest, newest, flags, _, lane_low, lane_high, _, _, stream @ ..] = rest else { return Ok(None) };
    let Some(stream) = stream.first_chunk::<16>() else { return Ok(None) };
    Ok(Some(Hello {
        oldest: *oldest,
        newest: *newest,
        packs: flags & PACKED != 0,
        lane: u16::from_le_bytes([*lane_low, *lane_high]),
        stream: *stream,
    }))
}

/// Whether the peer has begun as it has to; `false` when more bytes are needed to say so.
pub fn read_magic(bytes: &[u8]) -> Result<bool, Error> {
    let begun = bytes.get(..MAGIC.len()).unwrap_or(bytes);
    match MAGIC.starts_with(begun) {
        true => Ok(begun.len() == MAGIC.len()),
        false => Err(Error::Foreign(bytes.get(..16).unwrap_or(bytes).to_vec())),
    }
}

/// The frame at the beginning of `bytes` and its length; `None` when more bytes are needed. The payload of a
/// batch may have `payload_bytes_max` bytes in the clear; compressed it is never larger.
pub fn next(bytes: &[u8], payload_bytes_max: usize) -> Result<Option<(Frame<'_>, usize)>, Error> {
    let Some((kind, flags, length)) = head(bytes, payload_bytes_max)? else { return Ok(None) };
    let Some(body) = bytes.get(HEAD_BYTES..HEAD_BYTES.saturating_add(length)) else { return Ok(None) };
    let frame = match kind {
        WELCOME => Frame::Welcome(read_welcome(body)?),
        REFUSE => match body.split_first_chunk::<2>() {
            Some((code, text)) => Frame::Refuse {
                code: u16::from_le_bytes(*code),
                text: std::str::from_utf8(text).map_err(|_| Error::Text)?,
            },
            None => return Err(Error::Length { frame: "refusal", length }),
        },
        ACK => Frame::Ack(number("acknowledgement", body)?),
        START => match numbers(body) {
            Some([run, numbering]) => Frame::Start(Start { run, numbering }),
            None => return Err(Error::Length { frame: "start", length }),
        },
        PING => Frame::Ping,
        _ => Frame::Batch(read_batch(body, flags, payload_bytes_max)?),
    };
    Ok(Some((frame, HEAD_BYTES + length)))
}

/// How many bytes the frame that `bytes` begins will have; `None` when that is not known yet.
pub fn frame_bytes(bytes: &[u8]) -> Option<usize> {
    let (_, rest) = bytes.split_first_chunk::<4>()?;
    Some(HEAD_BYTES.saturating_add(u32::from_le_bytes(*rest.first_chunk::<4>()?) as usize))
}

fn head(bytes: &[u8], payload_bytes_max: usize) -> Result<Option<(u8, u8, usize)>, Error> {
    let Some([kind, flags, _, _, rest @ ..]) = bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let length = u32::from_le_bytes(*rest) as usize;
    let max = match *kind {
        WELCOME..=START => CONTROL_BYTES_MAX,
        BATCH => payload_bytes_max.saturating_add(BATCH_HEAD_BYTES),
        other => return Err(Error::UnknownFrame(other)),
    };
    match length > max {
        true => Err(Error::TooLarge { length, max }),
        false => Ok(Some((*kind, *flags, length))),
    }
}

fn number(frame: &'static str, body: &[u8]) -> Result<u64, Error> {
    body.try_into().map(u64::from_le_bytes).map_err(|_| Error::Length { frame, length: body.len() })
}

/// A body that is nothing but numbers.
fn numbers<const N: usize>(body: &[u8]) -> Option<[u64; N]> {
    let (numbers, rest) = body.as_chunks::<8>();
    let numbers = <&[[u8; 8]; N]>::try_from(numbers).ok().filter(|_| rest.is_empty())?;
    Some(numbers.map(u64::from_le_bytes))
}

fn read_welcome(body: &[u8]) -> Result<Welcome, Error> {
    let wrong = Error::Length { frame: "welcome", length: body.len() };
    let Some((start, rest)) = body.split_first_chunk::<8>() else { return Err(wrong) };
    let Some([run, acknowledged, numbering, position]) = numbers(rest) else { return Err(wrong) };
    let [version, flags, _, _, max @ ..] = start;
    Ok(Welcome {
        version: *version,
        packs: flags & PACKED != 0,
        payload_bytes_max: u32::from_le_bytes(*max),
        run,
        acknowledged,
        reached: Reached { numbering, position },
    })
}

fn read_batch(body: &[u8], flags: u8, payload_bytes_max: usize) -> Result<Batch<'_>, Error> {
    let wrong = Error::Length { frame: "batch", length: body.len() };
    let Some((sequence, rest)) = body.split_first_chunk::<8>() else { return Err(wrong) };
    let Some((position, rest)) = rest.split_first_chunk::<8>() else { return Err(wrong) };
    let Some((messages, rest)) = rest.split_first_chunk::<4>() else { return Err(wrong) };
    let Some((plain, payload)) = rest.split_first_chunk::<4>() else { return Err(wrong) };
    let batch = Batch {
        sequence: u64::from_le_bytes(*sequence),
        position: u64::from_le_bytes(*position),
        messages: u32::from_le_bytes(*messages),
        plain: u32::from_le_bytes(*plain),
        packed: flags & PACKED != 0,
        payload,
    };
    let plain = batch.plain as usize;
    if plain > payload_bytes_max {
        return Err(Error::TooLarge { length: plain, max: payload_bytes_max });
    }
    let fits = (batch.messages as usize).saturating_mul(4) <= plain;
    if !fits || (!batch.packed && payload.len() != plain) {
        return Err(Error::Sum);
    }
    Ok(batch)
}

/// Hands out where the messages of a payload in the clear lie; `base` is where the payload begins in the text
/// the spans are of. Nothing is handed out of a payload that does not add up.
pub fn messages(payload: &[u8], count: u32, base: usize, mut sink: impl FnMut(Span)) -> Result<(), Error> {
    let table = (count as usize).saturating_mul(4);
    let (table, bytes) = payload.split_at_checked(table).ok_or(Error::Sum)?;
    let (lengths, _) = table.as_chunks::<4>();
    let sum: u64 = lengths.iter().map(|length| u64::from(u32::from_le_bytes(*length))).sum();
    if sum != bytes.len() as u64 {
        return Err(Error::Sum);
    }
    let mut at = base + table.len();
    for length in lengths {
        let length = u32::from_le_bytes(*length) as usize;
        sink(Span::new(at, length));
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
