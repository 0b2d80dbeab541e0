//! Conversions: `int("42")`, `string(x)`, `dict()`.

use crate::function::{Build, Form, Function, Parameter};
use crate::program::Expr;
use crate::run::{Eval, Failure, Run};
use crate::types::Types;
use value::{Moment, Otel, REPR, Value, ZoneSource, double_of, integer_of};

const ANY: &[Parameter] = &[Parameter::value("value", Types::ANY)];
/// What is a number, or says one.
const NUMERIC: Types = Types::NUMBER.or(Types::BOOLEAN).or(Types::DATETIME).or(Types::STRING);
const NUMBER: &[Parameter] = &[Parameter::value("value", NUMERIC)];
const TIME: &[Parameter] = &[Parameter::value("value", Types::NUMBER.or(Types::DATETIME).or(Types::STRING))];
const MAPPING: &[Parameter] = &[Parameter::value("value", Types::MAPPING.or(Types::STRING)).optional()];
const SEQUENCE: &[Parameter] = &[Parameter::value("value", Types::SEQUENCE.or(Types::STRING)).optional()];

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "bool",
        parameters: ANY,
        returns: Types::BOOLEAN,
        help: "Whether the value is true as a condition: numbers other than 0, texts that are not empty, all containers.",
        examples: &[("bool(\"false\")", "true"), ("bool(0)", "false"), ("bool([])", "true")],
        build: Build::Plain(|run, args| Ok(Value::Boolean(run.is_true(first(args))))),
    },
    Function {
        name: "int",
        parameters: NUMBER,
        returns: Types::INTEGER,
        help: "A whole number. Doubles are rounded, half away from zero; texts are decimal, with blanks before the number and none behind it; \
               times are microseconds since 1970. Beyond 64 bits it is the nearest number there is.",
        examples: &[
            ("int(\" 42\")", "42"),
            ("int(2.5)", "3"),
            ("int(-2.5)", "-3"),
            ("int(\"99999999999999999999\")", "9223372036854775807"),
            ("int(\"4.5\")", "error: Failed to typecast: from_type: string, to_type: integer"),
        ],
        build: Build::Plain(int),
    },
    Function {
        name: "double",
        parameters: NUMBER,
        returns: Types::DOUBLE,
        help: "A number with a fraction. Texts may have exponents, be hexadecimal, `inf` or `nan`; times are seconds since 1970.",
        examples: &[
            ("double(\"0x10\")", "16.0"),
            ("double(\"abc\")", "error: Failed to typecast: from_type: string, to_type: double"),
        ],
        build: Build::Plain(double),
    },
    Function {
        name: "string",
        parameters: ANY,
        returns: Types::STRING,
        help: "The text of a value: a string as it is, bytes as they are, a time in seconds, anything else as repr() shows it.",
        examples: &[
            ("string(1.0)", "\"1.0\""),
            ("string(null)", "\"null\""),
            ("string([1,\"a\"])", "\"[1,\\\"a\\\"]\""),
            ("string(datetime(1.5))", "\"1.500000\""),
        ],
        build: Build::Plain(|run, args| run.text_of(first(args)).map(Value::String)),
    },
    Function {
        name: "repr",
        parameters: ANY,
        returns: Types::STRING,
        help: "How the value would be written: strings in quotes, other types by name.",
        examples: &[("repr(\"a\\\"b\")", "\"\\\"a\\\\\\\"b\\\"\""), ("repr((1,))", "\"(1,)\"")],
        build: Build::Plain(|run, args| {
            let value = first(args);
            run.made(|run, out| {
                run.put(value, REPR, out);
                Ok(())
            })
        }),
    },
    Function {
        name: "bytes",
        parameters: &[Parameter::value("value", Types::BINARY)],
        returns: Types::BYTES,
        help: "The bytes of a string or protobuf value. Templates print nothing for them; JSON has them in base64.",
        examples: &[("bytes(\"ab\")", "bytes(\"ab\")"), ("bytes(\"a\") == \"a\"", "false")],
        build: Build::Plain(|run, args| binary(run, args, Value::Bytes, "bytes")),
    },
    Function {
        name: "protobuf",
        parameters: &[Parameter::value("value", Types::BYTES.or(Types::PROTOBUF))],
        returns: Types::PROTOBUF,
        help: "Bytes that are a protobuf message, for destinations that send such messages.",
        examples: &[("protobuf(bytes(\"ab\"))", "protobuf(\"ab\")")],
        build: Build::Plain(|run, args| match first(args) {
            Value::String(_) => cast(run, args, "protobuf"),
            _ => binary(run, args, Value::Protobuf, "protobuf"),
        }),
    },
    Function {
        name: "datetime",
        parameters: TIME,
        returns: Types::DATETIME,
        help: "A time: of microseconds or, as a double, seconds since 1970, of a text as isodate() reads it, or of seconds with an offset.",
        examples: &[
            ("datetime(1000000)", "datetime(1.000000)"),
            ("datetime(1.5)", "datetime(1.500000)"),
            ("datetime(\"2024-01-02T03:04:05.5+02:00\")", "datetime(1704157445.500000)"),
            ("datetime(\"1701350398.123000+01:00\")", "datetime(1701350398.123000)"),
        ],
        build: Build::Plain(datetime),
    },
    Function {
        name: "dict",
        parameters: MAPPING,
        returns: Types::DICT,
        help: "A dict: an empty one, a copy of a mapping, or what a text of JSON says.",
        examples: &[("dict()", "{}"), ("dict('{\"a\":1}')", "{\"a\":1}")],
        build: Build::Made(|args| super::json::reading(args, dict)),
    },
    Function {
        name: "json",
        parameters: MAPPING,
        returns: Types::DICT,
        help: "The same as dict().",
        examples: &[
            ("json('{\"a\":[1,2]}')", "{\"a\":[1,2]}"),
            ("json(\"[1]\")", "error: Failed to typecast: from_type: string, to_type: dict"),
        ],
        build: Build::Made(|args| super::json::reading(args, dict)),
    },
    Function {
        name: "list",
        parameters: SEQUENCE,
        returns: Types::LIST,
        help: "A list: an empty one, a copy of a sequence, or what a text of JSON says.",
        examples: &[("list()", "[]"), ("list((1, 2))", "[1,2]")],
        build: Build::Plain(list),
    },
    Function {
        name: "json_array",
        parameters: SEQUENCE,
        returns: Types::LIST,
        help: "The same as list().",
        examples: &[("json_array(\"[1,2]\")", "[1,2]")],
        build: Build::Plain(list),
    },
    Function {
        name: "tuple",
        parameters: &[Parameter::value("value", Types::SEQUENCE).optional()],
        returns: Types::TUPLE,
        help: "A tuple: an empty one, or the items of a sequence. Its items cannot be replaced.",
        examples: &[("tuple([1, \"a\"])", "(1,\"a\")"), ("tuple()", "()")],
        build: Build::Plain(|run, args| sequence(run, args, Value::Tuple, "tuple")),
    },
    Function {
        name: "istype",
        parameters: &[Parameter::value("value", Types::ANY), Parameter::text("type")],
        returns: Types::BOOLEAN,
        help: "Whether the value is of a type: `null`, `boolean`, `integer`, `double`, `string`, `bytes`, `protobuf`, `datetime`, `dict`, `list`, \
               `tuple`, `metrics_labels`, `ip`, `subnet`, or one of several: `mapping`, `sequence`, `object`.",
        examples: &[("istype({}, \"mapping\")", "true"), ("istype($MSG, \"string\")", "true")],
        build: Build::Made(|args| {
            let name = args.string(1, "")?;
            // Types that no value shows.
            let hidden = ["message_value", "stash_reference"].contains(&name.as_str());
            let Some(types) = Types::named(&name).or(hidden.then_some(Types::NONE)) else {
                let known = Types::names().collect::<Vec<_>>().join(", ");
                args.wrong(1, format!("unknown type: {name}"), &format!("types are {known}"));
                return None;
            };
            let value = args.value(0)?;
            args.made(IsType { value, types })
        }),
    },
    Function {
        name: "unset",
        parameters: &[Parameter::target("variable").many()],
        returns: Types::BOOLEAN,
        help: "Takes variables, keys of dicts and items of lists away. A key that is not there is no error.",
        examples: &[
            ("d = {\"a\":1,\"b\":2}; unset(d.a); d.a = 3; d", "{\"b\":2,\"a\":3}"),
            ("$X = 1; unset($X); isset($X)", "false"),
        ],
        build: Build::Made(|args| args.targets(0, "unset()").map(Expr::Unset)),
    },
    Function {
        name: "move",
        parameters: &[Parameter::target("variable")],
        returns: Types::ANY,
        help: "The value of a variable or element, which is unset.",
        examples: &[("l = [1]; m = move(l); isset(l)", "false"), ("d = {\"a\":1}; move(d.a)", "1")],
        build: Build::Made(|args| args.target(0).map(|target| Expr::Move(Box::new(target)))),
    },
    Function {
        name: "example_echo",
        parameters: ANY,
        returns: Types::ANY,
        help: "The value as it is: what AxoSyslog has as an example of a function in a module.",
        examples: &[("example_echo(\"a\")", "\"a\"")],
        build: Build::Plain(|_, args| Ok(first(args))),
    },
    Function {
        name: "vars",
        parameters: &[Parameter::named("exclude_msg_values", Form::Flag, "false")],
        returns: Types::DICT,
        help: "All variables that the block has used and earlier ones have declared, those of the message by their names with a `$`.",
        examples: &[("x = 1; declare y = \"a\"; vars()", "{\"x\":1,\"y\":\"a\"}")],
        build: Build::Made(|args| {
            let without_message = args.flag(0, false)?;
            args.made(super::variables::Vars { without_message })
        }),
    },
];

