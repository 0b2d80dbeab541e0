//! One open file: read from where the last reader was, cut into messages, watched for truncation. Knows no
//! workers and no paths.

use super::encoded::Encoded;
use super::identity::{Head, Position};
use super::seam::{Before, Got, Seam};
use crate::cut::{Cutter, decoded};
use crate::multi_line::Mode;
use conf_schema::Encoding;
use record::Span;
use std::fs::File;
use std::io;
use std::sync::Arc;
use wire::{FramerOptions, Framing};

/// How a file's bytes become messages.
#[derive(Clone)]
pub struct TailOptions {
    pub framing: FramerOptions,
    pub multi_line: Option<Mode>,
    pub encoding: Option<Encoding>,
}

/// Where to begin in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    Start,
    /// `read-old-records(no)`
    End,
    /// Where an earlier reader was, if it is still the same file; otherwise at the start.
    At(Position),
}

/// What reading once comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many bytes.
    Read(usize),
    /// Nothing more is there now.
    End,
    /// The file was truncated or written anew: to be followed by [`Tail::restart`].
    Anew,
}

pub struct Tail {
    file: File,
    options: Arc<TailOptions>,
    head: Head,
    seam: Seam,
    /// Where the next read begins.
    offset: u64,
    /// The largest size it was seen to have since its beginning was read.
    size_seen: u64,
    cutter: Cutter,
    encoded: Option<Box<Encoded>>,
    /// The text of the message that is not complete.
    kept: Vec<u8>,
}

impl Tail {
    pub fn new(file: File, begin: Begin, options: &Arc<TailOptions>) -> io::Result<Tail> {
        let offset = match begin {
            Begin::Start => 0,
            Begin::End => file.metadata()?.len(),
            Begin::At(position) if position.is_in(&file)? => position.offset,
            Begin::At(_) => 0,
        };
        let (cutter, mut encoded) = cutter(options);
        let mut head = Head::default();
        // What begins at the start is read there anyway.
        if offset > 0 {
            head.check(&file)?;
            if let Some(encoded) = &mut encoded {
                encoded.resume(&file)?;
            }
        }
        let options = Arc::clone(options);
        let (seam, kept) = (Seam::default(), Vec::new());
        Ok(Tail { file, options, head, seam, offset, size_seen: offset, cutter, encoded, kept })
    }

    /// Whether the file begins otherwise than it did when it was read; then [`Tail::restart`]. To be asked
    /// now and then, and before a turn of reading where not all of the beginning is known: [`Tail::read`]
    /// asks itself whether what it read before is still there.
    pub fn is_rewritten(&mut self) -> io::Result<bool> {
        // What was not read yet need not be asked whether it is still the same.
        let is_untouched = self.offset == 0 && self.head.is_empty();
        Ok(!is_untouched && !self.head.check(&self.file)?)
    }

    pub fn knows_beginning(&self) -> bool {
        self.head.is_complete(self.offset)
    }

    /// Whether the file ends before the place up to which it was read; then [`Tail::restart`].
    pub fn is_shorter(&mut self) -> io::Result<bool> {
        let size = self.file.metadata()?.len();
        if size < self.offset {
            return Ok(true);
        }
        self.size_seen = self.size_seen.max(size);
        Ok(false)
    }

    /// When it was truncated or written anew: the bytes that were there and were not read, as far as they
    /// were seen.
    pub fn lost(&self) -> u64 {
        self.size_seen.saturating_sub(self.offset)
    }

    /// Begins at the start, after [`Tail::finish`].
    pub fn restart(&mut self) -> io::Result<()> {
        (self.cutter, self.encoded) = cutter(&self.options);
        self.kept.clear();
        self.offset = 0;
        self.head.clear();
        self.seam = Seam::default();
        self.size_seen = self.file.metadata()?.len();
        Ok(())
    }

