//! Cuts what a connection delivers into frames. The result never depends on how the bytes were split into
//! reads.
//!
//! [`Framer::scan`] works on one contiguous buffer: it hands out the complete frames as spans and says where
//! the unfinished tail begins. The caller puts the tail at the front of the next buffer and calls again;
//! bytes already searched are not searched twice.

use memchr::{memchr, memchr2};
use record::Span;
use std::fmt;

/// How messages are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Lines; a NUL ends a line too, as in syslog-ng's `transport(tcp)`.
    #[default]
    Lines,
    /// Lines that may hold NULs: `transport(text-with-nuls)`.
    LinesWithNuls,
    /// Records that end with NUL and may hold newlines.
    NulTerminated,
    /// RFC 6587 section 3.4.1: a decimal length, a blank, that many bytes.
    OctetCounting,
    /// Decided by the first bytes of the connection: digits and a blank mean octet counting, anything else
    /// lines.
    Auto,
    /// Records of so many bytes, at least one: `pad-size()`. The message ends at the first newline or NUL of
    /// its record.
    Records(u32),
    /// Records of so many bytes, at least one, each of them whole.
    Blocks(u32),
    /// Every buffer is one message.
    Datagram,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramerOptions {
    pub framing: Framing,
    /// Bytes of the longest message.
    pub log_msg_size: usize,
    /// Keep empty messages: `flags(empty-lines)`.
    pub empty_lines: bool,
    /// Cut a message that is too long and drop its rest, where its length comes before it:
    /// `trim-large-messages(yes)`. Lines are split as without it, as in syslog-ng (golden case
    /// parse/long-lines-trim).
    pub trim_large_messages: bool,
    /// What comes is UTF-8, whatever encoding() it had: where a message is too long, no character is cut
    /// apart.
    pub is_text: bool,
}

impl FramerOptions {
    /// How many bytes are cut off a message that begins at `at` and is too long.
    pub fn piece(&self, text: &[u8], at: usize) -> usize {
        let limit = self.log_msg_size.max(1);
        let is_inside = |end: &usize| text.get(at + end).is_some_and(|byte| byte & 0xc0 == 0x80);
        let shortest = if self.is_text { limit.saturating_sub(3) } else { limit };
        (shortest..=limit).rev().find(|end| !is_inside(end)).filter(|end| *end > 0).unwrap_or(limit)
    }

    /// What they say, in bytes that mean the same in every version of the program that knows the number at
    /// the front (docs/restart.md): processes that take over from each other compare them.
    pub fn described(&self) -> String {
        let framing = match self.framing {
            Framing::Lines => "lines".to_owned(),
            Framing::LinesWithNuls => "lines-with-nuls".to_owned(),
            Framing::NulTerminated => "nul-terminated".to_owned(),
            Framing::OctetCounting => "octet-counting".to_owned(),
            Framing::Auto => "auto".to_owned(),
            Framing::Records(size) => format!("records-{size}"),
            Framing::Blocks(size) => format!("blocks-{size}"),
            Framing::Datagram => "datagram".to_owned(),
        };
        let [empty, trim] = [self.empty_lines, self.trim_large_messages].map(u8::from);
        format!("1 {framing} {} {empty} {trim}", self.log_msg_size)
    }
}

impl Default for FramerOptions {
    fn default() -> FramerOptions {
        FramerOptions {
            framing: Framing::Lines,
            log_msg_size: 65_536,
            empty_lines: false,
            trim_large_messages: false,
            is_text: false,
        }
    }
}

/// Digits an octet count may have.
const COUNT_DIGITS_MAX: usize = 10;

/// What the peer did wrong; the connection cannot be followed further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// Where an octet count was due stands something else: the bytes found there.
    BadCount(Vec<u8>),
    /// The octet count announces more than log-msg-size() allows.
    TooLong { count: u64, log_msg_size: usize },
    /// The stream ended inside a frame.
    Unfinished { waiting: usize },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FrameError::BadCount(found) => {
                write!(f, "expected an octet count and a blank, found \"{}\"", found.escape_ascii())
            }
            FrameError::TooLong { count, log_msg_size } => {
                write!(f, "octet count {count} is larger than log-msg-size({log_msg_size})")
            }
            FrameError::Unfinished { waiting } => {
                write!(f, "the stream ended inside a frame, {waiting} bytes of it dropped")
            }
        }
    }
}

impl std::error::Error for FrameError {}

/// The framing state of one connection.
#[derive(Clone, Debug)]
pub struct Framer {
    options: FramerOptions,
    /// As in the options, but once `Auto` has decided, what it decided.
    framing: Framing,
    /// Bytes of the tail that are known to hold no end of line. `scanned <= tail length`.
    scanned: usize,
    /// Bytes of the rest of a message that was cut: thrown away before the next frame.
    skip: u64,
    truncated: u64,
    /// Frames that may still be handed out: see [`Framer::scan_some`].
    left: usize,
}

impl Framer {
    pub fn new(options: FramerOptions) -> Framer {
        let options = FramerOptions { log_msg_size: options.log_msg_size.max(1), ..options };
        Framer { options, framing: options.framing, scanned: 0, skip: 0, truncated: 0, left: usize::MAX }
    }

