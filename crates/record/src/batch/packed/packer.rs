//! A message to bytes.

use super::{FIELDS, STAMP_TEXT, UNSET, VERSION, fields};
use crate::Span;
use crate::batch::{Batch, Record};
use crate::context::{Context, Peer};
use crate::names::NameId;
use crate::stamp::Stamp;
use crate::value::ValueType;

/// Packs messages, in buffers that are kept: [`Packer::pack`].
#[derive(Default)]
pub struct Packer {
    text: Text,
    seen: Vec<NameId>,
    ends: Ends,
}

/// The addresses of a peer as texts: mostly that of the message before.
#[derive(Default)]
struct Ends {
    peer: Peer,
    texts: [String; 3],
}

impl Ends {
    fn of(&mut self, peer: &Peer) -> &[String; 3] {
        if self.peer != *peer {
            self.peer = peer.clone();
            let ends = match peer {
                Peer::Local => [None; 3],
                Peer::Inet { remote, local, proxy } => [Some(*remote), Some(*local), *proxy],
            };
            self.texts = ends.map(|end| end.map_or_else(String::new, |end| end.to_string()));
        }
        &self.texts
    }
}

/// Collects the text behind the head.
#[derive(Default)]
struct Text {
    frame: Span,
    bytes: Vec<u8>,
}

impl Text {
    fn add(&mut self, bytes: &[u8]) -> Span {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        Span::new(start, bytes.len())
    }

    /// What lies in the frame is there already.
    fn span(&mut self, span: Span, batch: &Batch) -> Span {
        if span.is_empty() {
            return span;
        }
        match span.start.checked_sub(self.frame.start) {
            Some(start) if span.end() <= self.frame.end() => Span { start, len: span.len },
            _ => self.add(batch.bytes(span)),
        }
    }
}

impl Packer {
    /// Appends a message with everything that is known of it. `number`: of the message at its destination, 0
    /// for none.
    pub fn pack(&mut self, batch: &Batch, record: &Record, number: u64, out: &mut Vec<u8>) {
        let Packer { text, seen, ends } = self;
        text.frame = record.frame;
        text.bytes.clear();
        text.bytes.extend_from_slice(batch.bytes(record.frame));
        out.push(VERSION);
        out.extend_from_slice(&number.to_le_bytes());
        put_stamp(batch.received_at(record), out);
        put_stamp(record.stamp, out);
        let stamp_text = match record.stamp_text {
            Record::NO_TEXT => Record::NO_TEXT,
            start => match text.span(Span { start, len: STAMP_TEXT }, batch) {
                Span { len: STAMP_TEXT, start } => start,
                _ => Record::NO_TEXT,
            },
        };
        out.extend_from_slice(&stamp_text.to_le_bytes());
        out.extend_from_slice(&record.pri.to_le_bytes());
        out.extend_from_slice(&record.flags.0.to_le_bytes());
        put_span(Span { start: 0, len: record.frame.len }, out);
        for field in fields(&mut { *record }) {
            put_span(text.span(*field, batch), out);
        }
        out.extend(FIELDS.map(|name| record.types.of(name).number()));
        pack_context(batch.context(record), ends, text, out);
        let count_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let mut count = 0u32;
        seen.clear();
        let mut value = |name: NameId, (span, kind): (Span, u8), text: &mut Text| {
            put_span(text.add(batch.name_of(name).as_bytes()), out);
            out.push(kind);
            put_span(span, out);
            count += 1;
        };
        for entry in batch.list(record.values) {
            if seen.contains(&entry.name) {
                continue;
            }
            seen.push(entry.name);
            let found = entry.kind.map(|kind| (text.span(entry.span, batch), kind.number()));
            value(entry.name, found.unwrap_or((Span::EMPTY, UNSET)), text);
        }
        for (name, bytes) in batch.context(record).map_or(&[][..], |context| &context.values) {
            if !seen.contains(name) {
                let span = text.add(bytes);
                value(*name, (span, ValueType::String.number()), text);
            }
        }
        put_count(count_at, count, out);
        let count_at = out.len();
        out.extend_from_slice(&[0; 4]);
        let mut count = 0u32;
        batch.each_tag(record, |tag| {
            put_span(text.add(batch.tag_name(tag).as_bytes()), out);
            count += 1;
        });
        put_count(count_at, count, out);
        out.extend_from_slice(&text.bytes);
    }
}

/// Says how many items came behind the place for that.
fn put_count(at: usize, count: u32, out: &mut [u8]) {
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&count.to_le_bytes());
    }
}

fn pack_context(context: Option<&Context>, ends: &mut Ends, text: &mut Text, out: &mut Vec<u8>) {
    let Some(context) = context else {
        out.push(0);
        (0..6).for_each(|_| put_span(Span::EMPTY, out));
        return;
    };
    out.push(context.ip_protocol);
    put_span(text.add(context.source.as_bytes()), out);
    put_span(text.add(context.host_from.as_bytes()), out);
    put_span(text.add(context.transport.0.as_bytes()), out);
    for end in ends.of(&context.peer) {
        put_span(text.add(end.as_bytes()), out);
    }
}

fn put_span(span: Span, out: &mut Vec<u8>) {
    out.extend_from_slice(&span.start.to_le_bytes());
    out.extend_from_slice(&span.len.to_le_bytes());
}

fn put_stamp(stamp: Stamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.secs.to_le_bytes());
    out.extend_from_slice(&stamp.usec.to_le_bytes());
    out.extend_from_slice(&stamp.offset.to_le_bytes());
}
