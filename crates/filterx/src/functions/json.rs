//! JSON as text.

use super::convert::first;
use crate::compile::{Arguments, Only};
use crate::function::{Build, Function, Parameter};
use crate::program::{Expr, Operation, Plain};
use crate::run::{Eval, Failure, Run};
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
        build: Build::Made(|args| reading(args, parse_json)),
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

/// A function that reads JSON: of an object, only the members that are looked at.
pub(super) fn reading(args: &mut Arguments<'_, '_>, all: Plain) -> Option<Expr> {
    if args.only.is_none() || !args.is_given(0) {
        return args.plain(all);
    }
    let text = args.value(0)?;
    let only = args.only.take();
    args.made(Members { text, only, all })
}

struct Members {
    text: Expr,
    only: Option<Only>,
    all: Plain,
}

impl Operation for Members {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        if let (Value::String(span), Some(only)) = (text, run.only(&self.only)?)
            && let value @ Value::Dict(_) = run.read_json_some(span, |key| only.keys.get(key).is_some())?
        {
            return Ok(value);
        }
        (self.all)(run, &[text])
    }
}

fn parse_json(run: &mut Run<'_>, args: &[Value]) -> Eval {
    match first(args) {
        Value::String(span) => run.read_json(span),
        other => run.fail(Failure::Type(
            "First argument must be string typed. Usage: parse_json(text)",
            other.type_name(),
        )),
    }
}

fn format_json(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let value = first(args);
    run.made(|run, out| {
        run.put(value, JSON, out);
        Ok(())
    })
}
