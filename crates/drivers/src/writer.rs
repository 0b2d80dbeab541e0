//! How a writer destination makes lines of messages: its template or default layout, and the options that shape the result.

use engine::Chunk;
use engine::program::Scratch;
use record::Batch;
use std::sync::Arc;
use template::Template;

/// Output framing of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelope {
    /// As the template made it.
    #[default]
    Plain,
    /// RFC 6587 octet counting.
    OctetCounting,
}

pub struct Writer {
    pub template: Arc<Template>,
    pub envelope: Envelope,
    /// `flags(no-multi-line)`: line ends inside become blanks.
    pub no_multi_line: bool,
    /// Bytes every message is filled up to with NULs, from the newline's place on; 0 is off.
    pub pad_size: usize,
    /// Bytes after which a message is cut; 0 is off.
    pub truncate_size: usize,
}

impl Writer {
    pub fn new(template: Arc<Template>) -> Writer {
        Writer { template, envelope: Envelope::Plain, no_multi_line: false, pad_size: 0, truncate_size: 0 }
    }

    /// Appends the selected messages to a chunk.
    pub fn write(&self, batch: &Batch, selection: &[u32], scratch: &mut Scratch, chunk: &mut Chunk) {
        if self.is_plain() {
            let render = scratch.render();
            self.template.render_selection(batch, selection, render, &mut chunk.bytes, &mut chunk.ends);
            return;
        }
        for index in selection {
            let start = chunk.bytes.len();
            let one = std::slice::from_ref(index);
            let ends = chunk.ends.len();
            self.template.render_selection(batch, one, scratch.render(), &mut chunk.bytes, &mut chunk.ends);
            chunk.ends.truncate(ends);
            self.shape(&mut chunk.bytes, start);
            chunk.ends.push(chunk.bytes.len() as u32);
        }
    }

    fn is_plain(&self) -> bool {
        self.envelope == Envelope::Plain && !self.no_multi_line && self.pad_size == 0 && self.truncate_size == 0
    }

    /// Applies the options to the message that begins at `start`.
    fn shape(&self, bytes: &mut Vec<u8>, start: usize) {
        if self.no_multi_line
            && let Some(message) = bytes.get_mut(start..)
            && let Some((_, inner)) = message.split_last_mut()
        {
            for byte in inner.iter_mut().filter(|b| matches!(**b, b'\n' | b'\r')) {
                *byte = b' ';
            }
        }
        if self.truncate_size > 0 {
            bytes.truncate(start + self.truncate_size.min(bytes.len() - start));
        }
        if self.pad_size > 0 {
            let length = bytes.len() - start;
            if length > self.pad_size {
                oplog::limited(
                    "pad-size",
                    oplog::Level::Warning,
                    "Padding is set too small to hold complete message",
                    &[("padding", &self.pad_size), ("msg_size", &length)],
                );
                bytes.truncate(start + self.pad_size);
            } else {
                if bytes.last() == Some(&b'\n') {
                    bytes.pop();
                }
                bytes.resize(start + self.pad_size, 0);
            }
        }
        if self.envelope == Envelope::OctetCounting {
            wire::octet::enclose(bytes, start);
        }
    }
}
