//! Messages of OpenTelemetry's protocol from bytes and to bytes.

use super::fields::{self, Kind};
use crate::run::{Eval, Halt, Run};
use value::{Node, Otel, Value};
use wire::protobuf::{self, Value as Raw};

/// Values inside one another.
const DEPTH_MAX: usize = 100;

/// A message from its bytes.
pub fn read(run: &mut Run<'_>, kind: Otel, bytes: &[u8]) -> Eval {
    match kind {
        Otel::KvList | Otel::Array => {
            let node = elements(run, kind, bytes, 0)?;
            Ok(Value::Otel(kind, node))
        }
        _ => message(run, kind, bytes),
    }
}

fn malformed<T>(run: &mut Run<'_>) -> Result<T, Halt> {
    run.error("Failed to create OTel object: Failed to parse from protobuf object")
}

fn message(run: &mut Run<'_>, kind: Otel, bytes: &[u8]) -> Eval {
    let made = super::empty(run, kind)?;
    let Some(node) = made.node() else { return Ok(made) };
    for field in protobuf::fields(bytes) {
        let Ok((number, raw)) = field else { return malformed(run) };
        let Some(at) = fields::of(kind).iter().position(|field| field.number == number) else { continue };
        let Some(known) = fields::of(kind).get(at) else { continue };
        let cell = 2 * at + 1;
        let value = match (known.kind, raw) {
            (Kind::Text, Raw::Bytes(text)) => run.string(text)?,
            (Kind::Bytes, Raw::Bytes(bytes)) => Value::Bytes(run.place(bytes)?),
            (Kind::Any, Raw::Bytes(bytes)) => any(run, bytes, 0)?,
            (Kind::Attributes, Raw::Bytes(bytes)) => {
                if let Some(list) = run.batch.trees.cell(node, cell).and_then(Value::node) {
                    pair(run, list, bytes, 0)?;
                }
                continue;
            }
            (Kind::Severity | Kind::Uint32, Raw::Varint(n)) => Value::Integer(n as i64),
            (Kind::Fixed32, Raw::Fixed32(n)) => Value::Integer(i64::from(n)),
            (Kind::Time, Raw::Fixed64(n)) => Value::Integer(n as i64),
            _ => return malformed(run),
        };
        run.trees().set_cell(node, cell, value);
    }
    Ok(made)
}

/// The content of an ArrayValue or KeyValueList.
fn elements(run: &mut Run<'_>, kind: Otel, bytes: &[u8], depth: usize) -> Result<Node, Halt> {
    let list = run.new_dict()?;
    for field in protobuf::fields(bytes) {
        match field {
            Ok((1, Raw::Bytes(bytes))) if kind == Otel::Array => {
                let value = any(run, bytes, depth + 1)?;
                if run.trees().push(list, value).is_err() {
                    return run.full();
                }
            }
            Ok((1, Raw::Bytes(bytes))) => pair(run, list, bytes, depth)?,
            Ok(_) => {}
            Err(_) => return malformed(run),
        }
    }
    Ok(list)
}

/// A KeyValue, appended.
fn pair(run: &mut Run<'_>, list: Node, bytes: &[u8], depth: usize) -> Result<(), Halt> {
    let (mut key, mut value) = (&[][..], Value::Null);
    for field in protobuf::fields(bytes) {
        match field {
            Ok((1, Raw::Bytes(text))) => key = text,
            Ok((2, Raw::Bytes(bytes))) => value = any(run, bytes, depth + 1)?,
            Ok(_) => {}
            Err(_) => return malformed(run),
        }
    }
    run.set_text(list, key, value)
}

/// An AnyValue.
fn any(run: &mut Run<'_>, bytes: &[u8], depth: usize) -> Eval {
    if depth > DEPTH_MAX {
        return run.error("Failed to create OTel object: values too deep inside one another");
    }
    let mut value = Value::Null;
    for field in protobuf::fields(bytes) {
        value = match field {
            Ok((1, Raw::Bytes(text))) => run.string(text)?,
            Ok((2, Raw::Varint(b))) => Value::Boolean(b != 0),
            Ok((3, Raw::Varint(n))) => Value::Integer(n as i64),
            Ok((4, Raw::Fixed64(bits))) => Value::Double(f64::from_bits(bits)),
            Ok((5, Raw::Bytes(bytes))) => Value::Otel(Otel::Array, elements(run, Otel::Array, bytes, depth)?),
            Ok((6, Raw::Bytes(bytes))) => {
                Value::Otel(Otel::KvList, elements(run, Otel::KvList, bytes, depth)?)
            }
            Ok((7, Raw::Bytes(bytes))) => Value::Bytes(run.place(bytes)?),
            Ok(_) => value,
            Err(_) => return malformed(run),
        };
    }
    Ok(value)
}

/// Appends the bytes of a message.
pub fn put_otel(run: &Run<'_>, kind: Otel, node: Node, out: &mut Vec<u8>) {
    let cells = run.batch.trees.cells(node);
    match kind {
        Otel::KvList => put_pairs(run, 1, cells, out),
        Otel::Array => {
            for item in cells {
                protobuf::put_message(out, 1, |out| put_any(run, *item, out));
            }
        }
        _ => {
            for (field, pair) in fields::of(kind).iter().zip(cells.chunks_exact(2)) {
                put_field(run, field, pair.get(1).copied().unwrap_or_default(), out);
            }
        }
    }
}

fn put_field(run: &Run<'_>, field: &fields::Field, value: Value, out: &mut Vec<u8>) {
    let number = field.number;
    match (field.kind, value) {
        (Kind::Any, Value::Null) => {}
        (Kind::Any, value) => protobuf::put_message(out, number, |out| put_any(run, value, out)),
        (Kind::Attributes, value) => put_pairs(run, number, run.cells(value), out),
        (_, Value::Integer(0)) => {}
        (Kind::Time, Value::Integer(n)) => protobuf::put_fixed64(out, number, n as u64),
        (Kind::Fixed32, Value::Integer(n)) => protobuf::put_fixed32(out, number, n as u32),
        (_, Value::Integer(n)) => protobuf::put_number(out, number, n as u64),
        (_, value) => match run.bytes(value) {
            [] => {}
            bytes => protobuf::put_bytes(out, number, bytes),
        },
    }
}

fn put_pairs(run: &Run<'_>, number: u32, cells: &[Value], out: &mut Vec<u8>) {
    for pair in cells.chunks_exact(2) {
        protobuf::put_message(out, number, |out| {
            protobuf::put_bytes(out, 1, run.bytes(pair[0]));
            protobuf::put_message(out, 2, |out| put_any(run, pair[1], out));
        });
    }
}

fn put_any(run: &Run<'_>, value: Value, out: &mut Vec<u8>) {
    match value {
        Value::String(span) => protobuf::put_bytes(out, 1, run.batch.bytes(span)),
        Value::Boolean(b) => protobuf::put_number(out, 2, u64::from(b)),
        Value::Integer(n) => protobuf::put_number(out, 3, n as u64),
        Value::Double(n) => protobuf::put_fixed64(out, 4, n.to_bits()),
        Value::Otel(Otel::Array, node) => {
            protobuf::put_message(out, 5, |out| put_otel(run, Otel::Array, node, out));
        }
        Value::Otel(_, node) => protobuf::put_message(out, 6, |out| put_otel(run, Otel::KvList, node, out)),
        Value::Bytes(span) | Value::Protobuf(span) => protobuf::put_bytes(out, 7, run.batch.bytes(span)),
        _ => {}
    }
}
