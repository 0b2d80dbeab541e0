//! Options that change a line after its template made it: pad-size(), truncate-size(), flags(no-multi-line),
//! octet counting.

use super::Writer;
use engine::{Chunk, Form};

/// Output framing of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelope {
    /// As the template made it: a line.
    #[default]
    Plain,
    /// The same of a text: none of another form gets a line end in front of its neighbour.
    Text,
    /// RFC 6587 octet counting.
    OctetCounting,
    /// Behind the address of its sender when that is of this family; such messages are cut at `bytes_max`.
    Sender { ipv6: bool, bytes_max: usize },
}

pub const PLAIN: Form =
    Form { name: "plain", bare: Form::whole, put: put_plain, again: Form::whole, shows_bare: false };
/// A message between others that are told apart by what is put between them when they leave.
pub const TEXT: Form = Form { name: "text", put: |out, message| out.extend_from_slice(message), ..PLAIN };
const COUNTED: Form = Form { name: "octet counting", bare: without_count, put: wire::octet::append, ..PLAIN };
const WITH_SENDER: Form = Form {
    name: "spoof-source",
    bare: |message| super::sender::take(message).1,
    put: super::sender::put_unknown,
    again: Form::whole,
    shows_bare: true,
};

impl Envelope {
    /// For what waits when a reload changes it.
    pub fn form(self) -> Form {
        match self {
            Envelope::Plain => PLAIN,
            Envelope::Text => TEXT,
            Envelope::OctetCounting => COUNTED,
            Envelope::Sender { .. } => WITH_SENDER,
        }
    }
}

/// A line ends with its line feed, whatever the form was in which that was not needed.
fn put_plain(out: &mut Vec<u8>, message: &[u8]) {
    out.extend_from_slice(message);
    if message.last() != Some(&b'\n') {
        out.push(b'\n');
    }
}

fn without_count(frame: &[u8]) -> &[u8] {
    let digits = frame.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match frame.get(digits) {
        Some(b' ') if digits > 0 => frame.get(digits + 1..).unwrap_or_default(),
        _ => frame,
    }
}

/// A batch's lines before they are shaped.
#[derive(Default)]
pub(super) struct Room {
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
}

impl Room {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

impl Writer {
    /// Nothing is put around its messages.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.envelope, Envelope::Plain | Envelope::Text) && self.parts.is_none()
    }

    pub(super) fn is_plain(&self) -> bool {
        self.is_bare() && self.keeps_lines()
    }

    fn keeps_lines(&self) -> bool {
        !self.no_multi_line && self.pad_size == 0 && self.truncate_size == 0
    }

    /// Moves lines into a chunk, shaped; returns how many were cut.
    pub(super) fn shape_all(&self, room: &Room, chunk: &mut Chunk) -> usize {
        chunk.bytes.reserve(room.bytes.len() + room.ends.len() * 5);
        let keeps_lines = self.keeps_lines();
        let mut truncated = 0;
        let mut start = 0;
        for end in &room.ends {
            let line = room.bytes.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            if keeps_lines {
                wire::octet::append(&mut chunk.bytes, line);
            } else {
                let at = chunk.bytes.len();
                chunk.bytes.extend_from_slice(line);
                truncated += usize::from(self.shape(&mut chunk.bytes, at));
                if self.envelope == Envelope::OctetCounting {
                    wire::octet::enclose(&mut chunk.bytes, at);
                }
            }
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        truncated
    }

    /// Applies the options to the message that begins at `start`; returns whether it was cut.
    pub(super) fn shape(&self, bytes: &mut Vec<u8>, start: usize) -> bool {
        let length = bytes.len();
        if self.no_multi_line
            && let Some(message) = bytes.get_mut(start..)
            && let Some((_, inner)) = message.split_last_mut()
        {
            for byte in inner.iter_mut().filter(|b| matches!(**b, b'\n' | b'\r')) {
                *byte = b' ';
            }
        }
        if self.truncate_size > 0 {
            bytes.truncate(start.saturating_add(self.truncate_size));
        }
        if self.pad_size > 0 {
            let filled = start.saturating_add(self.pad_size);
            if bytes.len() > filled {
                oplog::limited(
                    "pad-size",
                    oplog::Level::Warning,
                    "Padding is set too small to hold complete message",
                    &[("padding", &self.pad_size), ("msg_size", &(bytes.len() - start))],
                );
                bytes.truncate(filled);
            } else {
                if bytes.len() > start && bytes.last() == Some(&b'\n') {
                    bytes.pop();
                }
                bytes.resize(filled, 0);
                return false;
            }
        }
        bytes.len() < length
    }
}
