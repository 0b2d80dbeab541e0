//! JSON as text.

use super::convert::first;
use crate::function::{Build, Function, Parameter};
use crate::run::{Failure, Run};
use crate::types::Types;
use value::{JSON, Value};

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "parse_json",
        parameters: &[Parameter::value("text", Types::STRING)],
        returns: Types::ANY,
        help: "The value that a text of JSON says. Commas may trail, and strings may have control characters in them.",
        examples: &[
            ("parse_json('{\"a\":1.50,\"b\":1e2,\"c\":[1,]}')", "{\"a\":1.5,\"b\":100.0,\"c\":[1]}"),
            ("parse_json(\"{\")", "error: Error parsing JSON string: JSON text incomplete, excerpt: {"),
        ],
        build: Build::Plain(|run, args| match first(args) {
            Value::String(span) => run.read_json(span),
            other => run.fail(Failure::Type(
                "First argument must be string typed. Usage: parse_json(text)",
                other.type_name(),
            )),
        }),
    },
    Function {
        name: "format_json",
        parameters: &[Parameter::value("value", Types::ANY)],
        returns: Types::STRING,
        help: "The value as JSON without blanks. Bytes are written in base64, times as a text of seconds, tuples as lists.",
        examples: &[(
            "format_json({\"a\":[1,2.5,null,true],\"b\":bytes(\"x\"),\"c\":datetime(1)})",
            "\"{\\\"a\\\":[1,2.5,null,true],\\\"b\\\":\\\"eA==\\\",\\\"c\\\":\\\"0.000001\\\"}\"",
        )],
        build: Build::Plain(format_json),
    },
    super::json_file::FUNCTION,
];

fn format_json(run: &mut Run<'_>, args: &[Value]) -> crate::run::Eval {
    let value = first(args);
    run.made(|run, out| {
        run.put(value, JSON, out);
        Ok(())
    })
}
