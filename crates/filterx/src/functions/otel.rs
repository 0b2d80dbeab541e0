//! Objects of OpenTelemetry's protocol: log records, resources, scopes, and the lists in them. As a value of
//! the message they are the bytes of the protocol, which `opentelemetry()` sends as they are.

mod fields;
mod wire;

pub(crate) use fields::is_otel_time;
pub(crate) use wire::put_otel;

use crate::function::{Build, Function, Parameter};
use crate::run::{Eval, Halt, Run};
use crate::types::Types;
use fields::Kind;
use value::{Node, Otel, Value};

/// Bytes of the protocol.
const RAW: Types = Types::BYTES.or(Types::PROTOBUF);
const OF_PAIRS: &[Parameter] = &[Parameter::value("value", Types::MAPPING.or(RAW)).optional()];
const OF_ITEMS: &[Parameter] = &[Parameter::value("value", Types::SEQUENCE.or(RAW)).optional()];

const fn function(
    name: &'static str,
    returns: Types,
    help: &'static str,
    examples: &'static [(&'static str, &'static str)],
    run: crate::program::Plain,
) -> Function {
    let parameters = if returns.is(Types::OTEL_ARRAY) { OF_ITEMS } else { OF_PAIRS };
    Function { name, parameters, returns, help, examples, build: Build::Plain(run) }
}

pub const FUNCTIONS: &[Function] = &[
    function(
        "otel_logrecord",
        Types::OTEL_LOGRECORD,
        "A log record: empty, of a dict, or of its bytes, as in `${.otel_raw.log}`. Its fields have the names of the protocol; `attributes` is an otel_kvlist(), `body` any \
         value, times are datetimes. Another field, or a severity that is none, is an error.",
        &[
            (
                "lr = otel_logrecord(); lr.body = \"x\"; lr.attributes.n = 5; format_json(lr)",
                "\"{\\\"body\\\":\\\"x\\\",\\\"attributes\\\":{\\\"n\\\":5}}\"",
            ),
            ("otel_logrecord({\"severity_number\": 99})", "error: Invalid value: 99"),
        ],
        |run, args| make(run, args, Otel::LogRecord),
    ),
    function(
        "otel_resource",
        Types::OTEL_RESOURCE,
        "A resource: empty, of a dict, or of its bytes, as in `${.otel_raw.resource}`.",
        &[(
            "otel_resource({\"attributes\": {\"service.name\": \"web\"}}).attributes[\"service.name\"]",
            "\"web\"",
        )],
        |run, args| make(run, args, Otel::Resource),
    ),
    function(
        "otel_scope",
        Types::OTEL_SCOPE,
        "A scope: empty, of a dict, or of its bytes, as in `${.otel_raw.scope}`.",
        &[("otel_scope({\"name\": \"lib\"})", "otel_scope({\"name\":\"lib\"})")],
        |run, args| make(run, args, Otel::Scope),
    ),
    function(
        "otel_kvlist",
        Types::OTEL_KVLIST,
        "A list of pairs, as attributes are: empty, of a dict, or of its bytes. Dicts and lists in it become otel_kvlist() and otel_array(), times whole numbers \
         of microseconds.",
        &[("otel_kvlist({\"a\": [1, {\"b\": null}]})", "otel_kvlist({\"a\":[1,{\"b\":null}]})")],
        |run, args| make(run, args, Otel::KvList),
    ),
    function(
        "otel_array",
        Types::OTEL_ARRAY,
        "A list of values: empty, of a list, or of its bytes.",
        &[("a = otel_array([1]); a[] = \"x\"; a", "otel_array([1,\"x\"])")],
        |run, args| make(run, args, Otel::Array),
    ),
];

