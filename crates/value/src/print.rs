//! Values as text: JSON, the form in which the language shows them, and what becomes of them as strings.

use crate::number::{put_double, put_integer};
use crate::trees::Trees;
use crate::word::{HIGH, LOW, equal};
use crate::{Moment, Otel, Span, Value};

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `format_json()`.
    Json,
    /// `repr()`, and what is inside containers of a string.
    Repr,
    /// `string()`.
    Text,
}

pub const JSON: Style = Style::Json;
pub const REPR: Style = Style::Repr;
pub const TEXT: Style = Style::Text;

/// Containers inside one another that are printed; what is deeper is `null`.
const DEPTH_MAX: usize = 2000;

/// Prints values of one batch.
#[derive(Clone, Copy)]
pub struct Print<'a> {
    pub text: &'a [u8],
    pub trees: &'a Trees,
    pub style: Style,
}

impl Print<'_> {
    pub fn put(self, value: Value, out: &mut Vec<u8>) {
        match (value, self.style) {
            (Value::String(span) | Value::Bytes(span) | Value::Protobuf(span), Style::Text) => {
                out.extend_from_slice(span.of(self.text));
            }
            (Value::Datetime { source, offset, micros }, Style::Text) => {
                Moment { micros, offset, source }.put(out);
            }
            (value, Style::Text) => Print { style: Style::Repr, ..self }.inner(value, out, 0),
            (value, _) => self.inner(value, out, 0),
        }
    }

    fn inner(self, value: Value, out: &mut Vec<u8>, depth: usize) {
        match value {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Boolean(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
            Value::Integer(n) => put_integer(n, out),
            Value::Double(n) if self.style == Style::Json && !n.is_finite() => out.extend_from_slice(b"null"),
            Value::Double(n) => put_double(n, out),
            Value::String(span) => put_string(span.of(self.text), out),
            Value::Json(span) => out.extend_from_slice(span.of(self.text)),
            Value::Dict(node) | Value::List(node) | Value::Tuple(node) | Value::Labels(node) => {
                if depth >= DEPTH_MAX {
                    out.extend_from_slice(b"null");
                    return;
                }
                match value {
                    Value::Dict(_) => self.dict(self.trees.cells(node), out, depth),
                    Value::Labels(_) if self.style == Style::Json => {
                        self.dict(self.trees.cells(node), out, depth);
                    }
                    Value::Labels(_) => {
                        out.extend_from_slice(b"metrics_labels('");
                        self.labels(value, out);
                        out.extend_from_slice(b"')");
                    }
                    _ => self.list(value, self.trees.cells(node), out, depth),
                }
            }
            Value::Otel(kind, node) => self.otel(kind, self.trees.cells(node), out, depth),
            other => match self.style {
                Style::Json => self.special_json(other, out),
                _ => self.special(other, out),
            },
        }
    }

    fn dict(self, cells: &[Value], out: &mut Vec<u8>, depth: usize) {
        out.push(b'{');
        for (at, pair) in cells.chunks_exact(2).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match (pair[0], self.style) {
                (key @ Value::String(_), _) | (key, Style::Repr | Style::Text) => {
                    self.inner(key, out, depth + 1)
                }
                // Keys of JSON are texts.
                (key, Style::Json) => {
                    let mut text = Vec::new();
                    Print { style: Style::Repr, ..self }.inner(key, &mut text, depth + 1);
                    put_string(&text, out);
                }
            }
            out.push(b':');
            self.inner(pair[1], out, depth + 1);
        }
        out.push(b'}');
    }

    /// As JSON; `otel_kvlist({"a":1})` where the type is to be seen. Fields that are not set are left out.
    fn otel(self, kind: Otel, cells: &[Value], out: &mut Vec<u8>, depth: usize) {
        if depth >= DEPTH_MAX {
            return out.extend_from_slice(b"null");
        }
        if self.style != Style::Json {
            out.extend_from_slice(kind.name().as_bytes());
            out.push(b'(');
            Print { style: Style::Json, ..self }.otel(kind, cells, out, depth);
            return out.push(b')');
        }
        match kind {
            Otel::Array => self.list(Value::Null, cells, out, depth),
            Otel::KvList => self.dict(cells, out, depth),
            Otel::LogRecord | Otel::Resource | Otel::Scope => {
                let is_set = |pair: &[Value]| !self.is_default(pair.get(1).copied().unwrap_or_default());
                let set = cells.chunks_exact(2).filter(|pair| is_set(pair));
                let set: Vec<Value> = set.flatten().copied().collect();
                self.dict(&set, out, depth);
            }
        }
    }

    /// What a field has that is not set.
    pub fn is_default(self, value: Value) -> bool {
        match value {
            Value::Null | Value::Integer(0) => true,
            Value::Otel(_, node) => self.trees.cells(node).is_empty(),
            other => other.span().is_some_and(|span| span.is_empty()),
        }
    }

    fn list(self, value: Value, cells: &[Value], out: &mut Vec<u8>, depth: usize) {
        let is_tuple = matches!(value, Value::Tuple(_)) && self.style != Style::Json;
        out.push(if is_tuple { b'(' } else { b'[' });
        for (at, item) in cells.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            self.inner(*item, out, depth + 1);
        }
        if is_tuple && cells.len() == 1 {
            out.push(b',');
        }
        out.push(if is_tuple { b')' } else { b']' });
    }

    /// `{b="2",a="x"}`
    pub fn labels(self, value: Value, out: &mut Vec<u8>) {
        let text = |value: Value| value.span().map_or(&[][..], |span: Span| span.of(self.text));
        let pairs = value.node().into_iter().flat_map(|node| self.trees.pairs(node));
        out.push(b'{');
        for (at, (name, value)) in pairs.enumerate() {
            if at > 0 {
                out.push(b',');
            }
            out.extend_from_slice(text(name));
            out.push(b'=');
            put_string(text(value), out);
        }
        out.push(b'}');
    }

    fn special(self, value: Value, out: &mut Vec<u8>) {
        let (name, quote) = match value {
            Value::Bytes(_) => ("bytes", b'"'),
            Value::Protobuf(_) => ("protobuf", b'"'),
            Value::Ip(_) => ("ip", b'\''),
            Value::Subnet(_) => ("subnet", b'\''),
            _ => {
                out.extend_from_slice(b"datetime(");
                if let Some(at) = value.moment() {
                    at.put(out);
                }
                out.push(b')');
                return;
            }
        };
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&[b'(', quote]);
        match value {
            Value::Bytes(span) | Value::Protobuf(span) => out.extend_from_slice(span.of(self.text)),
            other => self.address(other, out),
        }
        out.extend_from_slice(&[quote, b')']);
    }

    fn special_json(self, value: Value, out: &mut Vec<u8>) {
        out.push(b'"');
        match value {
            Value::Bytes(span) | Value::Protobuf(span) => base64(span.of(self.text), out),
            Value::Ip(_) | Value::Subnet(_) => self.address(value, out),
            other => {
                if let Some(at) = other.moment() {
                    at.put(out);
                }
            }
        }
        out.push(b'"');
    }

    /// `1.2.3.4`, or of a subnet `10.0.0.0/255.0.0.0`.
    pub fn address(self, value: Value, out: &mut Vec<u8>) {
        use std::io::Write;
        use std::net::{Ipv4Addr, Ipv6Addr};
        let (Value::Ip(span) | Value::Subnet(span)) = value else { return };
        let bytes = span.of(self.text);
        // Writing to memory does not fail.
        let _ = match *bytes {
            [a, b, c, d] => write!(out, "{}", Ipv4Addr::new(a, b, c, d)),
            [a, b, c, d, prefix] => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
                write!(out, "{}/{}", Ipv4Addr::new(a, b, c, d), Ipv4Addr::from(mask))
            }
            _ => match bytes.first_chunk::<16>() {
                Some(address) => {
                    let address = Ipv6Addr::from(*address);
                    match bytes.get(16) {
                        Some(prefix) => write!(out, "{address}/{prefix}"),
                        None => write!(out, "{address}"),
                    }
                }
                None => Ok(()),
            },
        };
    }
}

