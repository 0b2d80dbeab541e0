//! RELP, the Reliable Event Logging Protocol: frames of both directions, and what is said in them beside
//! messages.
//!
//! A frame is `TXNR COMMAND DATALEN[ DATA]LF`; the peer answers every one with an `rsp` of the same TXNR,
//! numbers go on by one and begin again at 1. A session begins with `open`, each `syslog` holds one message,
//! `close` ends it.

mod offers;
mod write;

pub use offers::{Offers, SOFTWARE};
use record::Span;
use std::fmt;
pub use write::{accept, close, frame, message, open, refuse, response, serverclose};

/// The largest transaction number; 1 follows.
pub const TXNR_MAX: u32 = 999_999_999;
/// Bytes of the data of a frame that is no message.
pub const DATA_BYTES_MAX: usize = 32 * 1024;
/// Letters of a command.
const COMMAND_BYTES_MAX: usize = 32;
/// Digits of a number.
const DIGITS_MAX: usize = 9;
/// The longest beginning of a frame, up to its data.
const HEAD_BYTES_MAX: usize = DIGITS_MAX + 1 + COMMAND_BYTES_MAX + 1 + DIGITS_MAX + 1;

/// The number after `txnr`.
pub fn next(txnr: u32) -> u32 {
    if txnr >= TXNR_MAX { 1 } else { txnr + 1 }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Open,
    Close,
    /// The server wants no more: a hint with number 0 that has no answer.
    ServerClose,
    Syslog,
    Rsp,
    /// One this side does not know.
    Other,
}

impl Command {
    fn named(name: &[u8]) -> Command {
        match name {
            b"syslog" => Command::Syslog,
            b"rsp" => Command::Rsp,
            b"open" => Command::Open,
            b"close" => Command::Close,
            b"serverclose" => Command::ServerClose,
            _ => Command::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub txnr: u32,
    pub command: Command,
    pub data: Span,
}

/// What the peer did wrong; the connection cannot be followed further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Where a frame was due stands something else: the bytes found there.
    BadHead(Vec<u8>),
    /// The data does not end where it was said to.
    BadEnd(u8),
    /// The data of a frame that is no message is longer than [`DATA_BYTES_MAX`].
    TooLong(usize),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::BadHead(found) => {
                write!(f, "expected a RELP frame, found \"{}\"", found.escape_ascii())
            }
            FrameError::BadEnd(found) => {
                write!(
                    f,
                    "a RELP frame is longer than it says: found \"{}\" at its end",
                    found.escape_ascii()
                )
            }
            FrameError::TooLong(length) => {
                write!(
                    f,
                    "a RELP frame that is no message has {length} bytes, at most {DATA_BYTES_MAX} are taken"
                )
            }
        }
    }
}

impl std::error::Error for FrameError {}

/// Cuts what one side of a session sends into frames. The result never depends on how the bytes were split
/// into reads.
#[derive(Clone, Debug)]
pub struct Reader {
    message_bytes_max: usize,
    /// Bytes to be thrown away before the end of the frame that is open: the rest of a message that was cut.
    skip: Option<usize>,
    truncated: u64,
}

/// The beginning of a frame.
struct Head {
    txnr: u32,
    command: Command,
    length: usize,
    /// Bytes up to the data, or up to the LF of a frame without.
    bytes: usize,
}

impl Reader {
    /// Messages longer than `message_bytes_max` are cut.
    pub fn new(message_bytes_max: usize) -> Reader {
        Reader { message_bytes_max: message_bytes_max.max(1), skip: None, truncated: 0 }
    }

    /// Messages cut since the last call.
    pub fn take_truncated(&mut self) -> u64 {
        std::mem::take(&mut self.truncated)
    }

    /// The longest tail [`Reader::scan`] can leave is shorter than this.
    pub fn tail_max(&self) -> usize {
        self.message_bytes_max.max(DATA_BYTES_MAX) + HEAD_BYTES_MAX + 1
    }