fn make(run: &mut Run<'_>, args: &[Value], kind: Otel) -> Eval {
    let Some(given) = args.first().copied() else { return empty(run, kind) };
    match (given, kind) {
        (Value::Otel(known, node), _) if known == kind => match run.trees().copy(node) {
            Ok(node) => Ok(Value::Otel(kind, node)),
            Err(_) => run.full(),
        },
        (Value::Protobuf(span) | Value::Bytes(span), _) => {
            let bytes = run.batch.bytes(span).to_vec();
            wire::read(run, kind, &bytes)
        }
        (Value::List(_) | Value::Tuple(_), Otel::Array) => any(run, given),
        (Value::Dict(_) | Value::Labels(_), Otel::KvList) => any(run, given),
        (_, Otel::Array) => wrong(run, kind),
        _ => {
            let Some(count) = run.pair_count(given) else { return wrong(run, kind) };
            let made = empty(run, kind)?;
            for at in 0..count {
                if let (Some((key, value)), Some(node)) = (run.pair(given, at), made.node()) {
                    run.trees().share(value);
                    set_otel(run, kind, node, Some(key), value)?;
                }
            }
            Ok(made)
        }
    }
}

fn wrong<T>(run: &mut Run<'_>, kind: Otel) -> Result<T, Halt> {
    run.error(match kind {
        Otel::LogRecord => "Failed to create OTel LogRecord object: Argument is not a protobuf object",
        Otel::Resource => "Failed to create OTel Resource object: Argument is not a protobuf object",
        Otel::Scope => "Failed to create OTel Scope object: Argument is not a protobuf object",
        Otel::KvList => "Failed to create OTel KVList object: Argument is not a protobuf object",
        Otel::Array => "Failed to create OTel Array object: Argument is not a protobuf object",
    })
}

/// A message whose fields are not set, or a list without elements.
fn empty(run: &mut Run<'_>, kind: Otel) -> Eval {
    let node = run.new_dict()?;
    for field in fields::of(kind) {
        let value = default(run, field.kind)?;
        run.set_text(node, field.name.as_bytes(), value)?;
    }
    Ok(Value::Otel(kind, node))
}

fn default(run: &mut Run<'_>, kind: Kind) -> Eval {
    Ok(match kind {
        Kind::Text => Value::String(value::Span::EMPTY),
        Kind::Bytes => Value::Bytes(value::Span::EMPTY),
        Kind::Any => Value::Null,
        Kind::Attributes => Value::Otel(Otel::KvList, run.new_dict()?),
        Kind::Severity | Kind::Uint32 | Kind::Fixed32 | Kind::Time => Value::Integer(0),
    })
}

/// Sets a field or an element; without a key it is appended.
pub(crate) fn set_otel(
    run: &mut Run<'_>,
    kind: Otel,
    node: Node,
    key: Option<Value>,
    value: Value,
) -> Result<(), Halt> {
    let holder = Value::Otel(kind, node);
    match (kind, key) {
        (Otel::Array, key) => {
            let value = any(run, value)?;
            let len = run.cells(holder).len();
            let cell = key.map(|key| (key, run.cell_of(holder, key)));
            match cell {
                Some((_, Some(cell))) => run.trees().set_cell(node, cell, value),
                Some((Value::Integer(at), None)) if usize::try_from(at) != Ok(len) => {
                    return run.error("Failed to set element of object: set-subscript() method failed");
                }
                Some((Value::Integer(_), None)) | None => {
                    if run.trees().push(node, value).is_err() {
                        return run.full();
                    }
                }
                Some(_) => {
                    return run.error("Failed to set element of object: set-subscript() method failed");
                }
            }
            Ok(())
        }
        (Otel::KvList, Some(key @ Value::String(_))) => {
            let value = any(run, value)?;
            run.set_key(node, key, value)
        }
        (_, Some(key @ Value::String(_))) => match run.cell_of(holder, key) {
            Some(cell) => {
                let field = fields::of(kind).get(cell / 2).map_or(Kind::Any, |field| field.kind);
                let value = fitting(run, field, value)?;
                run.trees().set_cell(node, cell, value);
                Ok(())
            }
            None => {
                let name = String::from_utf8_lossy(run.bytes(key)).into_owned();
                run.error_made(&format!("Failed to set OTel field: no field \"{name}\" in {}", kind.name()))
            }
        },
        _ => run.error("Key must be string"),
    }
}