    /// How frames are told apart; `Auto` until the first bytes have decided.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// What comes next is the rest of a message that was too long, and will be thrown away.
    pub fn is_skipping(&self) -> bool {
        self.skip > 0
    }

    /// The longest tail [`Framer::scan`] can leave is shorter than this: a buffer with this much room always
    /// makes progress.
    pub fn tail_max(&self) -> usize {
        let record = match self.framing {
            Framing::Records(size) | Framing::Blocks(size) => size as usize,
            _ => 0,
        };
        self.options.log_msg_size.max(record) + COUNT_DIGITS_MAX + 2
    }

    /// Messages cut or split because they were longer than log-msg-size(), since the last call.
    pub fn take_truncated(&mut self) -> u64 {
        std::mem::take(&mut self.truncated)
    }

    /// As [`Framer::scan`], but goes on only while it has looked at fewer than `max` frames (a line without
    /// text counts too, and of a line that is split all pieces come). [`Framer::is_held`] says that there may
    /// be more in what is left.
    pub fn scan_some(
        &mut self,
        text: &[u8],
        start: usize,
        max: usize,
        sink: impl FnMut(Span),
    ) -> Result<usize, FrameError> {
        self.left = max;
        let outcome = self.scan_left(text, start, sink);
        if self.left > 0 {
            self.left = usize::MAX;
        }
        outcome
    }

    /// The last [`Framer::scan_some`] was stopped by its limit.
    pub fn is_held(&self) -> bool {
        self.left == 0
    }

    /// Hands out the complete frames of `text[start..]`. Returns where the tail begins; the next call's
    /// `text[start..]` has to begin with that tail. After an error the connection has to be closed; frames
    /// handed out before it are good.
    #[inline]
    pub fn scan(&mut self, text: &[u8], start: usize, sink: impl FnMut(Span)) -> Result<usize, FrameError> {
        self.left = usize::MAX;
        self.scan_left(text, start, sink)
    }

    #[inline]
    fn scan_left(
        &mut self,
        text: &[u8],
        start: usize,
        mut sink: impl FnMut(Span),
    ) -> Result<usize, FrameError> {
        let start = start.min(text.len());
        if self.framing == Framing::Auto {
            match detect(text.get(start..).unwrap_or_default()) {
                Some(framing) => self.framing = framing,
                None => return Ok(start),
            }
        }
        match self.framing {
            Framing::Lines => Ok(self.lines(text, start, |t| memchr2(b'\n', 0, t), &mut sink)),
            Framing::LinesWithNuls => Ok(self.lines(text, start, |t| memchr(b'\n', t), &mut sink)),
            Framing::NulTerminated => Ok(self.lines(text, start, |t| memchr(0, t), &mut sink)),
            Framing::OctetCounting | Framing::Auto => self.counted(text, start, &mut sink),
            Framing::Records(size) => Ok(self.records(text, start, size.max(1) as usize, &mut sink)),
            Framing::Blocks(size) => Ok(self.blocks(text, start, size.max(1) as usize, &mut sink)),
            Framing::Datagram => {
                self.datagram(text, start, &mut sink);
                Ok(text.len())
            }
        }
    }

    /// The stream has ended: hands out the last line when it has no end. `text[start..]` is the tail the last
    /// scan left.
    pub fn finish(
        &mut self,
        text: &[u8],
        start: usize,
        mut sink: impl FnMut(Span),
    ) -> Result<(), FrameError> {
        let waiting = text.len().saturating_sub(start);
        self.scanned = 0;
        // The rest of a message that was cut: counted when it was handed out.
        if std::mem::take(&mut self.skip) > 0 {
            return Ok(());
        }
        match self.framing {
            Framing::Datagram => Ok(()),
            Framing::OctetCounting | Framing::Records(_) | Framing::Blocks(_) => match waiting {
                0 => Ok(()),
                _ => Err(FrameError::Unfinished { waiting }),
            },
            // Only digits so far: a line after all.
            Framing::Lines | Framing::LinesWithNuls | Framing::NulTerminated | Framing::Auto => {
                if waiting > 0 {
                    self.emit(text, start, text.len(), &mut sink);
                }
                Ok(())
            }
        }
    }

    #[inline(always)]
    fn lines(
        &mut self,
        text: &[u8],
        start: usize,
        search: impl Fn(&[u8]) -> Option<usize>,
        sink: &mut impl FnMut(Span),
    ) -> usize {
        let limit = self.options.log_msg_size;
        let mut at = start;
        let mut from = start.saturating_add(std::mem::take(&mut self.scanned)).min(text.len());
        while let Some(end) = text.get(from..).and_then(&search).map(|found| from + found) {
            if self.left == 0 {
                return at;
            }
            self.left -= 1;
            if end - at > limit {
                at = self.split(text, at, end, sink);
            }
            self.emit(text, at, end, sink);
            at = end + 1;
            from = at;
        }
        if self.left == 0 {
            return at;
        }
        if text.len().saturating_sub(at) > limit {
            at = self.split(text, at, text.len(), sink);
        }
        self.scanned = text.len().saturating_sub(at);
        at
    }

