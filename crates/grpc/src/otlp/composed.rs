//! Which record a message becomes: what came over this protocol goes on as it is; what a parser has taken
//! apart is put together again; all else is a record of its own.

use super::any_value;
use super::record::{Around, Raw, nanoseconds, put_body, put_plain, severity};
use super::request::Signal;
use ::record::{Batch, NameId, Record, Value, intern};
use wire::protobuf::{put_bytes, put_fixed32, put_fixed64, put_message, put_number};

/// Names below which what came in stands as it came.
pub struct RawNames {
    pub kind: NameId,
    pub resource: NameId,
    pub resource_schema: NameId,
    pub scope: NameId,
    pub scope_schema: NameId,
    pub log: NameId,
    pub metric: NameId,
    pub span: NameId,
}

/// What stands before the names that the parser makes.
pub const PREFIX: &str = ".otel.";

impl RawNames {
    pub fn new() -> RawNames {
        // With no room for a name nothing has it.
        let id = |name: &str| intern(name).unwrap_or(NameId::of_match(u8::MAX));
        RawNames {
            kind: id(".otel_raw.type"),
            resource: id(".otel_raw.resource"),
            resource_schema: id(".otel_raw.resource_schema_url"),
            scope: id(".otel_raw.scope"),
            scope_schema: id(".otel_raw.scope_schema_url"),
            log: id(".otel_raw.log"),
            metric: id(".otel_raw.metric"),
            span: id(".otel_raw.span"),
        }
    }

    pub fn of(&self, signal: Signal) -> NameId {
        match signal {
            Signal::Logs => self.log,
            Signal::Metrics => self.metric,
            Signal::Traces => self.span,
        }
    }
}

impl Default for RawNames {
    fn default() -> RawNames {
        RawNames::new()
    }
}

pub struct RecordWriter {
    raw: RawNames,
    kind: NameId,
}

impl Default for RecordWriter {
    fn default() -> RecordWriter {
        RecordWriter::new()
    }
}

impl RecordWriter {
    pub fn new() -> RecordWriter {
        RecordWriter { raw: RawNames::new(), kind: intern(".otel.type").unwrap_or(NameId::of_match(u8::MAX)) }
    }

    /// Appends the record of a message, and says which service takes it.
    pub fn put(&self, out: &mut Vec<u8>, batch: &Batch, record: &Record) -> Signal {
        if record.has_values() {
            if let Some((signal, raw)) = self.raw(batch, record) {
                raw.put(out);
                return signal;
            }
            if batch.value(record, self.kind).is_some_and(|kind| kind.bytes == b"log") {
                composed(out, batch, record);
                return Signal::Logs;
            }
        }
        put_plain(out, batch, record);
        Signal::Logs
    }

    fn raw<'a>(&self, batch: &'a Batch, record: &Record) -> Option<(Signal, Raw<'a>)> {
        let signal = Signal::named(batch.value(record, self.raw.kind)?.bytes)?;
        let bytes = |name: NameId| batch.value(record, name).map(|value| value.bytes).unwrap_or_default();
        let around = Around {
            resource: bytes(self.raw.resource),
            resource_schema: bytes(self.raw.resource_schema),
            scope: bytes(self.raw.scope),
            scope_schema: bytes(self.raw.scope_schema),
        };
        let own = batch.value(record, self.raw.of(signal))?.bytes;
        Some((signal, Raw { around, record: own }))
    }
}

/// A log record that is put together again.
fn composed(out: &mut Vec<u8>, batch: &Batch, record: &Record) {
    let (mut resource, mut scope, mut log) = (Vec::new(), Vec::new(), Vec::new());
    let (mut resource_schema, mut scope_schema) = (&[][..], &[][..]);
    let mut said = Said::default();
    for (name, value) in batch.pairs(record) {
        let Some(name) = batch.name_of(name).strip_prefix(PREFIX) else { continue };
        let number = |value: Value<'_>| {
            std::str::from_utf8(value.bytes)
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
                .unwrap_or_default()
        };
        let pair = |out: &mut Vec<u8>, number: u32, key: &str| {
            any_value::put_pair(out, number, key, |out| any_value::put(out, value));
        };
        said.note(name);
        match name {
            "resource.schema_url" => resource_schema = value.bytes,
            "resource.dropped_attributes_count" => put_set(&mut resource, 2, number(value)),
            "scope.schema_url" => scope_schema = value.bytes,
            "scope.name" => put_given(&mut scope, 1, value.bytes),
            "scope.version" => put_given(&mut scope, 2, value.bytes),
            "scope.dropped_attributes_count" => put_set(&mut scope, 4, number(value)),
            "log.time_unix_nano" => put_fixed64(&mut log, 1, number(value)),
            "log.observed_time_unix_nano" => put_fixed64(&mut log, 11, number(value)),
            "log.severity_number" => put_set(&mut log, 2, number(value)),
            "log.severity_text" => put_given(&mut log, 3, value.bytes),
            "log.body" => put_message(&mut log, 5, |out| any_value::put(out, value)),
            "log.dropped_attributes_count" => put_set(&mut log, 7, number(value)),
            "log.flags" if number(value) != 0 => put_fixed32(&mut log, 8, number(value) as u32),
            "log.trace_id" => put_given(&mut log, 9, value.bytes),
            "log.span_id" => put_given(&mut log, 10, value.bytes),
            "log.event_name" => put_given(&mut log, 12, value.bytes),
            _ => {
                if let Some(key) = name.strip_prefix("resource.attributes.") {
                    pair(&mut resource, 1, key);
                } else if let Some(key) = name.strip_prefix("scope.attributes.") {
                    pair(&mut scope, 3, key);
                } else if let Some(key) = name.strip_prefix("log.attributes.") {
                    pair(&mut log, 6, key);
                }
            }
        }
    }
    said.put_rest(&mut log, batch, record);
    let around = Around { resource: &resource, resource_schema, scope: &scope, scope_schema };
    Raw { around, record: &log }.put(out);
}

