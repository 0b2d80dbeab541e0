//! Values as text: JSON, the form in which the language shows them, and what becomes of them as strings.

mod string;

pub use string::put_string;

use crate::number::{put_double, put_integer};
use crate::trees::{Edited, Trees};
use crate::{Otel, Span, Value};
use string::is_plain;

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
/// Bytes to which the containers of one value are printed; the rest is left out. A value may have one large
/// text in it many times. Whoever makes a text of it takes less than this, and refuses it.
const PRINTED_BYTES_MAX: usize = 32 << 20;

/// Where in a value the printer is, and where it stops.
#[derive(Clone, Copy)]
struct At {
    depth: usize,
    /// Length of what is printed into beyond which no further element is.
    end: usize,
}

impl At {
    fn begin(out: &[u8]) -> At {
        At { depth: 0, end: out.len() + PRINTED_BYTES_MAX }
    }

    fn deeper(self) -> At {
        At { depth: self.depth + 1, ..self }
    }
}

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
            (Value::Datetime { .. }, Style::Text) => {
                if let Some(at) = value.moment() {
                    at.put(out);
                }
            }
            (value, Style::Text) => Print { style: Style::Repr, ..self }.inner(value, out, At::begin(out)),
            (value, _) => self.inner(value, out, At::begin(out)),
        }
    }

    fn inner(&self, value: Value, out: &mut Vec<u8>, at: At) {
        match value {
            Value::Null => out.extend_from_slice(b"null"),
            Value::Boolean(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
            Value::Integer(n) => put_integer(n, out),
            Value::Double(n) if self.style == Style::Json && !n.is_finite() => out.extend_from_slice(b"null"),
            Value::Double(n) => put_double(n, out),
            Value::String(span) => self.string(span, out),
            Value::Json(span) | Value::Unread(_, span) => out.extend_from_slice(span.of(self.text)),
            Value::Dict(node) | Value::List(node) | Value::Tuple(node) | Value::Labels(node) => {
                if let (Some(text), Value::Dict(_) | Value::List(_)) = (self.trees.whole_text(node), value) {
                    return out.extend_from_slice(text.of(self.text));
                }
                if at.depth >= DEPTH_MAX {
                    return out.extend_from_slice(b"null");
                }
                match value {
                    Value::Dict(_) => match self.trees.edited(node) {
                        Some(edited) => self.edited(&edited, out, at),
                        None => self.dict(self.trees.cells(node), out, at),
                    },
                    Value::Labels(_) if self.style == Style::Json => {
                        self.dict(self.trees.cells(node), out, at);
                    }
                    Value::Labels(_) => {
                        out.extend_from_slice(b"metrics_labels('");
                        self.labels(value, out);
                        out.extend_from_slice(b"')");
                    }
                    _ => self.list(value, self.trees.cells(node), out, at),
                }
            }
            Value::Otel(kind, node) => self.otel(kind, self.trees.cells(node), out, at),
            Value::Pubsub(node) => self.pubsub(self.trees.cells(node), out, at),
            other => match self.style {
                Style::Json => self.special_json(other, out),
                _ => self.special(other, out),
            },
        }
    }

    /// A string in quotes: where it stands in quotes already and needs nothing, as it stands there.
    #[inline]
    fn string(&self, span: Span, out: &mut Vec<u8>) {
        if !is_plain(self.text, span) {
            return put_string(span.of(self.text), out);
        }
        match self.text.get((span.start as usize).wrapping_sub(1)..span.end() + 1) {
            Some(quoted @ [b'"', .., b'"']) => out.extend_from_slice(quoted),
            _ => {
                out.reserve(span.len as usize + 2);
                out.push(b'"');
                out.extend_from_slice(span.of(self.text));
                out.push(b'"');
            }
        }
    }

    fn dict(&self, cells: &[Value], out: &mut Vec<u8>, at: At) {
        out.push(b'{');
        self.pairs(cells, out, at);
        out.push(b'}');
    }

    /// What a dictionary was read from, but for the values that have changed, and what was added.
    fn edited(&self, edited: &Edited<'_>, out: &mut Vec<u8>, at: At) {
        let mut from = edited.text.start as usize;
        let close = edited.text.end().saturating_sub(1);
        let copy = |from: usize, to: usize, out: &mut Vec<u8>| {
            out.extend_from_slice(self.text.get(from..to).unwrap_or_default());
        };
        let key = |pair: usize| match edited.read.get(2 * pair) {
            Some(Value::String(key)) => Some(*key),
            _ => None,
        };
        for pair in edited.changed() {
            let (Some(name), Some(value)) = (key(pair), edited.read.get(2 * pair + 1)) else { break };
            if out.len() > at.end {
                return;
            }
            // Behind the quote and the colon; up to the comma and the quote of the next.
            copy(from, name.end() + 2, out);
            self.inner(*value, out, at.deeper());
            from = key(pair + 1).map_or(close, |next| next.start as usize - 2);
        }
        copy(from, close, out);
        if !edited.read.is_empty() && !edited.added.is_empty() {
            out.push(b',');
        }
        self.pairs(edited.added, out, at);
        out.push(b'}');
    }

    fn pairs(&self, cells: &[Value], out: &mut Vec<u8>, at: At) {
        for (number, pair) in cells.chunks_exact(2).enumerate() {
            if out.len() > at.end {
                break;
            }
            if number > 0 {
                out.push(b',');
            }
            match (pair[0], self.style) {
                (Value::String(span), _) => self.string(span, out),
                (key, Style::Repr | Style::Text) => self.inner(key, out, at.deeper()),
                // Keys of JSON are texts.
                (key, Style::Json) => {
                    let mut text = Vec::new();
                    let at = At { depth: at.depth + 1, ..At::begin(&text) };
                    Print { style: Style::Repr, ..*self }.inner(key, &mut text, at);
                    put_string(&text, out);
                }
            }
            out.push(b':');
            self.inner(pair[1], out, at.deeper());
        }
    }

    /// As JSON; `otel_kvlist({"a":1})` where the type is to be seen. Fields that are not set are left out.
    fn otel(&self, kind: Otel, cells: &[Value], out: &mut Vec<u8>, at: At) {
        if at.depth >= DEPTH_MAX {
            return out.extend_from_slice(b"null");
        }
        if self.style != Style::Json {
            out.extend_from_slice(kind.name().as_bytes());
            out.push(b'(');
            Print { style: Style::Json, ..*self }.otel(kind, cells, out, at);
            return out.push(b')');
        }
        match kind {
            Otel::Array => self.list(Value::Null, cells, out, at),
            Otel::KvList => self.dict(cells, out, at),
            Otel::LogRecord | Otel::Resource | Otel::Scope => {
                let is_set = |pair: &[Value]| !self.is_default(pair.get(1).copied().unwrap_or_default());
                let set = cells.chunks_exact(2).filter(|pair| is_set(pair));
                let set: Vec<Value> = set.flatten().copied().collect();
                self.dict(&set, out, at);
            }
        }
    }

    fn pubsub(&self, cells: &[Value], out: &mut Vec<u8>, at: At) {
        let [data, attributes] = cells else { return };
        if self.style != Style::Json {
            out.extend_from_slice(b"pubsub_message(");
            Print { style: Style::Json, ..*self }.pubsub(cells, out, at);
            return out.push(b')');
        }
        out.extend_from_slice(b"{\"data\":");
        self.inner(*data, out, at.deeper());
        out.extend_from_slice(b",\"attributes\":");
        self.inner(*attributes, out, at.deeper());
        out.push(b'}');
    }

    /// What a field has that is not set.
    pub fn is_default(self, value: Value) -> bool {
        match value {
            Value::Null | Value::Integer(0) => true,
            Value::Otel(_, node) => self.trees.cells(node).is_empty(),
            other => other.span().is_some_and(|span| span.is_empty()),
        }
    }

    fn list(&self, value: Value, cells: &[Value], out: &mut Vec<u8>, at: At) {
        let is_tuple = matches!(value, Value::Tuple(_)) && self.style != Style::Json;
        out.push(if is_tuple { b'(' } else { b'[' });
        for (number, item) in cells.iter().enumerate() {
            if out.len() > at.end {
                break;
            }
            if number > 0 {
                out.push(b',');
            }
            self.inner(*item, out, at.deeper());
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

    fn special(&self, value: Value, out: &mut Vec<u8>) {
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

    fn special_json(&self, value: Value, out: &mut Vec<u8>) {
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
