//! The batch: one buffer of text, one compact record per message, and the value entries the records link to.

mod adopt;
mod flags;
mod fresh;
mod held;
mod name_bits;
mod names;
mod noted;
mod packed;
mod received;
mod since;
mod tags;
mod types;

pub use adopt::Mark;
pub use flags::Flags;
pub use names::{
    BATCH_NAMES_BYTES_MAX, BATCH_NAMES_MAX, BatchNames, NAME_BYTES_MAX, name_key, names_left_out,
};
pub use packed::{Packer, Unpacker, packed_message};
pub use since::Since;
pub use types::FieldTypes;

use crate::Span;
use crate::context::Context;
use crate::names::{NameId, name_of};
use crate::stamp::Stamp;
use crate::tags::Tags;
use crate::value::{Entry, Link, Value, ValueType};
use ::value::Trees;
use name_bits::NameBits;
use std::sync::Arc;
use tags::TAG_BASE;

/// One message. Plain data: a copy is a snapshot (see the crate's first page).
#[derive(Clone, Copy, Debug)]
pub struct Record {
    /// As received, without framing.
    pub frame: Span,
    pub host: Span,
    pub program: Span,
    pub pid: Span,
    pub msgid: Span,
    /// The program part as received with its separators and trailing blank; empty when there is none to keep.
    pub msghdr: Span,
    pub message: Span,
    /// STRUCTURED-DATA as received, valid by RFC 5424 section 6.3; empty when none.
    pub sdata: Span,
    pub stamp: Stamp,
    /// Where 15 bytes `Mmm dd hh:mm:ss` in RFC 3164's exact form stand that mean `stamp` in the source's
    /// zone; `u32::MAX` when not.
    pub stamp_text: u32,
    /// Place among the batch's messages: order is by this number, whatever branches did.
    pub origin: u32,
    /// Facility and severity.
    pub pri: u16,
    pub flags: Flags,
    /// Index in [`Batch::contexts`].
    pub context: u16,
    /// Of HOST, PROGRAM, PID, MSGID and MESSAGE. Whoever changes these fields directly makes them text.
    pub types: FieldTypes,
    pub tags: Tags,
    more_tags: Link,
    values: Link,
    /// A bit for each name in `values`, which several names share: a name whose bit is not set is not there.
    name_bits: NameBits,
    held: Link,
}

/// Bytes of a batch's text, as far as a [`Span`] reaches; less in tests, which reach it.
const TEXT_BYTES_MAX: usize = if cfg!(test) { 1 << 20 } else { u32::MAX as usize };

/// Messages that were read together. Owned by one worker at a time.
#[derive(Debug, Default)]
pub struct Batch {
    /// The received bytes, then everything made from them. Only grows while the batch lives.
    pub text: Vec<u8>,
    pub records: Vec<Record>,
    pub contexts: Vec<Arc<Context>>,
    /// When the bytes were read.
    pub received: Stamp,
    /// Names that its messages brought.
    pub names: BatchNames,
    /// Containers of the trees that messages hold beside their values.
    pub trees: Trees,
    entries: Vec<Entry>,
    held: Vec<held::Held>,
    noted: noted::Noted,
    joined: Vec<adopt::Joined>,
    /// A number that no other batch has, nor this one after it was reset; 0 where it was not given one.
    life: u64,
}

impl Batch {
    pub fn new(text: Vec<u8>, context: Arc<Context>, received: Stamp) -> Batch {
        let life = since::new_life();
        Batch { text, records: Vec::new(), contexts: vec![context], received, life, ..Batch::default() }
    }

    /// Makes an old batch ready for new bytes, keeping its allocations.
    pub fn reset(&mut self) {
        self.text.clear();
        self.records.clear();
        self.entries.clear();
        self.held.clear();
        self.noted.clear();
        self.trees.clear();
        self.joined.clear();
        self.contexts.clear();
        self.names.clear();
        self.life = since::new_life();
    }

    /// The name of a number its messages have.
    pub fn name_of(&self, id: NameId) -> &str {
        if id.is_local() { self.names.name(id) } else { name_of(id) }
    }

