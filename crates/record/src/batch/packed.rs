//! A message as bytes, with everything that is known of it: how it waits for a destination that may ask for
//! any of its values, and how it comes back.
//!
//! All numbers are little endian. `version u8 | number u64 | received stamp | stamp | stamp text u32 |
//! priority u16 | flags u16 | frame, HOST, PROGRAM, PID, MSGID, LEGACY_MSGHDR, MESSAGE, SDATA: spans | types
//! of HOST, PROGRAM, PID, MSGID, MESSAGE u8 | IP protocol u8 | source, host from, transport, remote, local,
//! proxy: spans | count u32 of values: name span, type u8, span | count u32 of tags: span | text`. A stamp is
//! `seconds i64 | microseconds u32 | offset i32`, a span `start u32 | length u32` in the text. Of values the
//! newest come first; the type 255 says that the name was unset.

use super::{Batch, Flags, Record};
use crate::Span;
use crate::context::{Context, Peer, Transport};
use crate::names::{NameId, lookup};
use crate::stamp::Stamp;
use crate::value::ValueType;
use parking_lot::RwLock;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

const VERSION: u8 = 1;
/// In place of a type: the name was unset.
const UNSET: u8 = u8::MAX;
const FIELDS: [NameId; 5] = [NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::MESSAGE];
const TYPES: [ValueType; 10] = [
    ValueType::String,
    ValueType::Json,
    ValueType::Boolean,
    ValueType::Int,
    ValueType::Double,
    ValueType::DateTime,
    ValueType::List,
    ValueType::Null,
    ValueType::Bytes,
    ValueType::Protobuf,
];

impl ValueType {
    /// What stands for it on disk.
    pub fn number(self) -> u8 {
        TYPES.iter().position(|known| *known == self).map_or(0, |at| at as u8)
    }

    /// A text where nobody knows the number.
    pub fn of_number(number: u8) -> ValueType {
        TYPES.get(usize::from(number)).copied().unwrap_or_default()
    }
}

/// Packs messages, in buffers that are kept: [`Packer::pack`].
#[derive(Default)]
pub struct Packer {
    text: Text,
    seen: Vec<NameId>,
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

fn put_span(span: Span, out: &mut Vec<u8>) {
    out.extend_from_slice(&span.start.to_le_bytes());
    out.extend_from_slice(&span.len.to_le_bytes());
}

fn put_stamp(stamp: Stamp, out: &mut Vec<u8>) {
    out.extend_from_slice(&stamp.secs.to_le_bytes());
    out.extend_from_slice(&stamp.usec.to_le_bytes());
    out.extend_from_slice(&stamp.offset.to_le_bytes());
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn span(&mut self) -> Option<Span> {
        Some(Span { start: self.u32()?, len: self.u32()? })
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let secs = i64::from_le_bytes(self.array()?);
        let usec = self.u32().filter(|usec| *usec < 1_000_000)?;
        Some(Stamp { secs, usec, offset: i32::from_le_bytes(self.array()?) })
    }

    /// So many items of so many bytes.
    fn items(&mut self, size: usize) -> Option<Bytes<'a>> {
        let count = self.u32()? as usize;
        let (items, rest) = self.0.split_at_checked(count.checked_mul(size)?)?;
        self.0 = rest;
        Some(Bytes(items))
    }
}

/// Where the spans begin.
const SPANS_AT: usize = 1 + 8 + 16 + 16 + 4 + 2 + 2;
const VALUE_BYTES: usize = 17;
const TAG_BYTES: usize = 8;

/// MESSAGE of a message that was packed.
pub fn packed_message(packed: &[u8]) -> Option<&[u8]> {
    let spans = packed.get(SPANS_AT..)?;
    let message = Bytes(spans.get(6 * TAG_BYTES..)?).span()?;
    let mut rest = Bytes(spans.get(8 * TAG_BYTES + FIELDS.len() + 1 + 6 * TAG_BYTES..)?);
    rest.items(VALUE_BYTES)?;
    rest.items(TAG_BYTES)?;
    Some(message.of(rest.0))
}