    /// Hands out the complete frames of `text`. Returns where the unfinished tail begins; the next text has
    /// to begin with it. After an error the connection has to be closed; frames handed out before it are
    /// good.
    pub fn scan(&mut self, text: &[u8], mut sink: impl FnMut(Frame)) -> Result<usize, FrameError> {
        let mut at = 0;
        loop {
            if let Some(left) = self.skip {
                let here = left.min(text.len() - at);
                at += here;
                self.skip = Some(left - here);
                let Some(&end) = text.get(at) else { return Ok(at) };
                if end != b'\n' {
                    return Err(FrameError::BadEnd(end));
                }
                self.skip = None;
                at += 1;
            }
            let Some(head) = head(text.get(at..).unwrap_or_default())? else { return Ok(at) };
            let is_message = head.command == Command::Syslog;
            if !is_message && head.length > DATA_BYTES_MAX {
                return Err(FrameError::TooLong(head.length));
            }
            let size = if is_message { head.length.min(self.message_bytes_max) } else { head.length };
            let data = at + head.bytes;
            let frame = Frame { txnr: head.txnr, command: head.command, data: Span::new(data, size) };
            if size < head.length {
                if text.len() < data + size {
                    return Ok(at);
                }
                self.truncated += 1;
                self.skip = Some(head.length - size);
                sink(frame);
                at = data + size;
                continue;
            }
            match text.get(data + size) {
                None => return Ok(at),
                Some(b'\n') => sink(frame),
                Some(other) => return Err(FrameError::BadEnd(*other)),
            }
            at = data + size + 1;
        }
    }
}

/// The beginning of the frame at the start of `text`; `None` when more bytes are needed.
fn head(text: &[u8]) -> Result<Option<Head>, FrameError> {
    let wrong = |at: usize| FrameError::BadHead(text.get(..=at).unwrap_or(text).to_vec());
    let Some((txnr, digits)) = number(text).map_err(wrong)? else { return Ok(None) };
    if text.get(digits).is_some_and(|b| *b != b' ') {
        return Err(wrong(digits));
    }
    let name = digits + 1;
    let rest = text.get(name..).unwrap_or_default();
    let letters = rest.iter().take(COMMAND_BYTES_MAX + 1).take_while(|b| b.is_ascii_alphabetic()).count();
    match rest.get(letters) {
        None if letters <= COMMAND_BYTES_MAX => return Ok(None),
        Some(b' ') if (1..=COMMAND_BYTES_MAX).contains(&letters) => {}
        _ => return Err(wrong(name + letters.min(COMMAND_BYTES_MAX))),
    }
    let command = Command::named(rest.get(..letters).unwrap_or_default());
    let count = name + letters + 1;
    let found = number(text.get(count..).unwrap_or_default()).map_err(|at| wrong(count + at))?;
    let Some((length, digits)) = found else { return Ok(None) };
    let end = count + digits;
    let head = |bytes| Ok(Some(Head { txnr, command, length: length as usize, bytes }));
    match text.get(end) {
        None => Ok(None),
        Some(b' ') => head(end + 1),
        Some(b'\n') if length == 0 => head(end),
        Some(_) => Err(wrong(end)),
    }
}

/// A number and its digits, when something stands behind it. The error is where it ceases to be one.
fn number(text: &[u8]) -> Result<Option<(u32, usize)>, usize> {
    let mut value = 0u32;
    for (at, byte) in text.iter().enumerate().take(DIGITS_MAX + 1) {
        match byte {
            b'0'..=b'9' if at < DIGITS_MAX => value = value * 10 + u32::from(byte - b'0'),
            _ if at > 0 && !byte.is_ascii_digit() => return Ok(Some((value, at))),
            _ => return Err(at),
        }
    }
    Ok(None)
}

/// What an `rsp` says: its code, the words behind it, and what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// 200 is yes.
    pub code: u16,
    pub words: &'a [u8],
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    /// `None` when it is not one. One without a word, as the answer to `close` may be, has code 200.
    pub fn parse(data: &'a [u8]) -> Option<Response<'a>> {
        if data.is_empty() {
            return Some(Response { code: 200, words: data, data });
        }
        let line = data.split(|b| *b == b'\n').next()?;
        let code = line.get(..3)?.iter().try_fold(0u16, |code, digit| {
            digit.is_ascii_digit().then(|| code * 10 + u16::from(digit - b'0'))
        })?;
        let words = match line.get(3..) {
            Some([b' ', words @ ..]) => words,
            Some([]) => &[],
            _ => return None,
        };
        Some(Response { code, words, data: data.get(line.len() + 1..).unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests;