    /// Reads once, up to `max` bytes, into an empty `text`, and hands out the complete messages in it.
    pub fn read(&mut self, text: &mut Vec<u8>, max: usize, sink: impl FnMut(Span)) -> io::Result<Step> {
        let is_front = self.offset == 0 && self.head.is_empty();
        let is_start = (self.encoded.as_ref())
            .is_some_and(|encoded| self.offset == encoded.behind() as u64 && encoded.is_unread());
        let raw = match &mut self.encoded {
            Some(encoded) => encoded.buffer(),
            None => {
                text.extend_from_slice(&self.kept);
                &mut *text
            }
        };
        let before = raw.len();
        let got = self.seam.read(&self.file, raw, max, self.offset)?;
        if is_front {
            self.head.adopt(raw.get(before..).unwrap_or_default());
        }
        let step = self.judge(got)?;
        let Step::Read(read) = step else {
            // What a new file begins with is no part of what the old one had unfinished.
            if let Some(encoded) = &mut self.encoded {
                encoded.buffer().truncate(before);
            }
            return Ok(step);
        };
        if let Some(encoded) = &mut self.encoded {
            text.extend_from_slice(&self.kept);
            encoded.decode(text, is_start);
        }
        self.offset += read as u64;
        self.size_seen = self.size_seen.max(self.offset);
        // What is there and not read yet would be lost to a truncation.
        if is_front && read >= max {
            self.size_seen = self.size_seen.max(self.file.metadata()?.len());
        }
        let consumed = self.cutter.scan(text, sink);
        self.kept.clear();
        self.kept.extend_from_slice(text.get(consumed..).unwrap_or_default());
        if let Some(encoded) = &mut self.encoded {
            encoded.consumed(consumed);
        }
        Ok(Step::Read(read))
    }

    /// What a read means. Bytes that are others than before are a new file's where the beginning is another
    /// one too; otherwise somebody has written over them, and reading goes on.
    fn judge(&mut self, got: Got) -> io::Result<Step> {
        let is_anew = match got.before {
            _ if self.offset == 0 => false,
            Before::Gone => true,
            Before::Same => false,
            Before::Changed => self.is_rewritten()?,
            // This reader goes on where another one was and has read nothing yet.
            Before::Unknown => self.is_rewritten()? || got.bytes == 0 && self.is_shorter()?,
        };
        Ok(match got.bytes {
            _ if is_anew => Step::Anew,
            0 => Step::End,
            bytes => Step::Read(bytes),
        })
    }

    /// The bytes of the unfinished message in `text`, which is empty, are a message.
    pub fn finish(&mut self, text: &mut Vec<u8>, sink: impl FnMut(Span)) {
        text.extend_from_slice(&self.kept);
        self.kept.clear();
        if let Some(encoded) = &mut self.encoded {
            encoded.decode_rest(text);
            encoded.consumed(text.len());
        }
        self.cutter.finish(text, sink);
    }

    /// Whether [`Tail::finish`] would bring anything.
    pub fn has_rest(&self) -> bool {
        !self.kept.is_empty() || self.encoded.as_deref().is_some_and(Encoded::has_rest)
    }

    /// Where the first message that was not handed out begins.
    pub fn position(&self) -> Position {
        let behind = self.encoded.as_deref().map_or(self.kept.len(), Encoded::behind);
        Position::new(self.offset.saturating_sub(behind as u64), &self.head)
    }

    /// Reads from what the next read will need.
    pub fn approach(&self) -> u64 {
        self.offset + u64::from(self.kept.first().copied().unwrap_or_default())
    }

    pub fn take_truncated(&mut self) -> u64 {
        self.cutter.take_truncated()
    }
}

pub(super) fn cutter(options: &TailOptions) -> (Cutter, Option<Box<Encoded>>) {
    let TailOptions { framing, multi_line, encoding } = options;
    let encoded = encoding.map(|encoding| {
        let record = match framing.framing {
            Framing::Records(size) => Some(size as usize),
            _ => None,
        };
        Box::new(Encoded::new(encoding, record, framing.log_msg_size))
    });
    let framing = if encoded.is_some() { decoded(*framing) } else { *framing };
    (Cutter::new(framing, multi_line.as_ref()), encoded)
}

#[cfg(test)]
mod tests;