pub(super) fn first(args: &[Value]) -> Value {
    args.first().copied().unwrap_or_default()
}

fn cast(run: &mut Run<'_>, args: &[Value], to: &'static str) -> Eval {
    run.fail(Failure::Cast(first(args).type_name(), to))
}

fn int(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let number = match first(args) {
        Value::Integer(n) => Some(n),
        Value::Double(n) if !n.is_nan() => Some(n.round() as i64),
        Value::Boolean(b) => Some(i64::from(b)),
        Value::Datetime { micros, .. } => Some(micros),
        value @ Value::String(_) => integer_of(run.bytes(value)),
        _ => None,
    };
    match number {
        Some(number) => Ok(Value::Integer(number)),
        None => cast(run, args, "integer"),
    }
}

fn double(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let number = match first(args) {
        Value::Integer(n) => Some(n as f64),
        Value::Double(n) => Some(n),
        Value::Boolean(b) => Some(f64::from(u8::from(b))),
        Value::Datetime { micros, .. } => Some(micros as f64 / 1e6),
        value @ Value::String(_) => double_of(run.bytes(value)),
        _ => None,
    };
    match number {
        Some(number) => Ok(Value::Double(number)),
        None => cast(run, args, "double"),
    }
}

fn binary(run: &mut Run<'_>, args: &[Value], kind: fn(value::Span) -> Value, name: &'static str) -> Eval {
    match first(args).span() {
        Some(span) => Ok(kind(span)),
        None => cast(run, args, name),
    }
}

