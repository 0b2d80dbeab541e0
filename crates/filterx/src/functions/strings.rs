//! Texts: case, blanks, parts, searches.

mod search;

use super::convert::first;
use crate::function::{Build, Form, Function, Parameter};
use crate::run::{Eval, Failure, Run};
use crate::types::Types;
use search::Where;
use value::{Otel, Span, Value};

const TEXT: Parameter = Parameter::value("text", Types::STRING);
const NEEDLE: Parameter = Parameter::value("needle", Types::STRING.or(Types::SEQUENCE));
const IGNORE_CASE: Parameter = Parameter::named("ignorecase", Form::Flag, "false");

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "len",
        parameters: &[Parameter::value("value", Types::BINARY.or(Types::SEQUENCE).or(Types::MAPPING))],
        returns: Types::INTEGER,
        help: "Bytes of a text, elements of a container.",
        examples: &[("len(\"\u{e9}\")", "2"), ("len({\"a\":1})", "1")],
        build: Build::Plain(|run, args| match first(args) {
            value @ Value::Otel(Otel::Array, _) => Ok(Value::Integer(run.cells(value).len() as i64)),
            value @ (Value::Dict(_) | Value::Labels(_) | Value::Otel(..)) => {
                Ok(Value::Integer(run.cells(value).len() as i64 / 2))
            }
            value @ (Value::List(_) | Value::Tuple(_)) => Ok(Value::Integer(run.cells(value).len() as i64)),
            value => match value.span() {
                Some(span) => Ok(Value::Integer(i64::from(span.len))),
                None => run.fail(Failure::Cannot("Object does not support len()", value.type_name())),
            },
        }),
    },
    Function {
        name: "lower",
        parameters: &[TEXT],
        returns: Types::STRING,
        help: "The text in lower case, letters of ASCII only.",
        examples: &[("lower(\"ABC\")", "\"abc\"")],
        build: Build::Plain(|run, args| changed(run, args, |text| text.make_ascii_lowercase())),
    },
    Function {
        name: "upper",
        parameters: &[TEXT],
        returns: Types::STRING,
        help: "The text in upper case, letters of ASCII only.",
        examples: &[("upper(\"abc\")", "\"ABC\"")],
        build: Build::Plain(|run, args| changed(run, args, |text| text.make_ascii_uppercase())),
    },
    Function {
        name: "str_strip",
        parameters: &[TEXT],
        returns: Types::STRING,
        help: "The text without blanks at both ends.",
        examples: &[("str_strip(\"  a b \")", "\"a b\"")],
        build: Build::Plain(|run, args| stripped(run, args, true, true)),
    },
    Function {
        name: "str_lstrip",
        parameters: &[TEXT],
        returns: Types::STRING,
        help: "The text without blanks at its beginning.",
        examples: &[("str_lstrip(\"  a \")", "\"a \"")],
        build: Build::Plain(|run, args| stripped(run, args, true, false)),
    },
    Function {
        name: "str_rstrip",
        parameters: &[TEXT],
        returns: Types::STRING,
        help: "The text without blanks at its end.",
        examples: &[("str_rstrip(\" a  \")", "\" a\"")],
        build: Build::Plain(|run, args| stripped(run, args, false, true)),
    },
    Function {
        name: "str_replace",
        parameters: &[
            TEXT,
            Parameter::value("old", Types::STRING),
            Parameter::value("new", Types::STRING),
            Parameter::value("limit", Types::INTEGER).optional(),
        ],
        returns: Types::STRING,
        help: "The text with `new` for each `old`, from left to right, at most `limit` times.",
        examples: &[("str_replace(\"aaa\", \"a\", \"b\", 2)", "\"bba\"")],
        build: Build::Plain(search::replace),
    },
    Function {
        name: "startswith",
        parameters: &[TEXT, NEEDLE, IGNORE_CASE],
        returns: Types::BOOLEAN,
        help: "Whether the text begins with a text, or with one of a list.",
        examples: &[
            ("startswith(\"Hello\", [\"x\", \"he\"], ignorecase=true)", "true"),
            ("startswith(\"Hello\", \"he\")", "false"),
        ],
        build: Build::Made(|args| search::build(args, Where::Start)),
    },
    Function {
        name: "endswith",
        parameters: &[TEXT, NEEDLE, IGNORE_CASE],
        returns: Types::BOOLEAN,
        help: "Whether the text ends with a text, or with one of a list.",
        examples: &[("endswith(\"access.log\", \".log\")", "true")],
        build: Build::Made(|args| search::build(args, Where::End)),
    },
    Function {
        name: "includes",
        parameters: &[TEXT, NEEDLE, IGNORE_CASE, Parameter::named("limit", Form::Number, "0")],
        returns: Types::BOOLEAN,
        help: "Whether a text, or one of a list, stands in the text; with a limit, within its first bytes.",
        examples: &[
            ("includes(\"abcdef\", \"cd\")", "true"),
            ("includes(\"abcdef\", \"ef\", limit=4)", "false"),
        ],
        build: Build::Made(|args| search::build(args, Where::Anywhere)),
    },
    Function {
        name: "strcasecmp",
        parameters: &[TEXT, Parameter::value("other", Types::STRING)],
        returns: Types::INTEGER,
        help: "0 for two texts that are equal whatever the case, letters of ASCII only; else less or more than 0, as the first comes before or after the \
               second.",
        examples: &[("strcasecmp(\"A\", \"a\")", "0")],
        build: Build::Plain(search::casecmp),
    },
    Function {
        name: "glob_match",
        parameters: &[TEXT, Parameter::value("pattern", Types::STRING.or(Types::SEQUENCE))],
        returns: Types::BOOLEAN,
        help: "Whether the text is what a pattern, or one of a list, says: `*` for any bytes but a slash, `?` for one, `[a-z]` for one of several. A dot at \
               the beginning has to be written.",
        examples: &[
            ("glob_match(\"a.log\", \"*.log\")", "true"),
            ("glob_match(\"a/b.log\", \"*.log\")", "false"),
        ],
        build: Build::Plain(search::glob_match),
    },
];

/// The bytes of a text argument.
pub(super) fn text_argument(run: &mut Run<'_>, args: &[Value], at: usize) -> Result<Span, crate::run::Halt> {
    match args.get(at).copied().unwrap_or_default() {
        Value::String(span) => Ok(span),
        other => run.fail(Failure::Type("Argument must be string typed", other.type_name())),
    }
}

fn changed(run: &mut Run<'_>, args: &[Value], change: fn(&mut [u8])) -> Eval {
    let span = text_argument(run, args, 0)?;
    run.made(|run, out| {
        out.extend_from_slice(run.batch.bytes(span));
        change(out);
        Ok(())
    })
}

fn stripped(run: &mut Run<'_>, args: &[Value], left: bool, right: bool) -> Eval {
    let span = text_argument(run, args, 0)?;
    let text = run.batch.bytes(span);
    let blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0b;
    let before = if left { text.iter().take_while(|b| blank(b)).count() } else { 0 };
    let rest = text.get(before..).unwrap_or_default();
    let behind = if right { rest.iter().rev().take_while(|b| blank(b)).count() } else { 0 };
    Ok(Value::String(Span::new(span.start as usize + before, rest.len() - behind)))
}
