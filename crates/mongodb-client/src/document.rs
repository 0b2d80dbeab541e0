//! A message as a document (BSON): names with dots become documents in one another, values keep their types.

use flight::{Pair, Pairs, pairs};
use record::{ValueType, datetime_seconds};
use std::borrow::Cow;
use template::list::Items;

/// Documents in one another; names with more dots keep the rest of them.
const DEPTH_MAX: usize = 32;
/// Of the document's id in `fields`.
pub const ID_BYTES: usize = 12;

mod kind {
    pub const DOUBLE: u8 = 0x01;
    pub const TEXT: u8 = 0x02;
    pub const DOCUMENT: u8 = 0x03;
    pub const ARRAY: u8 = 0x04;
    pub const BINARY: u8 = 0x05;
    pub const OBJECT_ID: u8 = 0x07;
    pub const BOOLEAN: u8 = 0x08;
    pub const TIME: u8 = 0x09;
    pub const NULL: u8 = 0x0a;
    pub const INT: u8 = 0x10;
    pub const LONG: u8 = 0x12;
}

/// Writes documents. What is begun has to be ended.
pub struct Writer<'a>(pub &'a mut Vec<u8>);

impl Writer<'_> {
    /// Begins a document; returns where, for [`Writer::end`].
    pub fn begin(&mut self) -> usize {
        self.0.extend_from_slice(&[0; 4]);
        self.0.len() - 4
    }

    pub fn end(&mut self, begin: usize) {
        self.0.push(0);
        let length = (self.0.len() - begin) as i32;
        if let Some(place) = self.0.get_mut(begin..begin + 4) {
            place.copy_from_slice(&length.to_le_bytes());
        }
    }

    /// The name of a field, which cannot have a NUL in it.
    fn key(&mut self, kind: u8, name: &[u8]) {
        self.0.push(kind);
        // Without a branch in it, so that it is done many bytes at a time.
        let is_odd = name.iter().fold(false, |found, byte| found | (*byte == 0) | (*byte >= 0x80));
        if is_odd {
            let name = String::from_utf8_lossy(name).replace('\0', "\u{fffd}");
            self.0.extend_from_slice(name.as_bytes());
        } else {
            self.0.extend_from_slice(name);
        }
        self.0.push(0);
    }

    fn text_value(&mut self, text: &[u8]) {
        // Most is as it should be, and seen to be so many bytes at a time.
        let text = match std::str::from_utf8(text) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(text),
        };
        self.0.extend_from_slice(&(text.len() as i32 + 1).to_le_bytes());
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(0);
    }

    pub fn text(&mut self, name: &[u8], text: &[u8]) {
        self.key(kind::TEXT, name);
        self.text_value(text);
    }

    pub fn boolean(&mut self, name: &str, value: bool) {
        self.key(kind::BOOLEAN, name.as_bytes());
        self.0.push(u8::from(value));
    }

    pub fn int(&mut self, name: &str, value: i32) {
        self.key(kind::INT, name.as_bytes());
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn begin_document(&mut self, name: &[u8]) -> usize {
        self.key(kind::DOCUMENT, name);
        self.begin()
    }

    pub fn begin_array(&mut self, name: &str) -> usize {
        self.key(kind::ARRAY, name.as_bytes());
        self.begin()
    }

    /// A document in an array.
    pub fn begin_item(&mut self, at: usize) -> usize {
        self.0.push(kind::DOCUMENT);
        self.number(at);
        self.begin()
    }

    /// A name that is a number.
    fn number(&mut self, at: usize) {
        let mut digits = [0u8; 20];
        let (mut number, mut first) = (at, digits.len());
        for (at, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            first = at;
            if number == 0 {
                break;
            }
        }
        self.0.extend_from_slice(digits.get(first..).unwrap_or_default());
        self.0.push(0);
    }

    /// A value that is not of its type is a text.
    fn value(&mut self, name: &[u8], Pair { kind, value, .. }: Pair<'_>) {
        let text = || std::str::from_utf8(value).ok().map(str::trim);
        let seconds = || std::str::from_utf8(datetime_seconds(value.trim_ascii())).ok();
        let fixed: Option<(u8, [u8; 8])> = match kind {
            ValueType::Int => {
                text().and_then(|text| text.parse().ok()).map(|n: i64| (kind::LONG, n.to_le_bytes()))
            }
            ValueType::Double => {
                text().and_then(|text| text.parse().ok()).map(|n: f64| (kind::DOUBLE, n.to_le_bytes()))
            }
            ValueType::DateTime => seconds().and_then(milliseconds).map(|n| (kind::TIME, n.to_le_bytes())),
            _ => None,
        };
        if let Some((kind, bytes)) = fixed {
            self.key(kind, name);
            self.0.extend_from_slice(&bytes);
            return;
        }
        match (kind, value.first()) {
            (ValueType::Boolean, Some(b'T' | b't' | b'1')) => {
                self.key(kind::BOOLEAN, name);
                self.0.push(1);
            }
            (ValueType::Boolean, Some(b'F' | b'f' | b'0')) => {
                self.key(kind::BOOLEAN, name);
                self.0.push(0);
            }
            (ValueType::Null, _) => self.key(kind::NULL, name),
            (ValueType::Bytes | ValueType::Protobuf, _) => {
                self.key(kind::BINARY, name);
                self.0.extend_from_slice(&(value.len() as i32).to_le_bytes());
                // The generic subtype.
                self.0.push(0);
                self.0.extend_from_slice(value);
            }
            (ValueType::List, _) => {
                self.key(kind::ARRAY, name);
                let begin = self.begin();
                let (mut items, mut buffer, mut at) = (Items::of(value), Vec::new(), 0);
                while let Some(item) = items.next(&mut buffer) {
                    self.0.push(kind::TEXT);
                    self.number(at);
                    self.text_value(item);
                    at += 1;
                }
                self.end(begin);
            }
            _ => self.text(name, value),
        }
    }
}

