//! Log records.

use super::Head;
use super::values::{Out, attributes};
use record::{Record, Stamp, ValueType};
use wire::protobuf::{Malformed, Value, fields};

/// Severities of syslog by `SeverityNumber`, four of each name, as AxoSyslog has them: TRACE is a notice.
const SEVERITIES: [u16; 25] = [6, 5, 5, 5, 5, 7, 7, 7, 7, 6, 6, 6, 6, 4, 4, 4, 4, 3, 3, 3, 3, 0, 1, 2, 0];
/// Facility `user`.
const FACILITY: u16 = 1 << 3;

pub fn stamp(nanoseconds: u64, offset: i32) -> Option<Stamp> {
    (nanoseconds > 0).then_some(Stamp {
        secs: (nanoseconds / 1_000_000_000) as i64,
        usec: (nanoseconds % 1_000_000_000 / 1000) as u32,
        offset,
    })
}

pub(super) fn take_apart(log: &[u8], record: &Record, out: &mut Out<'_>) -> Result<Head, Malformed> {
    let (mut time, mut observed, mut severity, mut dropped, mut flags) = (0, 0, 0, 0, 0);
    let (mut severity_text, mut body, mut event) = (&[][..], &[][..], &[][..]);
    let mut ids = [&[][..]; 2];
    for field in fields(log) {
        match field? {
            (1, Value::Fixed64(nanoseconds)) => time = nanoseconds,
            (2, Value::Varint(number)) => severity = number,
            (3, Value::Bytes(text)) => severity_text = text,
            (5, Value::Bytes(value)) => body = value,
            (7, Value::Varint(count)) => dropped = count,
            (8, Value::Fixed32(bits)) => flags = u64::from(bits),
            (9, Value::Bytes(id)) => ids[0] = id,
            (10, Value::Bytes(id)) => ids[1] = id,
            (11, Value::Fixed64(nanoseconds)) => observed = nanoseconds,
            (12, Value::Bytes(name)) => event = name,
            _ => {}
        }
    }
    out.number("log.time_unix_nano", time);
    out.number("log.observed_time_unix_nano", observed);
    out.number("log.severity_number", severity);
    out.text("log.severity_text", severity_text, ValueType::String);
    out.message("log.body", body)?;
    attributes(log, 6, &["log.attributes."], out)?;
    out.number("log.dropped_attributes_count", dropped);
    out.number("log.flags", flags);
    out.text("log.trace_id", ids[0], ValueType::Bytes);
    out.text("log.span_id", ids[1], ValueType::Bytes);
    if !event.is_empty() {
        out.text("log.event_name", event, ValueType::String);
    }
    let severity = usize::try_from(severity).ok().and_then(|number| SEVERITIES.get(number)).unwrap_or(&6);
    Ok(Head {
        is_log: true,
        stamp: stamp(time, record.stamp.offset),
        received: stamp(observed, record.stamp.offset),
        pri: Some(FACILITY | severity),
    })
}