    /// What stands for the name of a number in every batch, for tables that outlive this one.
    #[inline(always)]
    pub fn name_key(&self, id: NameId) -> u64 {
        match id.is_local() {
            true => names::invented_key(self.names.hash(id).unwrap_or_default()),
            false => names::known_key(id),
        }
    }

    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        span.of(&self.text)
    }

    /// A message as it was received, without framing; of one that was made, its text.
    pub fn as_received(&self, record: &Record) -> &[u8] {
        match self.bytes(record.frame) {
            [] => self.bytes(record.message),
            frame => frame,
        }
    }

    /// Appends text made on the way. What would take the text beyond the 4 GiB that a span can reach is left
    /// out: nothing of it is there then, rather than something else.
    #[inline]
    pub fn append(&mut self, bytes: &[u8]) -> Span {
        let start = self.text.len();
        if bytes.len() > TEXT_BYTES_MAX.saturating_sub(start) {
            return Span::EMPTY;
        }
        self.text.extend_from_slice(bytes);
        Span::new(start, bytes.len())
    }

    #[inline]
    pub fn context(&self, record: &Record) -> Option<&Context> {
        self.contexts.get(record.context as usize).map(|c| &**c)
    }

    /// The value of a name for a record: fields, then pairs that were set, then what its peer's context says.
    /// `None` when it is not set, as an empty field is unless it was set to nothing. STRUCTURED-DATA
    /// parameters that stand only in [`Record::sdata`] are not looked up here: see `wire::sdata`.
    pub fn value(&self, record: &Record, name: NameId) -> Option<Value<'_>> {
        if let Some(span) = self.field(record, name) {
            let value = || Value { bytes: self.bytes(span), kind: record.types.of(name) };
            return (!span.is_empty() || span == Span::NOTHING).then(value);
        }
        if let Some(found) = self.entry(record, name) {
            return found.kind.map(|kind| Value { bytes: self.bytes(found.span), kind });
        }
        let context = self.context(record)?;
        let bytes: &[u8] = match name {
            NameId::HOST_FROM => context.host_from.as_bytes(),
            NameId::SOURCE => context.source.as_bytes(),
            NameId::TRANSPORT => context.transport.0.as_bytes(),
            _ => context.values.iter().find(|(n, _)| *n == name).map(|(_, v)| &**v)?,
        };
        Some(Value::string(bytes))
    }

    /// Whether a pair of this name was set (`Some(true)`) or unset (`Some(false)`) on the way.
    pub fn overridden(&self, record: &Record, name: NameId) -> Option<bool> {
        self.entry(record, name).map(|e| e.kind.is_some())
    }

    #[inline]
    fn field(&self, record: &Record, name: NameId) -> Option<Span> {
        Some(match name {
            NameId::HOST => record.host,
            NameId::MESSAGE => record.message,
            NameId::PROGRAM => record.program,
            NameId::PID => record.pid,
            NameId::MSGID => record.msgid,
            NameId::LEGACY_MSGHDR => record.msghdr,
            _ => return None,
        })
    }

    /// The fields a message has, whether or not any value was set, each as [`Batch::value`] gives it.
    #[inline]
    pub fn fields(&self, record: &Record) -> [(NameId, Option<Value<'_>>); 6] {
        let value = |name: NameId, span: Span| {
            let value = || Value { bytes: self.bytes(span), kind: record.types.of(name) };
            (name, (!span.is_empty() || span == Span::NOTHING).then(value))
        };
        [
            value(NameId::HOST, record.host),
            value(NameId::MESSAGE, record.message),
            value(NameId::PROGRAM, record.program),
            value(NameId::PID, record.pid),
            value(NameId::MSGID, record.msgid),
            value(NameId::LEGACY_MSGHDR, record.msghdr),
        ]
    }

    fn entry(&self, record: &Record, name: NameId) -> Option<&Entry> {
        if !record.name_bits.has(name) {
            return None;
        }
        let mut at = record.values;
        while let Some(entry) = self.entries.get(at.0 as usize) {
            if entry.name == name {
                return Some(entry);
            }
            at = entry.next;
        }
        None
    }

    /// Sets a value of `records[index]`. The text is copied to the end of the batch's text.
    pub fn set(&mut self, index: usize, name: NameId, bytes: &[u8], kind: ValueType) {
        let span = self.append(bytes);
        self.set_span(index, name, span, kind);
    }

    /// Sets a value that already stands in the batch's text.
    pub fn set_span(&mut self, index: usize, name: NameId, span: Span, kind: ValueType) {
        self.assign(index, name, span, Some(kind));
    }

    /// As [`Batch::set_span`] for each of them, in order; of names that have no place of their own: of no
    /// field, nor of STRUCTURED-DATA.
    #[inline]
    pub fn set_plain_spans(
        &mut self,
        index: usize,
        values: impl ExactSizeIterator<Item = (NameId, Span, ValueType)>,
    ) {
        let begin = self.entries.len() as u32;
        let Some(record) = self.records.get_mut(index) else { return };
        let (mut next, mut bits) = (record.values, NameBits::default());
        if values.len() > 0 {
            record.values = Link(begin + values.len() as u32 - 1);
        }
        self.entries.extend(values.zip(begin..u32::MAX).map(|((name, span, kind), at)| {
            bits.add(name);
            let entry = Entry { name, span, kind: Some(kind), next };
            next = Link(at);
            entry
        }));
        record.name_bits.add_all(bits);
    }

    /// As [`Batch::set_span`] for each of them, in order.
    #[inline]
    pub fn set_spans(&mut self, index: usize, values: impl Iterator<Item = (NameId, Span, ValueType)>) {
        let Some(mut first) = self.records.get(index).map(|record| record.values) else { return };
        let mut bits = NameBits::default();
        self.entries.reserve(values.size_hint().0);
        for (name, span, kind) in values {
            if !name.is_plain() {
                self.keep_first(index, first);
                self.assign(index, name, span, Some(kind));
                first = self.records.get(index).map_or(first, |record| record.values);
            } else {
                let next = std::mem::replace(&mut first, Link(self.entries.len() as u32));
                self.entries.push(Entry { name, span, kind: Some(kind), next });
                bits.add(name);
            }
        }
        self.keep_first(index, first);
        if let Some(record) = self.records.get_mut(index) {
            record.name_bits.add_all(bits);
        }
    }

    #[inline(always)]
    fn keep_first(&mut self, index: usize, first: Link) {
        if let Some(record) = self.records.get_mut(index) {
            record.values = first;
        }
    }

    pub fn unset(&mut self, index: usize, name: NameId) {
        let is_there = |record: &Record| record.name_bits.has(name) || self.is_hidden_by_unset(record, name);
        if self.records.get(index).is_some_and(is_there) {
            self.assign(index, name, Span::EMPTY, None);
        }
    }

    /// As [`Batch::unset`] for each of them, plain names: at once where nothing else was set on the way.
    pub fn unset_all(&mut self, index: usize, names: &[NameId]) {
        let Some(record) = self.records.get(index) else { return };
        let is_one = |name: NameId| names.contains(&name) && !self.is_hidden_by_unset(record, name);
        if self.names_since(record, Since::default()).all(|(name, _)| is_one(name))
            && let Some(record) = self.records.get_mut(index)
        {
            (record.values, record.name_bits) = (Link::NONE, NameBits::default());
            return;
        }
        names.iter().for_each(|name| self.unset(index, *name));
    }

    /// Whether a name that was not set on the way may be there all the same.
    fn is_hidden_by_unset(&self, record: &Record, name: NameId) -> bool {
        let fixed = [NameId::HOST_FROM, NameId::SOURCE, NameId::TRANSPORT].contains(&name);
        fixed
            || name.is_field()
            || name.is_sdata()
            || self.context(record).is_some_and(|c| c.values.iter().any(|(known, _)| *known == name))
    }

    fn assign(&mut self, index: usize, name: NameId, span: Span, kind: Option<ValueType>) {
        let Some(record) = self.records.get_mut(index) else { return };
        record.types.set(name, kind.unwrap_or_default());
        let field = if kind.is_some() { span.set() } else { Span::EMPTY };
        match name {
            NameId::HOST => record.host = field,
            NameId::MESSAGE => record.message = field,
            NameId::MSGID => record.msgid = field,
            NameId::LEGACY_MSGHDR => record.msghdr = field,
            // The header as received no longer says the truth.
            NameId::PROGRAM => (record.program, record.msghdr) = (field, Span::EMPTY),
            NameId::PID => (record.pid, record.msghdr) = (field, Span::EMPTY),
            _ => {
                if name.is_sdata() {
                    record.flags.set(Flags::SDATA_CHANGED);
                }
                let next = record.values;
                record.name_bits.add(name);
                record.values = Link(self.entries.len() as u32);
                self.entries.push(Entry { name, span, kind, next });
            }
        }
    }

    /// The pairs of a record that were set on the way, newest first, each name once. For value-pairs and the
    /// like.
    pub fn pairs<'a>(&'a self, record: &Record) -> impl Iterator<Item = (NameId, Value<'a>)> + use<'a> {
        let mut seen: Vec<NameId> = Vec::new();
        let mut at = record.values;
        std::iter::from_fn(move || {
            loop {
                let entry = self.entries.get(at.0 as usize)?;
                at = entry.next;
                if seen.contains(&entry.name) || entry.name.0 >= TAG_BASE {
                    continue;
                }
                seen.push(entry.name);
                if let Some(kind) = entry.kind {
                    return Some((entry.name, Value { bytes: self.bytes(entry.span), kind }));
                }
            }
        })
    }

    /// Everything that was set or unset on the way, newest first: of entries with one name only the first
    /// counts. Allocates nothing.
    #[inline]
    pub fn entries<'a>(
        &'a self,
        record: &Record,
    ) -> impl Iterator<Item = (NameId, Option<Value<'a>>)> + use<'a> {
        let mut at = record.values;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at.0 as usize)?;
            at = entry.next;
            Some((entry.name, entry.kind.map(|kind| Value { bytes: self.bytes(entry.span), kind })))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TagId, intern, tag_id};

    #[test]
    fn text_that_no_span_reaches_is_left_out() {
        let mut batch = batch();
        let piece = vec![b'x'; 1 << 10];
        let mut kept = Vec::new();
        for _ in 0..2 << 10 {
            kept.push(batch.append(&piece));
        }
        assert!(batch.text.len() <= TEXT_BYTES_MAX && batch.text.len() > TEXT_BYTES_MAX - piece.len());
        assert_eq!(kept.iter().filter(|span| !span.is_empty()).count(), batch.text.len() >> 10);
        assert!(kept.iter().all(|span| span.is_empty() || batch.bytes(*span) == piece));
        let rest = vec![b'y'; TEXT_BYTES_MAX - batch.text.len()];
        assert_eq!(batch.append(&rest).len as usize, rest.len(), "to the last byte");
        assert!(batch.append(b"z").is_empty());
    }

    #[test]
    fn names_are_unset_together() {
        let mut b = batch();
        let [one, two, other] = ["one", "two", "other"].map(|name| intern(name).expect("room"));
        for more in [None, Some(other), Some(NameId::HOST)] {
            b.records[0] = batch().records[0];
            b.set(0, one, b"1", ValueType::Int);
            b.set(0, two, b"2", ValueType::Int);
            more.into_iter().for_each(|name| b.set(0, name, b"kept", ValueType::String));
            let before = b.records[0];
            b.unset_all(0, &[one, two]);
            let now = b.records[0];
            assert_eq!([one, two].map(|name| text(&b, &now, name)), [None, None]);
            assert_eq!(more.and_then(|name| text(&b, &now, name)), more.map(|_| "kept".to_owned()));
            assert_eq!(text(&b, &before, one).as_deref(), Some("1"), "a snapshot");
            assert_eq!(now.has_values(), more == Some(other));
            b.set(0, one, b"3", ValueType::Int);
            assert_eq!(text(&b, &b.records[0], one).as_deref(), Some("3"));
        }
    }

    fn batch() -> Batch {
        let context = Arc::new(Context::local("s_local", "here", "local+file"));
        let mut batch = Batch::new(b"app: hello".to_vec(), context, Stamp::default());
        let mut record = Record::new(Span::new(0, 10));
        (record.program, record.msghdr, record.message) = (Span::new(0, 3), Span::new(0, 5), Span::new(5, 5));
        batch.records.push(record);
        batch
    }

    fn text(batch: &Batch, record: &Record, name: NameId) -> Option<String> {
        batch.value(record, name).map(|v| String::from_utf8_lossy(v.bytes).into_owned())
    }

    #[test]
    fn a_copy_of_a_record_is_a_snapshot() {
        let mut b = batch();
        let name = intern("user").expect("room");
        b.set(0, name, b"root", ValueType::String);
        let before = b.records[0];
        b.set(0, name, b"7", ValueType::Int);
        b.set(0, NameId::MESSAGE, b"bye", ValueType::String);
        b.unset(0, NameId::PROGRAM);
        assert_eq!(text(&b, &before, name).as_deref(), Some("root"));
        assert_eq!(text(&b, &before, NameId::MESSAGE).as_deref(), Some("hello"));
        let now = b.records[0];
        assert_eq!(b.value(&now, name), Some(Value { bytes: b"7", kind: ValueType::Int }));
        assert_eq!(text(&b, &now, NameId::MESSAGE).as_deref(), Some("bye"));
        assert_eq!((text(&b, &now, NameId::PROGRAM), text(&b, &now, NameId::LEGACY_MSGHDR)), (None, None));
        assert_eq!(b.pairs(&now).count(), 1);
    }

    #[test]
    fn an_unset_pair_hides_the_context() {
        let mut b = batch();
        assert_eq!(text(&b, &b.records[0], NameId::SOURCE).as_deref(), Some("s_local"));
        b.unset(0, NameId::SOURCE);
        assert_eq!(text(&b, &b.records[0], NameId::SOURCE), None);
    }

    #[test]
    fn more_than_64_tags() {
        let mut b = batch();
        let ids: Vec<TagId> = (0..80).map(|n| tag_id(&format!("t{n}")).expect("room")).collect();
        for id in &ids {
            b.set_tag(0, *id);
        }
        b.clear_tag(0, ids[70]);
        b.clear_tag(0, ids[3]);
        let record = b.records[0];
        assert!(b.has_tag(&record, ids[79]) && !b.has_tag(&record, ids[70]) && !b.has_tag(&record, ids[3]));
        assert_eq!(b.tags(&record).len(), 78);
    }
}
