//! Requests made into messages: each record stays as it came, with what is around it, or becomes the message
//! that it was at its sender.

use super::composed::RawNames;
use super::pairs::SCOPE as SCOPE_OF_PAIRS;
use super::received::PairReader;
use super::record::Around;
use super::request::Signal;
use ::record::{Batch, Demand, Record, Span, ValueType};
use wire::protobuf::{Malformed, Value, fields};

/// Makes messages of requests, in buffers that are kept.
#[derive(Default)]
pub struct Filler {
    names: RawNames,
    pairs: PairReader,
}

impl Filler {
    /// Appends the messages of a request. An error says that it is none; nothing of it may be used then.
    pub fn fill(
        &mut self,
        batch: &mut Batch,
        (signal, request): (Signal, &[u8]),
        demand: &Demand,
    ) -> Result<(), Malformed> {
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
                self.scope(batch, (signal, scope), around, demand)?;
            }
        }
        Ok(())
    }

    fn scope(
        &mut self,
        batch: &mut Batch,
        (signal, scope): (Signal, &[u8]),
        around: Around<'_>,
        demand: &Demand,
    ) -> Result<(), Malformed> {
        let mut around = around;
        for field in fields(scope) {
            match field? {
                (1, Value::Bytes(bytes)) => around.scope = bytes,
                (3, Value::Bytes(bytes)) => around.scope_schema = bytes,
                _ => {}
            }
        }
        let records = fields(scope).filter_map(|field| match field {
            Ok((2, Value::Bytes(record))) => Some(record),
            _ => None,
        });
        if signal == Signal::Logs && is_of_pairs(around.scope) {
            for record in records {
                self.pairs.append(batch, record, demand)?;
            }
            return Ok(());
        }
        self.raw(batch, signal, around, records);
        Ok(())
    }

    /// Records as they came. What is around them is there once for all of them.
    fn raw<'a>(
        &self,
        batch: &mut Batch,
        signal: Signal,
        around: Around<'_>,
        records: impl Iterator<Item = &'a [u8]>,
    ) {
        let names = &self.names;
        let common = [
            (names.kind, signal.name().as_bytes(), ValueType::String),
            (names.resource, around.resource, ValueType::Protobuf),
            (names.resource_schema, around.resource_schema, ValueType::String),
            (names.scope, around.scope, ValueType::Protobuf),
            (names.scope_schema, around.scope_schema, ValueType::String),
        ]
        .map(|(name, bytes, kind)| (name, batch.append(bytes), kind));
        let received = batch.received;
        for bytes in records {
            let span = batch.append(bytes);
            let index = batch.records.len();
            let mut record = Record::new(Span::EMPTY);
            record.stamp = received;
            batch.records.push(record);
            let own = (names.of(signal), span, ValueType::Protobuf);
            batch.set_spans(index, common.into_iter().chain([own]));
        }
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
        let _ = Filler::default().fill(&mut batch, (signal, request), &demand);
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
        Filler::default().fill(&mut other, (Signal::Logs, message), &everything()).expect("good");
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

    proptest! {
        #[test]
        fn foreign_bytes_are_messages_or_none(bytes: Vec<u8>) {
            fuzz(&bytes);
        }
    }
}
