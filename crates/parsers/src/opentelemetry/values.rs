//! Values of records with their types, and the names they get.

use crate::found::Found;
use crate::learned::Learned;
use crate::names::Names;
use filter::span_in;
use record::{Batch, NameId, ValueType};
use std::io::Write;
use template::list;
use wire::protobuf::{Malformed, Value, fields};

/// Where values go.
pub struct Out<'a> {
    pub names: &'a Names,
    pub found: &'a mut Found,
    pub learned: &'a mut Learned,
    pub key: &'a mut Vec<u8>,
    /// For values whose text has to be made.
    pub text: &'a mut Vec<u8>,
    /// What stands in its text is not copied.
    pub batch: &'a Batch,
}

/// A value that stands in the batch's text, or a copy of one that does not.
#[inline]
fn put(found: &mut Found, batch: &Batch, (id, text, kind): (NameId, &[u8], ValueType)) {
    match span_in(batch, text).filter(|span| !span.is_empty()) {
        Some(span) => found.part(id, span.start as usize, span.end(), kind),
        None => found.text(id, text, kind),
    }
}

impl Out<'_> {
    pub fn put(&mut self, id: NameId, text: &[u8], kind: ValueType) {
        put(self.found, self.batch, (id, text, kind));
    }

    /// Sets `.otel.NAME`, when anybody reads it.
    pub fn text(&mut self, name: &str, text: &[u8], kind: ValueType) {
        if let Some(id) = self.names.of(name.as_bytes(), self.learned) {
            self.put(id, text, kind);
        }
    }

    /// Sets MESSAGE, and `.otel.NAME` when anybody reads it, to an `AnyValue`.
    pub fn message(&mut self, name: &str, value: &[u8]) -> Result<(), Malformed> {
        let (text, kind) = any_value(value, self.text)?;
        put(self.found, self.batch, (NameId::MESSAGE, text, kind));
        if let Some(id) = self.names.of(name.as_bytes(), self.learned) {
            put(self.found, self.batch, (id, text, kind));
        }
        Ok(())
    }

    pub fn number(&mut self, name: &str, number: u64) {
        self.print(name, ValueType::Int, |text| write!(text, "{number}"));
    }

    pub fn double(&mut self, name: &str, number: f64) {
        self.print(name, ValueType::Double, |text| write!(text, "{number}"));
    }

    fn print(
        &mut self,
        name: &str,
        kind: ValueType,
        print: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) {
        if let Some(id) = self.names.of(name.as_bytes(), self.learned) {
            self.text.clear();
            // Into memory, where nothing fails.
            let _ = print(self.text);
            self.found.text(id, self.text, kind);
        }
    }
}

/// An `AnyValue` as text and type; the text may be made in `made`.
pub fn any_value<'a>(value: &'a [u8], made: &'a mut Vec<u8>) -> Result<(&'a [u8], ValueType), Malformed> {
    made.clear();
    let Some(field) = fields(value).next() else { return Ok((&[], ValueType::Null)) };
    let mut print = |text: std::fmt::Arguments<'_>| {
        // Into memory, where nothing fails.
        let _ = made.write_fmt(text);
    };
    let kind = match field? {
        (1, Value::Bytes(text)) => return Ok((text, ValueType::String)),
        (7, Value::Bytes(bytes)) => return Ok((bytes, ValueType::Bytes)),
        (2, Value::Varint(truth)) => {
            print(format_args!("{}", truth != 0));
            ValueType::Boolean
        }
        (3, Value::Varint(number)) => {
            print(format_args!("{}", number as i64));
            ValueType::Int
        }
        (4, Value::Fixed64(bits)) => {
            print(format_args!("{}", f64::from_bits(bits)));
            ValueType::Double
        }
        (5, Value::Bytes(array)) if list_of_texts(array, made)? => ValueType::List,
        _ => return Ok((value, ValueType::Protobuf)),
    };
    Ok((made, kind))
}

/// Writes an array of texts as a list; `false` when it has something else in it.
fn list_of_texts(array: &[u8], out: &mut Vec<u8>) -> Result<bool, Malformed> {
    let mut first = true;
    for field in fields(array) {
        let (1, Value::Bytes(item)) = field? else { continue };
        match fields(item).next() {
            Some(Ok((1, Value::Bytes(text)))) => list::push(text, &mut first, out),
            Some(Err(malformed)) => return Err(malformed),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Key and value of a `KeyValue`.
fn pair(entry: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let (mut key, mut value) = (&[][..], &[][..]);
    for field in fields(entry) {
        match field? {
            (1, Value::Bytes(bytes)) => key = bytes,
            (2, Value::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((key, value))
}

/// Each attribute in a field of a message becomes a value; `prefix` stands before its key.
pub fn attributes(message: &[u8], number: u32, prefix: &[&str], out: &mut Out<'_>) -> Result<(), Malformed> {
    if out.names.is_none() {
        return Ok(());
    }
    for field in fields(message) {
        let (n, Value::Bytes(entry)) = field? else { continue };
        if n != number {
            continue;
        }
        let (key, value) = pair(entry)?;
        out.key.clear();
        prefix.iter().for_each(|part| out.key.extend_from_slice(part.as_bytes()));
        out.key.extend_from_slice(key);
        if let Some(id) = out.names.of(out.key, out.learned) {
            let (text, kind) = any_value(value, out.text)?;
            put(out.found, out.batch, (id, text, kind));
        }
    }
    Ok(())
}

/// The attribute of this key, where it is a text.
pub fn text_attribute<'a>(
    message: &'a [u8],
    number: u32,
    wanted: &[u8],
) -> Result<Option<&'a [u8]>, Malformed> {
    for field in fields(message) {
        let (n, Value::Bytes(entry)) = field? else { continue };
        let (key, value) = pair(entry)?;
        if n == number && key == wanted {
            return Ok(match fields(value).next() {
                Some(Ok((1, Value::Bytes(text)))) => Some(text),
                _ => None,
            });
        }
    }
    Ok(None)
}