    /// `at..end` holds no end of line and is longer than the limit: hands out full pieces until the rest
    /// fits. Returns where the rest begins.
    #[cold]
    fn split(&mut self, text: &[u8], mut at: usize, end: usize, sink: &mut impl FnMut(Span)) -> usize {
        let limit = self.options.log_msg_size;
        while end - at > limit {
            let piece = self.options.piece(text, at);
            self.truncated += 1;
            self.left = self.left.saturating_sub(1);
            sink(Span::new(at, piece));
            at += piece;
        }
        at
    }

    /// One line without its end.
    #[inline(always)]
    fn emit(&mut self, text: &[u8], at: usize, end: usize, sink: &mut impl FnMut(Span)) {
        let end = trimmed(text, at, end);
        if end > at || self.options.empty_lines {
            sink(Span::between(at, end));
        }
    }

    #[inline(always)]
    fn counted(
        &mut self,
        text: &[u8],
        start: usize,
        sink: &mut impl FnMut(Span),
    ) -> Result<usize, FrameError> {
        let limit = self.options.log_msg_size;
        let mut at = start;
        loop {
            let here = self.skip.min((text.len() - at) as u64);
            at += here as usize;
            self.skip -= here;
            if self.skip > 0 {
                return Ok(at);
            }
            let Some((count, digits)) = count(text.get(at..).unwrap_or_default())? else { return Ok(at) };
            let body = at + digits + 1;
            let mut size = count as usize;
            if count > limit as u64 {
                if !self.options.trim_large_messages {
                    return Err(FrameError::TooLong { count, log_msg_size: limit });
                }
                size = limit;
            }
            if text.len() - body < size || self.left == 0 {
                return Ok(at);
            }
            self.left -= 1;
            if count > limit as u64 {
                self.truncated += 1;
                self.skip = count - limit as u64;
            }
            if size > 0 || self.options.empty_lines {
                sink(Span::new(body, size));
            }
            at = body + size;
        }
    }

    fn records(&mut self, text: &[u8], start: usize, size: usize, sink: &mut impl FnMut(Span)) -> usize {
        let mut at = start;
        while let Some(record) = text.get(at..at.saturating_add(size)) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let mut length = memchr2(b'\n', 0, record).unwrap_or(size);
            if length > self.options.log_msg_size {
                length = self.options.piece(record, 0);
                self.truncated += 1;
            }
            self.emit(text, at, at + length, sink);
            at += size;
        }
        at
    }

    fn blocks(&mut self, text: &[u8], start: usize, size: usize, sink: &mut impl FnMut(Span)) -> usize {
        let mut at = start;
        while self.left > 0 && text.len().saturating_sub(at) >= size {
            self.left -= 1;
            sink(Span::between(at, at + size));
            at += size;
        }
        at
    }

    fn datagram(&mut self, text: &[u8], start: usize, sink: &mut impl FnMut(Span)) {
        let mut end = text.len();
        if end.saturating_sub(start) > self.options.log_msg_size {
            // The end of line a sender adds does not make a message too long.
            end = trimmed(text, start, end);
            if end - start > self.options.log_msg_size {
                end = start + self.options.piece(text, start);
                self.truncated += 1;
            }
        }
        self.emit(text, start, end, sink);
    }
}

/// Where `at..end` ends without the newlines, carriage returns and NULs at its end.
#[inline(always)]
pub(crate) fn trimmed(text: &[u8], at: usize, mut end: usize) -> usize {
    while end > at && matches!(text.get(end - 1), Some(b'\r' | b'\n' | 0)) {
        end -= 1;
    }
    end
}

/// What `Auto` means for a connection that begins so; `None` when that is not clear yet.
pub fn detect(text: &[u8]) -> Option<Framing> {
    let digits = text.iter().take(COUNT_DIGITS_MAX + 1).take_while(|b| b.is_ascii_digit()).count();
    match text.get(digits) {
        _ if digits > COUNT_DIGITS_MAX => Some(Framing::Lines),
        Some(b' ') if digits > 0 => Some(Framing::OctetCounting),
        Some(_) => Some(Framing::Lines),
        None => None,
    }
}

/// The octet count at the start of `text` and its digits; `None` when more bytes are needed.
#[inline(always)]
fn count(text: &[u8]) -> Result<Option<(u64, usize)>, FrameError> {
    let mut value = 0u64;
    for (digits, byte) in text.iter().enumerate().take(COUNT_DIGITS_MAX + 1) {
        match byte {
            b'0'..=b'9' if digits < COUNT_DIGITS_MAX => value = value * 10 + u64::from(byte - b'0'),
            b' ' if digits > 0 => return Ok(Some((value, digits))),
            _ => return Err(bad_count(text, digits)),
        }
    }
    Ok(None)
}

#[cold]
fn bad_count(text: &[u8], digits: usize) -> FrameError {
    FrameError::BadCount(text.get(..=digits).unwrap_or(text).to_vec())
}

#[cfg(test)]
mod tests;
