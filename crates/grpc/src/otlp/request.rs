//! A batch as the message of a call. Logs, metrics and traces have the same shape: resources, in each of them
//! scopes, in each of them records, whose bytes are copied as they are.

use super::record::{Around, Item};
use crate::frame;
use crate::plan::Load;
use flight::Part;
use std::collections::HashMap;
use wire::protobuf::{field_size, put_bytes, put_head};

/// Which of the three services is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Logs,
    Metrics,
    Traces,
}

impl Signal {
    pub fn path(self) -> &'static str {
        match self {
            Signal::Logs => "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
            Signal::Metrics => "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
            Signal::Traces => "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        }
    }

    pub fn of_path(path: &str) -> Option<Signal> {
        [Signal::Logs, Signal::Metrics, Signal::Traces].into_iter().find(|signal| signal.path() == path)
    }

    /// In keys.
    pub fn letter(self) -> u8 {
        match self {
            Signal::Logs => b'l',
            Signal::Metrics => b'm',
            Signal::Traces => b't',
        }
    }

    pub fn of_letter(letter: u8) -> Signal {
        match letter {
            b'm' => Signal::Metrics,
            b't' => Signal::Traces,
            _ => Signal::Logs,
        }
    }

    /// The word that messages have for it.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Logs => "log",
            Signal::Metrics => "metric",
            Signal::Traces => "span",
        }
    }

    /// By that word.
    pub fn named(name: &[u8]) -> Option<Signal> {
        let all = [Signal::Logs, Signal::Metrics, Signal::Traces];
        all.into_iter().find(|signal| signal.name().as_bytes() == name)
    }
}

/// Records with the same scope of the same resource.
struct Scope<'a> {
    scope: &'a [u8],
    schema: &'a [u8],
    records: Vec<&'a [u8]>,
}

struct Resource<'a> {
    resource: &'a [u8],
    schema: &'a [u8],
    scopes: Vec<Scope<'a>>,
}

impl Scope<'_> {
    fn size(&self) -> usize {
        let records: usize = self.records.iter().map(|record| field_size(2, record.len())).sum();
        optional(1, self.scope) + records + optional(3, self.schema)
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_optional(out, 1, self.scope);
        self.records.iter().for_each(|record| put_bytes(out, 2, record));
        put_optional(out, 3, self.schema);
    }
}

impl Resource<'_> {
    fn size(&self) -> usize {
        let scopes: usize = self.scopes.iter().map(|scope| field_size(2, scope.size())).sum();
        optional(1, self.resource) + scopes + optional(3, self.schema)
    }

    fn put(&self, out: &mut Vec<u8>) {
        put_optional(out, 1, self.resource);
        for scope in &self.scopes {
            put_head(out, 2, scope.size());
            scope.put(out);
        }
        put_optional(out, 3, self.schema);
    }
}

fn optional(number: u32, bytes: &[u8]) -> usize {
    if bytes.is_empty() { 0 } else { field_size(number, bytes.len()) }
}

fn put_optional(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    if !bytes.is_empty() {
        put_bytes(out, number, bytes);
    }
}

/// A batch made into a call, on the worker. `scope`: of records that have nothing around them.
pub fn load(part: &Part<'_>, scope: &[u8]) -> Load {
    let letter = http_client::keys(part.key).next().and_then(|letter| letter.first());
    let signal = Signal::of_letter(letter.copied().unwrap_or_default());
    Load::of(signal.path(), request(part.messages, scope), part)
}

/// The message of a call in its frame.
pub(super) fn request(messages: &[&[u8]], scope: &[u8]) -> Vec<u8> {
    let resources = grouped(messages, scope);
    let size: usize = resources.iter().map(|resource| field_size(1, resource.size())).sum();
    let mut out = frame::begin(size);
    for resource in &resources {
        put_head(&mut out, 1, resource.size());
        resource.put(&mut out);
    }
    frame::end(&mut out);
    out
}

/// Those with the same around them stand together, in the order in which they came.
fn grouped<'a>(messages: &[&'a [u8]], scope: &'a [u8]) -> Vec<Resource<'a>> {
    let mut resources: Vec<Resource<'a>> = Vec::new();
    let mut known: HashMap<Around<'a>, (usize, usize)> = HashMap::new();
    let mut last: Option<(Around<'a>, (usize, usize))> = None;
    for message in messages {
        let item = Item::read(message);
        let around = item.around.unwrap_or(Around { scope, ..Around::default() });
        let at = match last {
            // Neighbours mostly have the same.
            Some((before, at)) if before == around => at,
            _ => *known.entry(around).or_insert_with(|| place(&mut resources, around)),
        };
        last = Some((around, at));
        if let Some(scope) = resources.get_mut(at.0).and_then(|resource| resource.scopes.get_mut(at.1)) {
            scope.records.push(item.record);
        }
    }
    resources
}

/// Where records with this around them are to stand: in a new scope.
fn place<'a>(resources: &mut Vec<Resource<'a>>, around: Around<'a>) -> (usize, usize) {
    let is_same =
        |known: &Resource<'a>| known.resource == around.resource && known.schema == around.resource_schema;
    let at = resources.iter().position(is_same).unwrap_or(resources.len());
    if at == resources.len() {
        let (resource, schema) = (around.resource, around.resource_schema);
        resources.push(Resource { resource, schema, scopes: Vec::new() });
    }
    let Some(resource) = resources.get_mut(at) else { return (0, 0) };
    let (scope, schema) = (around.scope, around.scope_schema);
    resource.scopes.push(Scope { scope, schema, records: Vec::new() });
    (at, resource.scopes.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::super::record::Raw;
    use super::*;

    fn raw(resource: &[u8], scope: &[u8], record: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let around = Around { resource, scope, ..Around::default() };
        Raw { around, record }.put(&mut out);
        out
    }

    #[test]
    fn what_has_the_same_around_it_stands_together() {
        let messages = [
            raw(b"R", b"S", b"1"),
            b"\x002".to_vec(),
            raw(b"R", b"S", b"3"),
            raw(b"R", b"T", b"4"),
            b"\x005".to_vec(),
        ];
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let expected = b"\0\0\0\0\x26\
            \x0a\x16\x0a\x01R\x12\x09\x0a\x01S\x12\x011\x12\x013\x12\x06\x0a\x01T\x12\x014\
            \x0a\x0c\x12\x0a\x0a\x02me\x12\x012\x12\x015";
        assert_eq!(request(&messages, b"me"), expected);
        assert_eq!(request(&[b"\x00x"], b""), b"\0\0\0\0\x07\x0a\x05\x12\x03\x12\x01x");
    }
}
