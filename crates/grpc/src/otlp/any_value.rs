//! `AnyValue`: a value of a message with its type.

use ::record::{Value, ValueType};
use template::list;
use wire::protobuf::{fields, put_bytes, put_fixed64, put_message, put_number};

/// The field of a text, of bytes.
pub const STRING: u32 = 1;
pub const BYTES: u32 = 7;

/// Writes a value. A text that is not UTF-8 goes as bytes: a server refuses the whole request for it.
pub fn put(out: &mut Vec<u8>, Value { bytes, kind }: Value<'_>) {
    let text = || std::str::from_utf8(bytes).unwrap_or_default();
    match kind {
        ValueType::Null => {}
        ValueType::Bytes => put_bytes(out, BYTES, bytes),
        // It is one already.
        ValueType::Protobuf if fields(bytes).all(|field| field.is_ok()) => out.extend_from_slice(bytes),
        ValueType::Protobuf => put_bytes(out, BYTES, bytes),
        ValueType::Boolean => match text() {
            "true" | "True" | "yes" | "y" | "on" | "1" | "t" | "T" => put_number(out, 2, 1),
            _ => put_number(out, 2, 0),
        },
        ValueType::Int => match text().parse::<i64>() {
            Ok(value) => put_number(out, 3, value as u64),
            Err(_) => put_text(out, bytes),
        },
        ValueType::Double => match text().parse::<f64>() {
            Ok(value) => put_fixed64(out, 4, value.to_bits()),
            Err(_) => put_text(out, bytes),
        },
        ValueType::List => put_message(out, 5, |array| {
            let (mut items, mut item) = (list::Items::of(bytes), Vec::new());
            while items.next_into(&mut item) {
                put_message(array, 1, |value| put_text(value, &item));
            }
        }),
        ValueType::String | ValueType::Json | ValueType::DateTime => put_text(out, bytes),
    }
}

fn put_text(out: &mut Vec<u8>, bytes: &[u8]) {
    let number = if std::str::from_utf8(bytes).is_ok() { STRING } else { BYTES };
    put_bytes(out, number, bytes);
}

/// A `KeyValue`: a name that is not UTF-8 is made so.
pub fn put_pair(out: &mut Vec<u8>, number: u32, name: &str, put_value: impl FnOnce(&mut Vec<u8>)) {
    put_message(out, number, |pair| {
        put_bytes(pair, 1, name.as_bytes());
        put_message(pair, 2, put_value);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: ValueType, bytes: &[u8], expected: &[u8]) {
        let mut out = Vec::new();
        put(&mut out, Value { bytes, kind });
        assert_eq!(out, expected, "{kind:?} {bytes:?}");
    }

    #[test]
    fn types() {
        check(ValueType::String, b"ab", b"\x0a\x02ab");
        check(ValueType::String, b"\xff", b"\x3a\x01\xff");
        check(ValueType::Boolean, b"true", b"\x10\x01");
        check(ValueType::Int, b"-1", b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
        check(ValueType::Int, b"many", b"\x0a\x04many");
        check(ValueType::Double, b"1", b"\x21\0\0\0\0\0\0\xf0\x3f");
        check(ValueType::List, b"a,\"b,c\"", b"\x2a\x0c\x0a\x03\x0a\x01a\x0a\x05\x0a\x03b,c");
        check(ValueType::Null, b"", b"");
        check(ValueType::Protobuf, b"\x10\x01", b"\x10\x01");
        check(ValueType::Protobuf, b"\x10", b"\x3a\x01\x10");
    }
}
