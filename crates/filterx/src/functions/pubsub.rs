//! `pubsub_message()`: a message of Google Pub/Sub. As a value of a message it is the bytes of the protocol.

use crate::function::{Build, Function, Parameter};
use crate::run::{Eval, Failure, Run};
use crate::types::Types;
use value::{Span, Value};
use wire::protobuf;

pub const FUNCTION: Function = Function {
    name: "pubsub_message",
    parameters: &[
        Parameter::value("data", Types::BINARY).optional(),
        Parameter::value("attributes", Types::DICT.or(Types::LABELS)).optional(),
    ],
    returns: Types::PUBSUB_MESSAGE,
    help: "A message of Google Pub/Sub: its data, and a dict of attributes, whose values become texts. It cannot be changed. Set to a \
           value of the message it becomes the bytes of the protocol, of type protobuf.",
    examples: &[
        (
            "format_json(pubsub_message(\"a\", {\"k\": \"v\"}))",
            "\"{\\\"data\\\":\\\"YQ==\\\",\\\"attributes\\\":{\\\"k\\\":\\\"v\\\"}}\"",
        ),
        ("$X = pubsub_message(\"a\", {\"k\": 1}); istype(pubsub_message(), \"pubsub_message\")", "true"),
    ],
    build: Build::Plain(make),
};

fn make(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let data = match args.first().copied() {
        None => Span::EMPTY,
        Some(value) => match value.span() {
            Some(span) => span,
            None => return run.fail(Failure::Type("data must be string or bytes typed", value.type_name())),
        },
    };
    let attributes = run.new_dict()?;
    if let Some(given) = args.get(1).copied() {
        let Some(count) = run.pair_count(given) else {
            return run.fail(Failure::Type("attributes must be dict typed", given.type_name()));
        };
        for pair in 0..count {
            let Some((key, value)) = run.pair(given, pair) else { continue };
            if value != Value::Null {
                let (key, value) = (run.text_of(key)?, run.text_of(value)?);
                run.set_key(attributes, Value::String(key), Value::String(value))?;
            }
        }
    }
    match run.trees().node_of(&[Value::Bytes(data), Value::Dict(attributes)]) {
        Ok(node) => Ok(Value::Pubsub(node)),
        Err(_) => run.full(),
    }
}

/// Appends the bytes of a message.
pub(crate) fn put_pubsub(run: &Run<'_>, message: Value, out: &mut Vec<u8>) {
    let [data, attributes] = run.cells(message) else { return };
    let data = run.bytes(*data);
    if !data.is_empty() {
        protobuf::put_bytes(out, 1, data);
    }
    for pair in run.cells(*attributes).chunks_exact(2) {
        protobuf::put_message(out, 2, |out| {
            protobuf::put_bytes(out, 1, run.bytes(pair[0]));
            protobuf::put_bytes(out, 2, run.bytes(pair[1]));
        });
    }
}
