//! Messages as log records, and how they wait.
//!
//! What waits is a byte that says what it is, and the record. 0: what stands around the record, resource and
//! scope, is the destination's. 1: it stands in front of the record: resource, its schema, scope, its schema,
//! each behind its length, `u32` in little endian.

use super::any_value;
use ::record::{Batch, NameId, Record, Stamp};
use wire::protobuf::{Value as Field, fields, put_bytes, put_fixed64, put_message, put_number};

/// `SeverityNumber` of the severities of syslog, as AxoSyslog has them.
const SEVERITIES: [u64; 8] = [21, 22, 23, 17, 13, 10, 9, 5];

/// What waits, taken apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Item<'a> {
    /// `None`: those of the destination.
    pub around: Option<Around<'a>>,
    pub record: &'a [u8],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Around<'a> {
    pub resource: &'a [u8],
    pub resource_schema: &'a [u8],
    pub scope: &'a [u8],
    pub scope_schema: &'a [u8],
}

const BARE: u8 = 0;
const ENCLOSED: u8 = 1;

impl<'a> Item<'a> {
    /// What is none of ours is a record, whatever that is.
    pub fn read(message: &'a [u8]) -> Item<'a> {
        match message.split_first() {
            Some((&ENCLOSED, rest)) => Item::enclosed(rest).unwrap_or(Item { around: None, record: rest }),
            Some((_, record)) => Item { around: None, record },
            None => Item::default(),
        }
    }

    fn enclosed(mut rest: &'a [u8]) -> Option<Item<'a>> {
        let mut part = || {
            let (length, after) = rest.split_first_chunk::<4>()?;
            let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            rest = after;
            Some(part)
        };
        let [resource, resource_schema, scope, scope_schema] = [part()?, part()?, part()?, part()?];
        let around = Around { resource, resource_schema, scope, scope_schema };
        Some(Item { around: Some(around), record: rest })
    }
}

/// A record that came over this protocol, and goes on as it is.
pub struct Raw<'a> {
    pub around: Around<'a>,
    pub record: &'a [u8],
}

impl Raw<'_> {
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(ENCLOSED);
        let Around { resource, resource_schema, scope, scope_schema } = self.around;
        for part in [resource, resource_schema, scope, scope_schema] {
            out.extend_from_slice(&(part.len() as u32).to_le_bytes());
            out.extend_from_slice(part);
        }
        out.extend_from_slice(self.record);
    }
}

pub(super) fn nanoseconds(stamp: Stamp) -> u64 {
    let seconds = u64::try_from(stamp.secs).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::from(stamp.usec) * 1000)
}

/// Both times of a message.
pub(super) fn put_times(out: &mut Vec<u8>, batch: &Batch, record: &Record) {
    put_fixed64(out, 1, nanoseconds(record.stamp));
    put_fixed64(out, 11, nanoseconds(batch.received_at(record)));
}

pub(super) fn begin(out: &mut Vec<u8>) {
    out.push(BARE);
}

/// A message that has not come over this protocol: its times, its severity, and its text as the body.
pub fn put_plain(out: &mut Vec<u8>, batch: &Batch, record: &Record) {
    begin(out);
    put_times(out, batch, record);
    put_number(out, 2, severity(record));
    put_body(out, batch, record);
}

/// `SeverityNumber` of a message.
pub(super) fn severity(record: &Record) -> u64 {
    SEVERITIES.get(usize::from(record.pri & 7)).copied().unwrap_or_default()
}

/// The text of a message, with its type.
pub(super) fn put_body(out: &mut Vec<u8>, batch: &Batch, record: &Record) {
    if let Some(value) = batch.value(record, NameId::MESSAGE) {
        put_message(out, 5, |body| any_value::put(body, value));
    }
}

/// A record of which only the text is known.
pub fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    begin(out);
    put_message(out, 5, |body| any_value::put(body, ::record::Value::string(text)));
}

/// The body of what waits, where it is a text; otherwise all of the record.
pub fn text_of(message: &[u8]) -> &[u8] {
    let record = Item::read(message).record;
    let body = fields(record).flatten().find(|(number, _)| *number == 5);
    let Some((_, Field::Bytes(body))) = body else { return record };
    match fields(body).flatten().next() {
        Some((any_value::STRING | any_value::BYTES, Field::Bytes(text))) => text,
        _ => record,
    }
}

/// A text of a scope or a resource.
pub(super) fn put_name(out: &mut Vec<u8>, number: u32, text: &str) {
    put_bytes(out, number, text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::record::{Context, Span, ValueType};
    use std::sync::Arc;

    fn batch() -> Batch {
        let received = Stamp { secs: 2, usec: 3, offset: 3600 };
        let context = Arc::new(Context::local("s", "here", "local+file"));
        let mut batch = Batch::new(b"hello".to_vec(), context, received);
        let mut record = Record::new(Span::new(0, 5));
        record.message = Span::new(0, 5);
        record.stamp = Stamp { secs: 1, usec: 500_000, offset: 0 };
        record.pri = 3;
        batch.records.push(record);
        batch
    }

    #[test]
    fn a_plain_message() {
        let batch = batch();
        let mut out = Vec::new();
        put_plain(&mut out, &batch, &batch.records[0]);
        let all: Vec<_> = fields(Item::read(&out).record).map(|field| field.expect("good")).collect();
        let expected = [
            (1, Field::Fixed64(1_500_000_000)),
            (11, Field::Fixed64(2_000_003_000)),
            (2, Field::Varint(17)),
            (5, Field::Bytes(b"\x0a\x05hello")),
        ];
        assert_eq!(all, expected);
        assert_eq!(text_of(&out), b"hello");
    }

    #[test]
    fn what_is_around_a_record_stays_with_it_and_foreign_bytes_are_records() {
        let around = Around { resource: b"r", resource_schema: b"", scope: &[9; 300], scope_schema: b"u" };
        let mut out = Vec::new();
        Raw { around, record: b"record" }.put(&mut out);
        assert_eq!(Item::read(&out), Item { around: Some(around), record: b"record" });
        for cut in 0..out.len() {
            assert!(Item::read(&out[..cut]).record.len() <= cut);
        }
        let mut text = Vec::new();
        put_text(&mut text, b"\xff");
        assert_eq!(text_of(&text), b"\xff");
        let _ = ValueType::String;
    }
}
