//! Requests made into messages: each record stays as it came, with what is around it, or becomes the message
//! that it was at its sender.

use super::composed::RawNames;
use super::pairs::SCOPE as SCOPE_OF_PAIRS;
use super::received::PairReader;
use super::record::Around;
use super::request::Signal;
use ::record::{Batch, Demand, Record, Span, ValueType};
use wire::protobuf::{Fields, Malformed, Value, fields};

/// Messages of one batch, and bytes after which it is full: what is made of them stays in the cache.
const BATCH_MESSAGES: usize = 1024;
const BATCH_BYTES: usize = 256 * 1024;

/// Records of one scope, or what is left of them.
struct Scope<'a> {
    around: Around<'a>,
    fields: Fields<'a>,
}

/// A request whose messages are being made.
pub struct Requested<'a> {
    signal: Signal,
    scopes: std::vec::IntoIter<Scope<'a>>,
    open: Option<Scope<'a>>,
    /// Only when all of its messages are made is it known that they are some.
    is_one: bool,
}

impl<'a> Requested<'a> {
    /// An error says that it is none.
    pub fn read(signal: Signal, request: &'a [u8]) -> Result<Requested<'a>, Malformed> {
        let mut scopes = Vec::new();
        for field in fields(request) {
            let (1, Value::Bytes(resource)) = field? else { continue };
            let mut around = Around::default();
            for field in fields(resource) {
                match field? {
                    (1, Value::Bytes(bytes)) => around.resource = bytes,
                    (3, Value::Bytes(bytes)) => around.resource_schema = bytes,
                    _ => {}
                }
            }
            for field in fields(resource) {
                let (2, Value::Bytes(scope)) = field? else { continue };
                let mut around = around;
                for field in fields(scope) {
                    match field? {
                        (1, Value::Bytes(bytes)) => around.scope = bytes,
                        (3, Value::Bytes(bytes)) => around.scope_schema = bytes,
                        _ => {}
                    }
                }
                scopes.push(Scope { around, fields: fields(scope) });
            }
        }
        let is_one = scopes.iter().any(|scope| scope.is_of_pairs(signal));
        Ok(Requested { signal, scopes: scopes.into_iter(), open: None, is_one })
    }
}

impl<'a> Scope<'a> {
    /// Whether its records are messages with all their pairs.
    fn is_of_pairs(&self, signal: Signal) -> bool {
        signal == Signal::Logs && is_of_pairs(self.around.scope)
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        self.fields.find_map(|field| match field {
            Ok((2, Value::Bytes(record))) => Some(record),
            _ => None,
        })
    }
}

/// Makes messages of requests, in buffers that are kept.
#[derive(Default)]
pub struct Filler {
    names: RawNames,
    pairs: PairReader,
}

impl Filler {
    /// Appends messages of a request until the batch is full, or there are no more. An error says that it is
    /// none; nothing of it has been made before then but this batch.
    pub fn fill(
        &mut self,
        batch: &mut Batch,
        requested: &mut Requested<'_>,
        demand: &Demand,
    ) -> Result<(), Malformed> {
        let (messages_max, bytes_max) = match requested.is_one {
            true => (usize::MAX, usize::MAX),
            false => (BATCH_MESSAGES, BATCH_BYTES),
        };
        while batch.records.len() < messages_max && batch.text.len() < bytes_max {
            let Some(mut scope) = requested.open.take().or_else(|| requested.scopes.next()) else { break };
            if scope.is_of_pairs(requested.signal) {
                while let Some(record) = scope.next() {
                    self.pairs.append(batch, record, demand)?;
                }
            } else if self.raw(batch, requested.signal, &mut scope, (messages_max, bytes_max)) {
                requested.open = Some(scope);
            }
        }
        Ok(())
    }