/// What a field takes of a value.
fn fitting(run: &mut Run<'_>, kind: Kind, value: Value) -> Eval {
    Ok(match (kind, value) {
        (Kind::Any, value) => any(run, value)?,
        (_, Value::Null) => default(run, kind)?,
        (Kind::Attributes, value) => match any(run, value)? {
            made @ Value::Otel(Otel::KvList, _) => made,
            _ => return run.error("Failed to set OTel field: attributes must be a dict"),
        },
        (Kind::Time, Value::Datetime { micros, .. }) => Value::Integer(micros.saturating_mul(1000)),
        (Kind::Time, Value::Integer(_)) => value,
        (Kind::Severity, Value::Integer(0..=24)) => value,
        (Kind::Severity, Value::Integer(other)) => {
            return run.error_made(&format!("Invalid value: {other}"));
        }
        (Kind::Uint32 | Kind::Fixed32, Value::Integer(n)) => Value::Integer(n.clamp(0, i64::from(u32::MAX))),
        (Kind::Text, Value::String(_)) => value,
        (Kind::Text, Value::Dict(_) | Value::List(_) | Value::Tuple(_)) => run.made(|run, out| {
            run.put(value, value::JSON, out);
            Ok(())
        })?,
        (Kind::Bytes, Value::String(span) | Value::Bytes(span) | Value::Protobuf(span)) => Value::Bytes(span),
        (_, other) => {
            return run.fail(crate::run::Failure::Type("Failed to set OTel field", other.type_name()));
        }
    })
}

/// A value as one that attributes and bodies can have.
fn any(run: &mut Run<'_>, value: Value) -> Eval {
    let (kind, width) = match value {
        Value::Dict(_) | Value::Labels(_) => (Otel::KvList, 2),
        Value::List(_) | Value::Tuple(_) => (Otel::Array, 1),
        Value::Datetime { micros, .. } => return Ok(Value::Integer(micros)),
        Value::Protobuf(span) => return Ok(Value::Bytes(span)),
        Value::Ip(_) | Value::Subnet(_) => {
            let text = run.text_of(value)?;
            return Ok(Value::String(text));
        }
        Value::Json(span) => {
            let value = run.read_json(span)?;
            return any(run, value);
        }
        Value::Otel(Otel::LogRecord | Otel::Resource | Otel::Scope, _) => {
            return run.error("An OTel message cannot be a value of another");
        }
        other => return Ok(other),
    };
    let mut cells = run.cells(value).to_vec();
    for (at, cell) in cells.iter_mut().enumerate() {
        if width == 1 || at % 2 == 1 {
            *cell = any(run, *cell)?;
        } else if !matches!(cell, Value::String(_)) {
            return run.error("Key must be string");
        }
    }
    match run.trees().node_of(&cells) {
        Ok(node) => Ok(Value::Otel(kind, node)),
        Err(_) => run.full(),
    }
}

/// A list of pairs as a dict, an array as a list, and so what is in them.
pub(super) fn plain(run: &mut Run<'_>, value: Value) -> Eval {
    let Value::Otel(kind, _) = value else { return Ok(value) };
    let mut cells = run.cells(value).to_vec();
    for cell in &mut cells {
        *cell = plain(run, *cell)?;
    }
    match run.trees().node_of(&cells) {
        Ok(node) if kind == Otel::Array => Ok(Value::List(node)),
        Ok(node) => Ok(Value::Dict(node)),
        Err(_) => run.full(),
    }
}

/// A field gets what it has when it is not set; an element goes.
pub(crate) fn unset_otel(run: &mut Run<'_>, kind: Otel, node: Node, cell: usize) -> Result<(), Halt> {
    match kind {
        Otel::KvList => run.trees().remove(node, cell - 1, 2),
        Otel::Array => run.trees().remove(node, cell, 1),
        _ => {
            let field = fields::of(kind).get(cell / 2).map_or(Kind::Any, |field| field.kind);
            let value = default(run, field)?;
            run.trees().set_cell(node, cell, value);
        }
    }
    Ok(())
}
