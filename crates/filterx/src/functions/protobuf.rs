//! `protobuf_message()`: a dict as a message of protocol buffers, by a schema in a file.

mod schema;

use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use crate::types::Types;
use filter::FILE_BYTES_MAX;
use schema::{Field, Kind, Message, Schema};
use std::path::Path;
use value::{JSON, TEXT, Value, double_of, integer_of};
use wire::protobuf;

pub const FUNCTION: Function = Function {
    name: "protobuf_message",
    parameters: &[
        Parameter::value("dict", Types::MAPPING),
        Parameter::named("schema_file", Form::Text, "has to be given"),
    ],
    returns: Types::PROTOBUF,
    help: "The dict as a message of protocol buffers: of the first message in the `.proto` file, which may import others beside it. Keys are names of fields; \
           null leaves a field out, a key that is no field is an error. Booleans go by truth, numbers of 32 bits end at their bounds, enumerations take names and \
           numbers, fields of text take containers as JSON. In the example event.proto says `message Event { string name = 1; int32 count = 2; }`.",
    // Of a file with `message Event { string name = 1; int32 count = 2; }`.
    examples: &[(
        "hex_encode(bytes(protobuf_message({\"name\": \"web\", \"count\": 150}, schema_file=\"event.proto\")))",
        "\"0a03776562109601\"",
    )],
    build: Build::Made(build),
};

/// Messages inside one another.
const DEPTH_MAX: usize = 64;

fn build(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let dict = args.value(0);
    if !args.is_given(1) {
        args.wrong(1, "protobuf_message() needs a schema", "as schema_file=\"event.proto\"");
        return None;
    }
    let path = args.string(1, "")?;
    let path = args.compiler.setting.env.data_file(&path);
    match read(&path) {
        Ok(schema) => args.made(Made { dict: dict?, schema }),
        Err(why) => {
            let help = "the first message of the file is what is made";
            let text = format!("cannot take {}: {why}", path.display());
            args.compiler.wrong_with("Y0113", text, args.at, help);
            None
        }
    }
}

fn read(path: &Path) -> Result<Schema, String> {
    let text = |path: &Path| {
        let bytes = regular::read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut include = |name: &str| text(&folder.join(name)).map_err(|error| format!("{name}: {error}"));
    schema::read(&text(path)?, &mut include)
}

struct Made {
    dict: Expr,
    schema: Schema,
}

impl Operation for Made {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.eval(&self.dict)?;
        let Some(message) = self.schema.messages.first() else { return run.error("There is no message") };
        let mut out = run.cx.work.text();
        let made = Writer { schema: &self.schema, out: &mut out, depth: 0 }.message(run, message, dict);
        let span = made.and_then(|()| run.place(&out));
        run.cx.work.keep_text(out);
        span.map(Value::Protobuf)
    }
}

struct Writer<'a> {
    schema: &'a Schema,
    out: &'a mut Vec<u8>,
    depth: usize,
}