fn datetime(run: &mut Run<'_>, args: &[Value]) -> Eval {
    let at = |micros: i64| Moment { micros: micros.max(0), offset: 0, source: ZoneSource::Parsed };
    let made = match first(args) {
        Value::Datetime { .. } => return Ok(first(args)),
        Value::Integer(micros) => Some(at(micros)),
        Value::Double(secs) if secs.is_finite() && secs.abs() < 9e12 => Some(at((secs * 1e6).round() as i64)),
        Value::Double(_) => return run.error("Failed to convert a double to datetime: out of range"),
        value @ Value::String(_) => {
            let text = run.bytes(value).to_vec();
            super::time::read_iso(run, &text).or_else(|| Moment::read(&text).filter(|_| text.contains(&b'.')))
        }
        _ => None,
    };
    match made {
        Some(made) => Ok(Value::from(made)),
        None => cast(run, args, "datetime"),
    }
}

fn dict(run: &mut Run<'_>, args: &[Value]) -> Eval {
    match args.first().copied() {
        None => run.new_dict().map(Value::Dict),
        Some(value @ Value::Otel(kind, _)) if kind != Otel::Array => super::otel::plain(run, value),
        Some(value @ (Value::Dict(_) | Value::Labels(_))) => {
            match value.node().map(|n| run.trees().copy(n)) {
                Some(Ok(node)) => Ok(Value::Dict(node)),
                _ => run.full(),
            }
        }
        Some(Value::String(span)) => match run.read_json(span)? {
            value @ Value::Dict(_) => Ok(value),
            _ => cast(run, args, "dict"),
        },
        Some(_) => cast(run, args, "dict"),
    }
}

fn list(run: &mut Run<'_>, args: &[Value]) -> Eval {
    match args.first().copied() {
        Some(Value::String(span)) => match run.read_json(span)? {
            value @ Value::List(_) => Ok(value),
            _ => cast(run, args, "list"),
        },
        _ => sequence(run, args, Value::List, "list"),
    }
}

fn sequence(run: &mut Run<'_>, args: &[Value], kind: fn(value::Node) -> Value, name: &'static str) -> Eval {
    let made = match args.first().copied() {
        None => run.trees().new_node(0),
        Some(value @ Value::Otel(Otel::Array, _)) => {
            return super::otel::plain(run, value).map(|v| v.node().map_or(v, kind));
        }
        Some(Value::List(node) | Value::Tuple(node)) => run.trees().copy(node),
        Some(_) => return cast(run, args, name),
    };
    match made {
        Ok(node) => Ok(kind(node)),
        Err(_) => run.full(),
    }
}

struct IsType {
    value: Expr,
    types: Types,
}

impl crate::program::Operation for IsType {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.value)?;
        Ok(Value::Boolean(Types::of(value).meets(self.types)))
    }
}
