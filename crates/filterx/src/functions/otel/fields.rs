//! The messages of OpenTelemetry's protocol: their fields, as numbered in its public document.

use value::Otel;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Bytes,
    /// Any value: `body`.
    Any,
    Attributes,
    Severity,
    Uint32,
    Fixed32,
    /// Nanoseconds since 1970.
    Time,
}

pub struct Field {
    pub name: &'static str,
    pub number: u32,
    pub kind: Kind,
}

const fn field(name: &'static str, number: u32, kind: Kind) -> Field {
    Field { name, number, kind }
}

/// Times come first: see [`is_otel_time`].
const LOG_RECORD: &[Field] = &[
    field("time_unix_nano", 1, Kind::Time),
    field("observed_time_unix_nano", 11, Kind::Time),
    field("severity_number", 2, Kind::Severity),
    field("severity_text", 3, Kind::Text),
    field("body", 5, Kind::Any),
    field("attributes", 6, Kind::Attributes),
    field("dropped_attributes_count", 7, Kind::Uint32),
    field("flags", 8, Kind::Fixed32),
    field("trace_id", 9, Kind::Bytes),
    field("span_id", 10, Kind::Bytes),
    field("event_name", 12, Kind::Text),
];

const RESOURCE: &[Field] =
    &[field("attributes", 1, Kind::Attributes), field("dropped_attributes_count", 2, Kind::Uint32)];

const SCOPE: &[Field] = &[
    field("name", 1, Kind::Text),
    field("version", 2, Kind::Text),
    field("attributes", 3, Kind::Attributes),
    field("dropped_attributes_count", 4, Kind::Uint32),
];

/// The fields of a message; none for lists.
pub fn of(kind: Otel) -> &'static [Field] {
    match kind {
        Otel::LogRecord => LOG_RECORD,
        Otel::Resource => RESOURCE,
        Otel::Scope => SCOPE,
        Otel::KvList | Otel::Array => &[],
    }
}

/// Whether a cell of a log record has one of its times: names and values stand by turns.
pub fn is_otel_time(cell: usize) -> bool {
    matches!(cell, 1 | 3)
}