/// What a composed record says itself; the rest is what a plain message's record says.
#[derive(Default)]
struct Said {
    time: bool,
    observed: bool,
    severity: bool,
    body: bool,
}

impl Said {
    fn note(&mut self, name: &str) {
        match name {
            "log.time_unix_nano" => self.time = true,
            "log.observed_time_unix_nano" => self.observed = true,
            "log.severity_number" => self.severity = true,
            "log.body" => self.body = true,
            _ => {}
        }
    }

    fn put_rest(&self, log: &mut Vec<u8>, batch: &Batch, record: &Record) {
        if !self.time {
            put_fixed64(log, 1, nanoseconds(record.stamp));
        }
        if !self.observed {
            put_fixed64(log, 11, nanoseconds(batch.received_at(record)));
        }
        if !self.severity {
            put_number(log, 2, severity(record));
        }
        if !self.body {
            put_body(log, batch, record);
        }
    }
}

fn put_set(out: &mut Vec<u8>, number: u32, value: u64) {
    if value != 0 {
        put_number(out, number, value);
    }
}

/// A text or an id that is there. Text that is not UTF-8 no server takes.
fn put_given(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    match number {
        9 | 10 => put_bytes(out, number, bytes),
        _ => put_bytes(out, number, String::from_utf8_lossy(bytes).as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Item;
    use super::*;
    use ::record::{Context, Span, Stamp, ValueType};
    use std::sync::Arc;
    use wire::protobuf::{Value as Field, fields};

    fn composed_of(values: &[(&str, &[u8], ValueType)]) -> Vec<(u32, Vec<u8>)> {
        let context = Arc::new(Context::local("s", "here", "local+file"));
        let mut batch = Batch::new(b"hello".to_vec(), context, Stamp { secs: 2, usec: 0, offset: 0 });
        let mut record = Record::new(Span::new(0, 5));
        record.message = Span::new(0, 5);
        record.stamp = Stamp { secs: 1, usec: 0, offset: 0 };
        record.pri = 3;
        batch.records.push(record);
        for (name, value, kind) in values {
            batch.set(0, intern(name).expect("room"), value, *kind);
        }
        let mut out = Vec::new();
        assert_eq!(RecordWriter::new().put(&mut out, &batch, &batch.records[0]), Signal::Logs);
        let mut all: Vec<_> = fields(Item::read(&out).record)
            .map(|field| match field.expect("good") {
                (number, Field::Varint(value)) | (number, Field::Fixed64(value)) => {
                    (number, value.to_string().into_bytes())
                }
                (number, Field::Bytes(bytes)) => (number, bytes.to_vec()),
                (number, _) => (number, Vec::new()),
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn what_a_composed_record_does_not_say_is_the_messages() {
        let of = |number, bytes: &[u8]| (number, bytes.to_vec());
        let kind = (".otel.type", &b"log"[..], ValueType::String);
        assert_eq!(
            composed_of(&[kind]),
            [of(1, b"1000000000"), of(2, b"17"), of(5, b"\x0a\x05hello"), of(11, b"2000000000")]
        );
        let own = [
            kind,
            (".otel.log.time_unix_nano", b"0", ValueType::Int),
            (".otel.log.observed_time_unix_nano", b"7", ValueType::Int),
            (".otel.log.severity_number", b"0", ValueType::Int),
            (".otel.log.body", b"", ValueType::Null),
        ];
        assert_eq!(composed_of(&own), [of(1, b"0"), of(5, b""), of(11, b"7")]);
    }
}