impl Packer {
    /// Appends a message with everything that is known of it. `number`: of the message at its destination, 0
    /// for none.
    pub fn pack(&mut self, batch: &Batch, record: &Record, number: u64, out: &mut Vec<u8>) {
        let Packer { text, seen } = self;
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
        pack_context(batch.context(record), text, out);
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
        if let Some(place) = out.get_mut(count_at..count_at + 4) {
            place.copy_from_slice(&count.to_le_bytes());
        }
        let tags = batch.tags(record);
        out.extend_from_slice(&(tags.len() as u32).to_le_bytes());
        for tag in tags {
            put_span(text.add(batch.tag_name(tag).as_bytes()), out);
        }
        out.extend_from_slice(&text.bytes);
    }
}

fn pack_context(context: Option<&Context>, text: &mut Text, out: &mut Vec<u8>) {
    let Some(context) = context else {
        out.push(0);
        (0..6).for_each(|_| put_span(Span::EMPTY, out));
        return;
    };
    out.push(context.ip_protocol);
    put_span(text.add(context.source.as_bytes()), out);
    put_span(text.add(context.host_from.as_bytes()), out);
    put_span(text.add(context.transport.0.as_bytes()), out);
    let ends = match &context.peer {
        Peer::Local => [None; 3],
        Peer::Inet { remote, local, proxy } => [Some(*remote), Some(*local), *proxy],
    };
    for end in ends {
        let start = text.bytes.len();
        if let Some(end) = end {
            // Into memory, where nothing fails.
            let _ = write!(text.bytes, "{end}");
        }
        put_span(Span::between(start, text.bytes.len()), out);
    }
}

impl Batch {
    /// Appends a message that was packed; its place, and its number. `None` when this is none.
    pub fn unpack(&mut self, packed: &[u8]) -> Option<(usize, u64)> {
        let mut head = Bytes(packed);
        if head.u8()? != VERSION {
            return None;
        }
        let number = u64::from_le_bytes(head.array()?);
        let (received, stamp) = (head.stamp()?, head.stamp()?);
        let stamp_text = head.u32()?;
        let (pri, flags) = (head.u16()?, Flags(head.u16()?));
        let mut spans = [Span::EMPTY; 8];
        for span in &mut spans {
            *span = head.span()?;
        }
        let types: [u8; 5] = head.array()?;
        let ip_protocol = head.u8()?;
        let mut context = [Span::EMPTY; 6];
        for span in &mut context {
            *span = head.span()?;
        }
        let mut values = head.items(VALUE_BYTES)?;
        let mut tags = head.items(TAG_BYTES)?;
        let text = self.append(head.0);
        if text.len as usize != head.0.len() {
            return None;
        }
        let mut record = Record::new(moved(spans[0], text));
        for (field, span) in fields(&mut record).into_iter().zip(spans.iter().skip(1)) {
            *field = moved(*span, text);
        }
        record.stamp = stamp;
        record.stamp_text = match stamp_text {
            Record::NO_TEXT => Record::NO_TEXT,
            start => match moved(Span { start, len: STAMP_TEXT }, text) {
                Span { len: STAMP_TEXT, start } => start,
                _ => Record::NO_TEXT,
            },
        };
        (record.pri, record.flags) = (pri, flags);
        for (name, kind) in FIELDS.into_iter().zip(types) {
            record.types.set(name, ValueType::of_number(kind));
        }
        record.context = self.unpack_context(ip_protocol, context.map(|span| moved(span, text)))?;
        record.origin = self.records.len() as u32;
        let index = self.records.len();
        self.records.push(record);
        if received != self.received {
            self.set_received(index, received);
        }
        let mut all = Vec::new();
        while let Some(name) = values.span() {
            all.push((moved(name, text), values.u8()?, moved(values.span()?, text)));
        }
        // The newest were first.
        for (name, kind, span) in all.into_iter().rev() {
            let Some(name) = self.name_at(name) else { continue };
            self.assign(index, name, span, (kind != UNSET).then(|| ValueType::of_number(kind)));
        }
        while let Some(tag) = tags.span() {
            let tag = String::from_utf8_lossy(self.bytes(moved(tag, text))).into_owned();
            if let Some(tag) = self.tag(tag.as_bytes()) {
                self.set_tag(index, tag);
            }
        }
        if let Some(record) = self.records.get_mut(index) {
            record.flags = flags;
        }
        Some((index, number))
    }