/// What a byte of a JSON string needs: nothing, an escape, or a look at whether it is UTF-8.
static NEEDS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            0..0x20 | b'"' | b'\\' | 0x7f => 1,
            0x80.. => 2,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Texts from this length on are looked at before they are copied.
const LONG: usize = 48;

/// Appends a text in quotes as JSON. A byte that is no UTF-8 becomes the text `\xNN`.
pub fn put_string(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let plain = if text.len() < LONG { put_plain(text, out) } else { 0 };
    if plain < text.len() {
        put_rest(text.get(plain..).unwrap_or_default(), out);
    }
    out.push(b'"');
}

/// Appends the bytes at the beginning that need nothing, eight at a time; how many there were.
#[inline(always)]
fn put_plain(text: &[u8], out: &mut Vec<u8>) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if needs(u64::from_le_bytes(*word)) {
            return 8 * at;
        }
        out.extend_from_slice(word);
    }
    if let (Some(last), false) = (text.last_chunk::<8>(), rest.is_empty()) {
        // The last eight, some of which are there already.
        if !needs(u64::from_le_bytes(*last)) {
            out.truncate(out.len() + rest.len() - 8);
            out.extend_from_slice(last);
            return text.len();
        }
        return 8 * words.len();
    }
    for (at, byte) in rest.iter().enumerate() {
        if NEEDS[usize::from(*byte)] != 0 {
            return 8 * words.len() + at;
        }
        out.push(*byte);
    }
    text.len()
}

/// Whether one of eight bytes needs an escape or a look.
#[inline(always)]
fn needs(word: u64) -> bool {
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    let high = word | word.wrapping_add(LOW);
    (control | high) & HIGH | equal(word, b'"') | equal(word, b'\\') != 0
}

/// Appends a text with bytes that may need something.
#[inline(never)]
fn put_rest(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (before, from) = rest.split_at(plain_len(rest));
        out.extend_from_slice(before);
        let Some(byte) = from.first() else { return };
        if NEEDS[usize::from(*byte)] == 1 {
            escape(*byte, out);
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        let high = from.iter().position(|b| NEEDS[usize::from(*b)] != 2).unwrap_or(from.len());
        let (foreign, after) = from.split_at(high);
        for chunk in foreign.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                out.extend_from_slice(b"\\\\x");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = after;
    }
}

/// How many bytes at the beginning need nothing.
fn plain_len(text: &[u8]) -> usize {
    let needs = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\' || *byte >= 0x7f;
    // Without a branch for each byte, so that many are looked at at once.
    let (chunks, _) = text.as_chunks::<16>();
    let plain = |chunk: &&[u8; 16]| !chunk.iter().fold(false, |any, byte| any | needs(byte));
    let start = 16 * chunks.iter().take_while(plain).count();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().position(|b| NEEDS[usize::from(*b)] != 0).unwrap_or(rest.len())
}

fn digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value & 15)]
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let used = at <= chunk.len();
            out.push(if used { DIGITS[(word >> (18 - 6 * at) & 63) as usize] } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests;