/// Unix time with a fraction, as milliseconds.
fn milliseconds(text: &str) -> Option<i64> {
    let (seconds, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(3);
    let fraction = digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let whole = seconds.parse::<i64>().ok()?.checked_mul(1000)?;
    if seconds.starts_with('-') { whole.checked_sub(fraction) } else { whole.checked_add(fraction) }
}

/// The fields of a document whose pairs come in the order of their names. `id`: its `_id`, unless one of the
/// pairs has that name.
pub fn fields(to: &mut Writer<'_>, id: &[u8], field: &[u8]) {
    let all = pairs(field);
    // Of one below it, a document is made that is the id.
    if id.len() == ID_BYTES && !all.clone().any(|pair| pair.name == b"_id" || pair.name.starts_with(b"_id."))
    {
        to.key(kind::OBJECT_ID, b"_id");
        to.0.extend_from_slice(id);
    }
    // Documents that are begun, and how much of the name each stands for, its dot included.
    let mut open: Vec<(usize, &[u8])> = Vec::new();
    for pair in all.clone() {
        while let Some((begin, prefix)) = open.last()
            && !pair.name.starts_with(prefix)
        {
            to.end(*begin);
            open.pop();
        }
        let mut from = open.last().map_or(0, |(_, prefix)| prefix.len());
        while open.len() < DEPTH_MAX
            && let Some(dot) = pair.name.get(from..).and_then(|rest| rest.iter().position(|b| *b == b'.'))
        {
            let (parent, prefix) = (pair.name.split_at(from + dot).0, pair.name.split_at(from + dot + 1).0);
            // It is a value already: what is below it keeps its dots.
            if has(&all, parent) {
                break;
            }
            let begin = to.begin_document(parent.get(from..).unwrap_or_default());
            open.push((begin, prefix));
            from = prefix.len();
        }
        to.value(pair.name.get(from..).unwrap_or_default(), pair);
    }
    open.into_iter().rev().for_each(|(begin, _)| to.end(begin));
}

fn has(all: &Pairs<'_>, name: &[u8]) -> bool {
    all.clone().any(|pair| pair.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mongodb::bson::{Bson, Document, RawDocumentBuf, doc};

    fn made(id: &[u8], all: &[(&str, ValueType, &[u8])]) -> Document {
        let mut field = Vec::new();
        all.iter().for_each(|(name, kind, value)| flight::put_pair(&mut field, name, *kind, value));
        let mut bytes = Vec::new();
        let mut to = Writer(&mut bytes);
        let begin = to.begin();
        fields(&mut to, id, &field);
        to.end(begin);
        let raw = RawDocumentBuf::from_bytes(bytes).expect("a document");
        Document::try_from(raw.as_ref()).expect("whole")
    }

    #[test]
    fn values_have_their_types() {
        use ValueType::*;
        let made = made(
            &[7; ID_BYTES],
            &[
                ("a", Int, b" -5 "),
                ("b", Int, b"five"),
                ("c", Double, b"2.5"),
                ("d", Boolean, b"true"),
                ("e", DateTime, b"1700000000.0625"),
                ("e2", DateTime, b"1700000000.062500-05:30"),
                ("f", List, b"x,\"y,z\",\xff"),
                ("g", Null, b"x"),
                ("h", Bytes, b"\0\xff"),
                ("i", Json, b"{\"a\":1}"),
                ("j", String, b"a\0\xffb"),
            ],
        );
        let id = Bson::ObjectId(mongodb::bson::oid::ObjectId::from_bytes([7; 12]));
        let time = Bson::DateTime(mongodb::bson::DateTime::from_millis(1_700_000_000_062));
        let bytes = mongodb::bson::Binary {
            subtype: mongodb::bson::spec::BinarySubtype::Generic,
            bytes: vec![0, 0xff],
        };
        let expected = doc! {
            "_id": id, "a": -5i64, "b": "five", "c": 2.5, "d": true, "e": time.clone(), "e2": time, "f": ["x", "y,z", "\u{fffd}"],
            "g": Bson::Null, "h": bytes, "i": "{\"a\":1}", "j": "a\0\u{fffd}b",
        };
        assert_eq!(made, expected);
    }

    #[test]
    fn names_with_dots_are_documents() {
        let check = |names: &[&str], expected: Document| {
            let all: Vec<_> = names.iter().map(|name| (*name, ValueType::String, name.as_bytes())).collect();
            assert_eq!(made(b"", &all), expected, "{names:?}");
        };
        check(
            &["a.b.c", "a.b.d", "a.e", "f"],
            doc! {
                "a": { "b": { "c": "a.b.c", "d": "a.b.d" }, "e": "a.e" }, "f": "f",
            },
        );
        // One name is a value and has others below it.
        check(&["a", "a-b", "a.b", "a.c.d"], doc! { "a": "a", "a-b": "a-b", "a.b": "a.b", "a.c.d": "a.c.d" });
        check(&["a.b", "ab.c"], doc! { "a": { "b": "a.b" }, "ab": { "c": "ab.c" } });
        check(&["a..b", "a.x."], doc! { "a": { "": { "b": "a..b" }, "x": { "": "a.x." } } });
        let deep = vec!["x"; 200].join(".");
        assert_eq!(made(b"", &[(&deep, ValueType::String, b"y")]).len(), 1);
    }

    #[test]
    fn an_id_of_the_message_counts() {
        let made = made(&[1; ID_BYTES], &[("_id", ValueType::String, b"own")]);
        assert_eq!(made, doc! { "_id": "own" });
        let made = self::made(
            &[1; ID_BYTES],
            &[("_id.$oid", ValueType::String, b"5f"), ("a", ValueType::Int, b"1")],
        );
        assert_eq!(made, doc! { "_id": { "$oid": "5f" }, "a": 1i64 });
    }

    #[test]
    fn times() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1.5", Some(1500)),
            ("-1.25", Some(-1250)),
            ("7.0009999", Some(7000)),
            ("1.x", None),
            ("x", None),
            ("9223372036854775807", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}
