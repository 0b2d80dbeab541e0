//! Spans of traces.

use super::values::{Out, attributes};
use record::ValueType;
use wire::protobuf::{Malformed, Value, fields};

/// Events and links of a span that become values.
const NESTED_MAX: usize = 1000;

pub(super) fn take_apart(span: &[u8], out: &mut Out<'_>) -> Result<(), Malformed> {
    let (mut events, mut links) = (0, 0);
    let mut status = (&[][..], 0);
    for field in fields(span) {
        match field? {
            (1, Value::Bytes(id)) => out.text("span.trace_id", id, ValueType::Bytes),
            (2, Value::Bytes(id)) => out.text("span.span_id", id, ValueType::Bytes),
            (3, Value::Bytes(text)) => out.text("span.trace_state", text, ValueType::String),
            (4, Value::Bytes(id)) => out.text("span.parent_span_id", id, ValueType::Bytes),
            (5, Value::Bytes(text)) => out.text("span.name", text, ValueType::String),
            (6, Value::Varint(kind)) => out.number("span.kind", kind),
            (7, Value::Fixed64(time)) => out.number("span.start_time_unix_nano", time),
            (8, Value::Fixed64(time)) => out.number("span.end_time_unix_nano", time),
            (10, Value::Varint(count)) => out.number("span.dropped_attributes_count", count),
            (11, Value::Bytes(message)) if events < NESTED_MAX => {
                event(message, &format!("span.events.{events}."), out)?;
                events += 1;
            }
            (12, Value::Varint(count)) => out.number("span.dropped_events_count", count),
            (13, Value::Bytes(message)) if links < NESTED_MAX => {
                link(message, &format!("span.links.{links}."), out)?;
                links += 1;
            }
            (14, Value::Varint(count)) => out.number("span.dropped_links_count", count),
            (15, Value::Bytes(message)) => status = read_status(message)?,
            (16, Value::Fixed32(flags)) => out.number("span.flags", u64::from(flags)),
            _ => {}
        }
    }
    out.text("span.status.message", status.0, ValueType::String);
    out.number("span.status.code", status.1);
    attributes(span, 9, &["span.attributes."], out)
}

fn read_status(message: &[u8]) -> Result<(&[u8], u64), Malformed> {
    let mut status = (&[][..], 0);
    for field in fields(message) {
        match field? {
            (2, Value::Bytes(text)) => status.0 = text,
            (3, Value::Varint(code)) => status.1 = code,
            _ => {}
        }
    }
    Ok(status)
}

fn event(message: &[u8], prefix: &str, out: &mut Out<'_>) -> Result<(), Malformed> {
    for field in fields(message) {
        match field? {
            (1, Value::Fixed64(time)) => out.number(&format!("{prefix}time_unix_nano"), time),
            (2, Value::Bytes(text)) => out.text(&format!("{prefix}name"), text, ValueType::String),
            (4, Value::Varint(count)) => out.number(&format!("{prefix}dropped_attributes_count"), count),
            _ => {}
        }
    }
    attributes(message, 3, &[prefix, "attributes."], out)
}

fn link(message: &[u8], prefix: &str, out: &mut Out<'_>) -> Result<(), Malformed> {
    for field in fields(message) {
        match field? {
            (1, Value::Bytes(id)) => out.text(&format!("{prefix}trace_id"), id, ValueType::Bytes),
            (2, Value::Bytes(id)) => out.text(&format!("{prefix}span_id"), id, ValueType::Bytes),
            (3, Value::Bytes(text)) => out.text(&format!("{prefix}trace_state"), text, ValueType::String),
            (5, Value::Varint(count)) => out.number(&format!("{prefix}dropped_attributes_count"), count),
            (6, Value::Fixed32(flags)) => out.number(&format!("{prefix}flags"), u64::from(flags)),
            _ => {}
        }
    }
    attributes(message, 4, &[prefix, "attributes."], out)
}