    fn name_at(&mut self, span: Span) -> Option<NameId> {
        let name = std::str::from_utf8(span.of(&self.text)).ok()?;
        lookup(name).or_else(|| self.names.id(b"", span.of(&self.text)))
    }

    /// The place of a context with these parts: that of the message before when it is the same.
    fn unpack_context(&mut self, ip_protocol: u8, spans: [Span; 6]) -> Option<u16> {
        let [source, host_from, transport, remote, local, proxy] =
            spans.map(|span| String::from_utf8_lossy(self.bytes(span)).into_owned());
        let end = |text: &str| text.parse::<SocketAddr>().ok();
        let peer = match (end(&remote), end(&local)) {
            (Some(remote), Some(local)) => Peer::Inet { remote, local, proxy: end(&proxy) },
            _ => Peer::Local,
        };
        let is_same = |context: &&Arc<Context>| {
            *context.source == source
                && *context.host_from == host_from
                && context.transport.0 == transport
                && context.peer == peer
                && context.ip_protocol == ip_protocol
                && context.values.is_empty()
        };
        if let Some(last) = self.contexts.last().filter(is_same).map(Arc::clone) {
            return self.place_of(&last);
        }
        let context = Context {
            source: source.into(),
            peer,
            host_from: host_from.into(),
            transport: Transport(lasting(&transport)),
            ip_protocol,
            values: Vec::new(),
        };
        self.place_of(&Arc::new(context))
    }
}

/// Names of transports that are remembered; the program has a dozen.
const TRANSPORTS_MAX: usize = 64;

/// The name of a transport for as long as the process lives; empty when there are too many.
fn lasting(name: &str) -> &'static str {
    static KNOWN: RwLock<Vec<&'static str>> = RwLock::new(Vec::new());
    if let Some(known) = KNOWN.read().iter().find(|known| **known == name) {
        return known;
    }
    let mut known = KNOWN.write();
    if known.len() >= TRANSPORTS_MAX {
        return "";
    }
    let name: &'static str = name.to_owned().leak();
    known.push(name);
    name
}

/// Bytes of the time stamp of RFC 3164.
const STAMP_TEXT: u32 = 15;

fn fields(record: &mut Record) -> [&mut Span; 7] {
    [
        &mut record.host,
        &mut record.program,
        &mut record.pid,
        &mut record.msgid,
        &mut record.msghdr,
        &mut record.message,
        &mut record.sdata,
    ]
}

