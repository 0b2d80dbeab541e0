//! A message from bytes.

use super::{Bytes, FIELDS, STAMP_TEXT, TAG_BYTES, UNSET, VALUE_BYTES, VERSION, fields};
use crate::Span;
use crate::batch::{Batch, Flags, Record};
use crate::context::{Context, Peer, Transport};
use crate::names::{NameId, lookup};
use crate::value::ValueType;
use parking_lot::RwLock;
use std::net::SocketAddr;
use std::sync::Arc;

/// Brings back messages that were packed, in buffers that are kept: [`Unpacker::unpack`].
#[derive(Default)]
pub struct Unpacker {
    /// Of the message before, what its context was made of, and that.
    texts: [Vec<u8>; 6],
    context: Option<Arc<Context>>,
    values: Vec<(Span, u8, Span)>,
    tag: Vec<u8>,
}

impl Unpacker {
    /// Appends a message that was packed to a batch; its place, and its number. `None` when this is none.
    pub fn unpack(&mut self, packed: &[u8], batch: &mut Batch) -> Option<(usize, u64)> {
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
        let text = batch.append(head.0);
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
        let context = self.context(ip_protocol, context.map(|span| batch.bytes(moved(span, text))));
        record.context = batch.place_of(&context)?;
        let index = batch.records.len();
        record.origin = index as u32;
        batch.records.push(record);
        if received != batch.received {
            batch.set_received(index, received);
        }
        self.values.clear();
        while let Some(name) = values.span() {
            self.values.push((moved(name, text), values.u8()?, moved(values.span()?, text)));
        }
        // The newest were first.
        for (name, kind, span) in self.values.iter().rev() {
            let Some(name) = name_at(batch, *name) else { continue };
            batch.assign(index, name, *span, (*kind != UNSET).then(|| ValueType::of_number(*kind)));
        }
        while let Some(tag) = tags.span() {
            self.tag.clear();
            self.tag.extend_from_slice(batch.bytes(moved(tag, text)));
            let name = String::from_utf8_lossy(&self.tag);
            if let Some(tag) = batch.tag(name.as_bytes()) {
                batch.set_tag(index, tag);
            }
        }
        if let Some(record) = batch.records.get_mut(index) {
            record.flags = flags;
        }
        Some((index, number))
    }

    /// A context with these parts: that of the message before when it is the same.
    fn context(&mut self, ip_protocol: u8, texts: [&[u8]; 6]) -> Arc<Context> {
        if let Some(context) = &self.context
            && context.ip_protocol == ip_protocol
            && self.texts == texts
        {
            return Arc::clone(context);
        }
        let [source, host_from, transport, remote, local, proxy] = texts.map(String::from_utf8_lossy);
        let end = |text: &str| text.parse::<SocketAddr>().ok();
        let peer = match (end(&remote), end(&local)) {
            (Some(remote), Some(local)) => Peer::Inet { remote, local, proxy: end(&proxy) },
            _ => Peer::Local,
        };
        let context = Arc::new(Context {
            source: (*source).into(),
            peer,
            host_from: (*host_from).into(),
            transport: Transport(lasting(&transport)),
            ip_protocol,
            values: Vec::new(),
        });
        self.texts = texts.map(<[u8]>::to_vec);
        self.context = Some(Arc::clone(&context));
        context
    }
}

fn name_at(batch: &mut Batch, span: Span) -> Option<NameId> {
    let name = std::str::from_utf8(span.of(&batch.text)).ok()?;
    lookup(name).or_else(|| batch.names.id(b"", span.of(&batch.text)))
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

/// A span of the text of a message as one of the batch that the text stands in; empty when it does not lie
/// inside.
fn moved(span: Span, text: Span) -> Span {
    if span.is_empty() {
        return span;
    }
    let inside = u64::from(span.start) + u64::from(span.len) <= u64::from(text.len);
    if inside { Span { start: text.start + span.start, len: span.len } } else { Span::EMPTY }
}