impl Writer<'_> {
    fn message(&mut self, run: &mut Run<'_>, message: &Message, dict: Value) -> Result<(), Halt> {
        let Some(count) = run.pair_count(dict) else {
            return run
                .fail(Failure::Type("A message of protocol buffers is made of a dict", dict.type_name()));
        };
        if self.depth > DEPTH_MAX {
            return run.error("Messages of protocol buffers too deep inside one another");
        }
        for pair in 0..count {
            let Some((key, _)) = run.pair(dict, pair) else { continue };
            // Nanoseconds stay what they are.
            let value = run.cells(dict).get(2 * pair + 1).copied().unwrap_or_default();
            let name = run.bytes(key);
            let Some(field) = message.fields.iter().find(|field| field.name.as_bytes() == name) else {
                return run.fail(Failure::Value("There is no such field in the message", key));
            };
            if value != Value::Null {
                self.field(run, field, value)?;
            }
        }
        Ok(())
    }

    fn field(&mut self, run: &mut Run<'_>, field: &Field, value: Value) -> Result<(), Halt> {
        if let Kind::Map(key, of) = &field.kind {
            return self.map(run, field.number, (key, of), value);
        }
        if !field.repeated {
            return self.value(run, (field.number, &field.kind), value);
        }
        if !value.is_sequence() {
            return run.fail(Failure::Type("A repeated field takes a list", value.type_name()));
        }
        let item = |run: &Run<'_>, at: usize| run.cells(value).get(at).copied().unwrap_or_default();
        let count = run.cells(value).len();
        if !field.packed {
            return (0..count).try_for_each(|at| {
                let item = item(run, at);
                self.value(run, (field.number, &field.kind), item)
            });
        }
        let mut packed = run.cx.work.text();
        let mut result = Ok(());
        for at in 0..count {
            let item = item(run, at);
            let number = self.number(run, &field.kind, item);
            result = number.map(|number| number.put(&mut packed));
            if result.is_err() {
                break;
            }
        }
        if count > 0 {
            protobuf::put_bytes(self.out, field.number, &packed);
        }
        run.cx.work.keep_text(packed);
        result
    }

    /// Pairs are messages of a key and a value.
    fn map(
        &mut self,
        run: &mut Run<'_>,
        number: u32,
        (key_kind, kind): (&Kind, &Kind),
        dict: Value,
    ) -> Result<(), Halt> {
        let Some(count) = run.pair_count(dict) else {
            return run.fail(Failure::Type("A map takes a dict", dict.type_name()));
        };
        for pair in 0..count {
            let Some((key, value)) = run.pair(dict, pair) else { continue };
            self.inside(run, number, |writer, run| {
                writer.value(run, (1, key_kind), key)?;
                writer.value(run, (2, kind), value)
            })?;
        }
        Ok(())
    }

    /// A message in a field.
    fn inside(
        &mut self,
        run: &mut Run<'_>,
        number: u32,
        put: impl FnOnce(&mut Writer<'_>, &mut Run<'_>) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let (mut result, schema, depth) = (Ok(()), self.schema, self.depth + 1);
        protobuf::put_message(self.out, number, |out| result = put(&mut Writer { schema, out, depth }, run));
        result
    }

    fn value(&mut self, run: &mut Run<'_>, (number, kind): (u32, &Kind), value: Value) -> Result<(), Halt> {
        match kind {
            Kind::String | Kind::Bytes => {
                let mut text = run.cx.work.text();
                let is_container = value.node().is_some() && *kind == Kind::String;
                run.put(value, if is_container { JSON } else { TEXT }, &mut text);
                let result = match value.span().is_some() || *kind == Kind::String {
                    true => {
                        protobuf::put_bytes(self.out, number, &text);
                        Ok(())
                    }
                    false => {
                        run.fail(Failure::Type("A field of bytes takes bytes or a string", value.type_name()))
                    }
                };
                run.cx.work.keep_text(text);
                result
            }
            Kind::Message(at) => match self.schema.messages.get(*at) {
                Some(message) => self.inside(run, number, |writer, run| writer.message(run, message, value)),
                None => run.error("There is no such message"),
            },
            _ => {
                let made = self.number(run, kind, value)?;
                made.put_field(number, self.out);
                Ok(())
            }
        }
    }

    fn number(&self, run: &mut Run<'_>, kind: &Kind, value: Value) -> Result<Number, Halt> {
        if *kind == Kind::Bool {
            return Ok(Number::Varint(u64::from(run.is_true(value))));
        }
        if let (Kind::Enum(at), Value::String(span)) = (kind, value) {
            let name = String::from_utf8_lossy(run.batch.bytes(span));
            let known = self.schema.enums.get(*at).and_then(|values| values.get(&*name));
            let Some(known) = known.copied().or_else(|| name.parse().ok()) else {
                return run.fail(Failure::Value("There is no such value of the enumeration", value));
            };
            return Ok(Number::Varint(i64::from(known) as u64));
        }
        let (whole, double) = match value {
            Value::Integer(n) => (Some(n), Some(n as f64)),
            Value::Boolean(b) => (Some(i64::from(b)), Some(f64::from(u8::from(b)))),
            Value::Double(n) => (Some(n.round() as i64), Some(n)),
            Value::Datetime { micros, .. } => (Some(micros), Some(micros as f64 / 1e6)),
            Value::String(span) => {
                let text = run.batch.bytes(span);
                (integer_of(text), double_of(text))
            }
            _ => (None, None),
        };
        let within = |low: i64, high: i64| whole.map(|n| n.clamp(low, high));
        let small = || within(i64::from(i32::MIN), i64::from(i32::MAX));
        let number = match kind {
            Kind::Double => double.map(|n| Number::Fixed64(n.to_bits())),
            // Beyond its range a float is the largest there is.
            Kind::Float => double.map(|n| {
                Number::Fixed32((n.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32).to_bits())
            }),
            Kind::Int(32) | Kind::Enum(_) => small().map(|n| Number::Varint(n as u64)),
            Kind::Uint(32) => within(0, i64::from(u32::MAX)).map(|n| Number::Varint(n as u64)),
            Kind::Uint(_) => within(0, i64::MAX).map(|n| Number::Varint(n as u64)),
            Kind::Int(_) => whole.map(|n| Number::Varint(n as u64)),
            Kind::Sint(bits) => {
                (if *bits == 32 { small() } else { whole }).map(|n| Number::Varint((n << 1 ^ n >> 63) as u64))
            }
            Kind::Fixed(32) => within(0, i64::from(u32::MAX)).map(|n| Number::Fixed32(n as u32)),
            Kind::Fixed(_) => within(0, i64::MAX).map(|n| Number::Fixed64(n as u64)),
            Kind::Sfixed(32) => small().map(|n| Number::Fixed32(n as i32 as u32)),
            Kind::Sfixed(_) => whole.map(|n| Number::Fixed64(n as u64)),
            _ => None,
        };
        match number {
            Some(number) => Ok(number),
            None => run.fail(Failure::Type("A field of numbers takes a number", value.type_name())),
        }
    }
}

enum Number {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
}

impl Number {
    fn put(self, out: &mut Vec<u8>) {
        match self {
            Number::Varint(n) => protobuf::put_varint(out, n),
            Number::Fixed64(n) => out.extend_from_slice(&n.to_le_bytes()),
            Number::Fixed32(n) => out.extend_from_slice(&n.to_le_bytes()),
        }
    }

    fn put_field(self, number: u32, out: &mut Vec<u8>) {
        match self {
            Number::Varint(n) => protobuf::put_number(out, number, n),
            Number::Fixed64(n) => protobuf::put_fixed64(out, number, n),
            Number::Fixed32(n) => protobuf::put_fixed32(out, number, n),
        }
    }
}

#[cfg(test)]
mod tests;