/// A span of the text of a message as one of the batch that the text stands in; empty when it does not lie
/// inside.
fn moved(span: Span, text: Span) -> Span {
    if span.is_empty() {
        return span;
    }
    let inside = u64::from(span.start) + u64::from(span.len) <= u64::from(text.len);
    if inside { Span { start: text.start + span.start, len: span.len } } else { Span::EMPTY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intern;

    fn message() -> Batch {
        let mut context = Context::local("s_net", "peer.example", "rfc3164+tcp");
        let end = |port| SocketAddr::from(([192, 0, 2, 1], port));
        context.peer = Peer::Inet { remote: end(1000), local: end(514), proxy: None };
        context.ip_protocol = 6;
        context.values.push((intern("packed.ctx").expect("room"), (*b"c").into()));
        let received = Stamp { secs: 9, usec: 8, offset: 7200 };
        let mut batch = Batch::new(b"<13>Nov 11 01:02:03 h app: hello".to_vec(), Arc::new(context), received);
        let mut record = Record::new(Span::new(0, 32));
        (record.host, record.program, record.message) =
            (Span::new(20, 1), Span::new(22, 3), Span::new(27, 5));
        (record.stamp_text, record.pri) = (4, 14);
        record.stamp = Stamp { secs: 5, usec: 6, offset: -3600 };
        batch.records.push(record);
        let names = ["packed.a", "packed.b", ".SDATA.packed.c"].map(|name| intern(name).expect("room"));
        batch.set(0, names[0], b"old", ValueType::String);
        batch.set(0, names[0], b"7", ValueType::Int);
        batch.set(0, names[1], b"gone", ValueType::String);
        batch.unset(0, names[1]);
        batch.unset(0, names[2]);
        let own = batch.names.id(b"", b"packed.of.this.batch").expect("room");
        batch.set(0, own, b"own", ValueType::Json);
        batch.set(0, NameId::MESSAGE, b"8.5", ValueType::Double);
        batch.unset(0, NameId::PID);
        let tag = batch.tag(b"packed.tag").expect("room");
        batch.set_tag(0, tag);
        batch
    }

    #[test]
    fn what_is_known_of_a_message_comes_back() {
        let from = message();
        let record = from.records[0];
        let mut packed = Vec::new();
        Packer::default().pack(&from, &record, 42, &mut packed);
        let mut to = Batch::new(b"before".to_vec(), Arc::new(Context::local("", "", "")), from.received);
        for at in 0..2 {
            assert_eq!(to.unpack(&packed), Some((at, 42)));
            let copy = to.records[at];
            for name in [NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MESSAGE, NameId::SOURCE] {
                assert_eq!(to.value(&copy, name), from.value(&record, name), "{name:?}");
            }
            for name in [NameId::HOST_FROM, NameId::TRANSPORT] {
                assert_eq!(to.value(&copy, name), from.value(&record, name), "{name:?}");
            }
            assert_eq!(packed_message(&packed), Some(&b"8.5"[..]));
            let pairs = |batch: &Batch, record: &Record| -> Vec<(String, Vec<u8>, ValueType)> {
                let all = batch.pairs(record);
                all.map(|(n, v)| (batch.name_of(n).to_owned(), v.bytes.to_vec(), v.kind)).collect()
            };
            let mut expected = pairs(&from, &record);
            expected.push(("packed.ctx".to_owned(), b"c".to_vec(), ValueType::String));
            assert_eq!(pairs(&to, &copy), expected);
            let hidden = intern(".SDATA.packed.c").expect("known");
            assert_eq!(to.overridden(&copy, hidden), Some(false));
            assert_eq!((copy.stamp, copy.pri, copy.flags), (record.stamp, record.pri, record.flags));
            assert_eq!(to.received_at(&copy), from.received);
            assert_eq!(to.bytes(copy.frame), from.bytes(record.frame));
            assert_eq!(to.bytes(Span { start: copy.stamp_text, len: 15 }), b"Nov 11 01:02:03");
            let tags: Vec<&str> = to.tags(&copy).into_iter().map(|tag| to.tag_name(tag)).collect();
            assert_eq!(tags, ["packed.tag"]);
            assert_eq!(
                to.context(&copy).map(|c| c.peer.clone()),
                from.context(&record).map(|c| c.peer.clone())
            );
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let from = message();
        let mut whole = Vec::new();
        Packer::default().pack(&from, &from.records[0], 1, &mut whole);
        let damaged = (0..whole.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|byte| (at, byte, 0)));
        for (at, byte, cut) in damaged.chain((0..whole.len()).map(|cut| (0, 1, cut))) {
            let mut packed = whole.clone();
            packed[at] = byte;
            packed.truncate(whole.len() - cut);
            let mut to = Batch::new(Vec::new(), Arc::new(Context::local("", "", "")), from.received);
            let _ = packed_message(&packed);
            if to.unpack(&packed).is_some() {
                let record = to.records[0];
                assert!(to.text.len() <= 4 * packed.len());
                let _ = (to.pairs(&record).count(), to.tags(&record), to.fields(&record));
            }
        }
    }
}