    /// Records as they came, until the batch is full: then there may be more. What is around them is there
    /// once for all of them.
    fn raw(
        &self,
        batch: &mut Batch,
        signal: Signal,
        scope: &mut Scope<'_>,
        (messages_max, bytes_max): (usize, usize),
    ) -> bool {
        let (names, around) = (&self.names, scope.around);
        let [kind, resource, resource_schema, scope_itself, scope_schema] = [
            (names.kind, signal.name().as_bytes(), ValueType::String),
            (names.resource, around.resource, ValueType::Protobuf),
            (names.resource_schema, around.resource_schema, ValueType::String),
            (names.scope, around.scope, ValueType::Protobuf),
            (names.scope_schema, around.scope_schema, ValueType::String),
        ]
        .map(|(name, bytes, kind)| (name, batch.append(bytes), kind));
        let received = batch.received;
        while let Some(bytes) = scope.next() {
            let span = batch.append(bytes);
            let index = batch.records.len();
            let mut record = Record::new(Span::EMPTY);
            record.stamp = received;
            batch.records.push(record);
            let own = (names.of(signal), span, ValueType::Protobuf);
            let all = [kind, resource, resource_schema, scope_itself, scope_schema, own];
            batch.set_plain_spans(index, all.into_iter());
            if batch.records.len() >= messages_max || batch.text.len() >= bytes_max {
                return true;
            }
        }
        false
    }
}

/// Whether a scope says that its records are messages with all their pairs.
fn is_of_pairs(scope: &[u8]) -> bool {
    fields(scope).flatten().any(|field| field == (1, Value::Bytes(SCOPE_OF_PAIRS.as_bytes())))
}

/// Any bytes as a request: messages are made of them, or it is none.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(request: &[u8]) {
    use std::sync::Arc;
    let context = Arc::new(::record::Context::local("", "", ""));
    let demand = Demand { everything: true, sdata: true, tags: true, ..Demand::default() };
    for signal in [Signal::Logs, Signal::Metrics] {
        let mut batch = Batch::new(Vec::new(), Arc::clone(&context), ::record::Stamp::now(0));
        let Ok(mut requested) = Requested::read(signal, request) else { continue };
        let _ = Filler::default().fill(&mut batch, &mut requested, &demand);
        assert!(batch.records.len() <= request.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::pairs::{PairWriter, scope};
    use super::super::request::request;
    use super::*;
    use crate::frame::HEAD_BYTES;
    use ::record::{Context, NameId, Peer, Stamp, intern};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn everything() -> Demand {
        Demand { everything: true, sdata: true, tags: true, ..Demand::default() }
    }

    #[test]
    fn a_message_is_on_the_other_side_what_it_was_here() {
        let peer = Peer::Inet {
            remote: "192.0.2.1:5".parse().expect("an address"),
            local: "[2001:db8::1]:514".parse().expect("an address"),
            proxy: None,
        };
        let context = Arc::new(Context { peer, ..Context::local("s", "sender", "rfc5424") });
        let received = Stamp { secs: 1_700_000_000, usec: 5, offset: -3600 };
        let mut batch = Batch::new(Vec::new(), context, received);
        batch.records.push(Record::new(Span::EMPTY));
        batch.records[0].stamp = Stamp { secs: 1_600_000_000, usec: 7, offset: 19_800 };
        batch.records[0].pri = 165;
        let number = intern("number").expect("room");
        batch.set(0, NameId::HOST, b"web", ValueType::String);
        batch.set(0, NameId::PROGRAM, b"app", ValueType::String);
        batch.set(0, NameId::LEGACY_MSGHDR, b"app: ", ValueType::String);
        batch.set(0, NameId::MESSAGE, b"hello \xff", ValueType::String);
        batch.set(0, number, b"7", ValueType::Int);
        batch.set(0, number, b"8", ValueType::Int);
        let tag = batch.tag(b"a, b").expect("room");
        batch.set_tag(0, tag);
        let mut record = Vec::new();
        PairWriter::default().put(&mut record, &batch, &batch.records[0]);
        let scope = scope("1");
        let request = request(&[&record], &scope);
        let mut other = Batch::new(Vec::new(), Arc::new(Context::local("o", "here", "otlp")), Stamp::now(0));
        let message = request.get(HEAD_BYTES..).expect("a message");
        let mut requested = Requested::read(Signal::Logs, message).expect("good");
        Filler::default().fill(&mut other, &mut requested, &everything()).expect("good");
        let (before, after) = (batch.records[0], other.records[0]);
        assert_eq!((before.stamp, before.pri), (after.stamp, after.pri));
        assert_eq!(other.received_at(&after), received);
        for name in
            [NameId::HOST, NameId::PROGRAM, NameId::LEGACY_MSGHDR, NameId::MESSAGE, number, NameId::HOST_FROM]
        {
            assert_eq!(batch.value(&before, name), other.value(&after, name), "{name:?}");
        }
        let tags = other.tags(&after);
        assert_eq!(tags.iter().map(|tag| other.tag_name(*tag)).collect::<Vec<_>>(), ["a, b"]);
        let Some(Peer::Inet { remote, local, .. }) = other.context(&after).map(|context| &context.peer)
        else {
            panic!("no ends")
        };
        assert_eq!(
            (remote.ip().to_string(), local.to_string()),
            ("192.0.2.1".to_owned(), "[2001:db8::1]:514".to_owned())
        );
    }

    #[test]
    fn the_message_as_it_was_received_goes_over_where_somebody_reads_it() {
        let context = Arc::new(Context::local("s", "sender", "rfc3164"));
        let mut batch = Batch::new(Vec::new(), context, Stamp::now(0));
        batch.records.push(Record::new(Span::EMPTY));
        let raw = intern("RAWMSG").expect("room");
        batch.set(0, raw, b"<13>as it came", ValueType::String);
        let mut record = Vec::new();
        PairWriter::default().put(&mut record, &batch, &batch.records[0]);
        let request = request(&[&record], &scope("1"));
        let message = request.get(HEAD_BYTES..).expect("a message");
        let found = |demand: &Demand| {
            let context = Arc::new(Context::local("o", "here", "otlp"));
            let mut other = Batch::new(Vec::new(), context, Stamp::now(0));
            let mut requested = Requested::read(Signal::Logs, message).expect("good");
            Filler::default().fill(&mut other, &mut requested, demand).expect("good");
            other.value(&other.records[0], raw).map(|value| value.bytes.to_vec())
        };
        assert_eq!(found(&Demand { raw: true, ..Demand::default() }), Some(b"<13>as it came".to_vec()));
        assert_eq!(found(&Demand::default()), None);
    }

    proptest! {
        #[test]
        fn foreign_bytes_are_messages_or_none(bytes: Vec<u8>) {
            fuzz(&bytes);
        }
    }
}
