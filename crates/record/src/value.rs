//! Name-value pairs of a record: a list that is only prepended to, so an older copy of the record still sees
//! its own list.

use crate::Span;
use crate::names::NameId;

/// The types of syslog-ng 4 values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueType {
    #[default]
    String,
    Json,
    Boolean,
    Int,
    Double,
    DateTime,
    List,
    Null,
    Bytes,
    Protobuf,
}

/// The seconds, with their fraction, in the text of a datetime: `1500000000.25+01:00` without the offset that
/// the time is shown in. A text with anything else behind a number stays what it is.
pub fn datetime_seconds(text: &[u8]) -> &[u8] {
    let digits = |part: &[u8]| matches!(part.len(), 1 | 2) && part.iter().all(u8::is_ascii_digit);
    let is_sign = |byte: &u8| matches!(byte, b'+' | b'-');
    // The first byte may be the sign of the number.
    let Some(at) = text.iter().skip(1).position(is_sign).map(|at| at + 1) else { return text };
    let (seconds, offset) = text.split_at(at);
    let mut parts = offset.get(1..).unwrap_or_default().split(|byte| *byte == b':');
    let is_offset =
        parts.next().is_some_and(digits) && parts.next().is_some_and(digits) && parts.next().is_none();
    if is_offset { seconds } else { text }
}

/// A value as read: its bytes and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    pub bytes: &'a [u8],
    pub kind: ValueType,
}

impl<'a> Value<'a> {
    pub fn string(bytes: &'a [u8]) -> Value<'a> {
        Value { bytes, kind: ValueType::String }
    }
}

/// Index of an entry in its batch; `NONE` ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(pub u32);

impl Link {
    pub const NONE: Link = Link(u32::MAX);
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub name: NameId,
    pub span: Span,
    /// `None` marks a name that was unset.
    pub kind: Option<ValueType>,
    pub next: Link,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datetimes_have_an_offset_or_none() {
        for (text, seconds) in [
            ("1500000000.25+01:00", "1500000000.25"),
            ("1500000000-05:30", "1500000000"),
            ("-1.5+00:00", "-1.5"),
            ("1.5", "1.5"),
            ("-1", "-1"),
            ("", ""),
            ("+", "+"),
            ("1.5+0100", "1.5+0100"),
            ("1.5+01:00:00", "1.5+01:00:00"),
            ("1.5+:00", "1.5+:00"),
            ("1e-5", "1e-5"),
        ] {
            assert_eq!(datetime_seconds(text.as_bytes()), seconds.as_bytes(), "{text}");
        }
    }
}
