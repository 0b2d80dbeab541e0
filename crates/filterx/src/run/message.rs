//! Between variables and the message: what is read when it is first asked for, and what is written back when
//! the block is through.

use super::{Eval, Failure, Halt, Run, Slot, State};
use crate::program::Of;
use record::{Batch, Flags, NameId, Record, ValueType};
use template::list;
use value::{
    JSON, Moment, Scalar, Span, Value, double_of, integer_of, put_double, put_integer, read_json_some,
};

impl Run<'_> {
    /// A variable's value, where it has been read or set, and is no text that nobody has looked into.
    #[inline(always)]
    pub(super) fn known_variable(&self, number: u32) -> Option<Value> {
        match self.memory.slots.get(number as usize) {
            Some(Slot { value: Value::Json(_) | Value::Unread(..), .. }) => None,
            Some(Slot { state: State::Set, value, .. }) => Some(*value),
            _ => None,
        }
    }

    /// A variable's value; containers are the ones it holds.
    pub(crate) fn variable(&mut self, number: u32) -> Eval {
        match self.memory.slots.get(number as usize).map(|slot| slot.state).unwrap_or_default() {
            State::Set => self.forced(number),
            State::Unset => self.not_set(number),
            State::Unread => {
                self.load(number)?;
                self.forced(number)
            }
        }
    }

    /// The same, where a text that nobody has looked into stays what it is.
    pub(crate) fn unforced(&mut self, number: u32) -> Eval {
        if let Some(value) = self.known_variable(number) {
            return Ok(value);
        }
        if !self.is_set(number)? {
            return self.not_set(number);
        }
        Ok(self.memory.slots.get(number as usize).map_or(Value::Null, |slot| slot.value))
    }

    #[cold]
    fn not_set<T>(&mut self, number: u32) -> Result<T, Halt> {
        let is_message = self.variables.get(number as usize).is_some_and(|v| matches!(v.of, Of::Message(_)));
        self.fail(if is_message { Failure::Unset(number) } else { Failure::NoVariable(number) })
    }

    /// Whether a variable is set, null included.
    pub(crate) fn is_set(&mut self, number: u32) -> Result<bool, Halt> {
        if self.memory.slots.get(number as usize).is_some_and(|slot| slot.state == State::Unread) {
            let found = self.load(number);
            if found.is_err() && !self.is_error() {
                return Err(Halt);
            }
        }
        Ok(self.memory.slots.get(number as usize).is_some_and(|slot| slot.state == State::Set))
    }

    /// The message as templates see it: without the values that the blocks in front of this one have set.
    pub(crate) fn seen(&self) -> Option<Record> {
        let now = *self.batch.records.get(self.index)?;
        let kept = self.cx.unsynced.get(self.index).filter(|_| self.cx.in_row);
        let Some(mut seen) = kept.copied() else { return Some(now) };
        // What is set at once is seen at once.
        (seen.stamp, seen.stamp_text, seen.pri) = (now.stamp, now.stamp_text, now.pri);
        Some(seen)
    }

    /// Reads a text that is looked into for the first time.
    fn forced(&mut self, number: u32) -> Eval {
        let value = self.memory.slots.get(number as usize).map_or(Value::Null, |slot| slot.value);
        if !matches!(value, Value::Json(_) | Value::Unread(..)) {
            return Ok(value);
        }
        let value = self.looked_into(value)?;
        if let Some(slot) = self.memory.slots.get_mut(number as usize) {
            slot.value = value;
        }
        Ok(value)
    }

    pub fn read_json(&mut self, span: Span) -> Eval {
        self.read_json_some(span, |_| true)
    }

    /// The same; of an object, only the members that are wanted.
    pub(crate) fn read_json_some(&mut self, span: Span, wanted: impl Fn(&[u8]) -> bool) -> Eval {
        let batch = &mut *self.batch;
        read_json_some(&mut batch.text, span, &mut batch.trees, wanted).or_else(|error| {
            let text = crate::run::failure::json_text(&error, self.batch.bytes(span));
            self.error_made(&text)
        })
    }

    /// Takes a variable's value from the message.
    fn load(&mut self, number: u32) -> Result<(), Halt> {
        let Some(of) = self.variables.get(number as usize).map(|v| v.of) else {
            return self.error("No such variable");
        };
        let mut declared = false;
        let found = match of {
            Of::Message(name) => self.message_value(name)?,
            Of::Block(name) => {
                let record = self.batch.records.get(self.index);
                let held = record.and_then(|record| self.batch.held(record, name));
                // One that was declared and unset stays declared.
                declared = held.is_some() || record.is_some_and(|record| self.batch.is_told(record, name));
                // Whoever reads it, the message keeps it.
                if let Some(value) = held {
                    self.batch.trees.share(value);
                }
                held
            }
        };
        let Some(slot) = self.memory.slots.get_mut(number as usize) else { return Ok(()) };
        match found {
            Some(value) => (slot.value, slot.state) = (value, State::Set),
            None => slot.state = State::Unset,
        }
        slot.declared |= declared;
        if found.is_none() { self.not_set(number) } else { Ok(()) }
    }

    fn message_value(&mut self, name: NameId) -> Result<Option<Value>, Halt> {
        let Some(record) = self.batch.records.get(self.index) else { return Ok(None) };
        if let Some(value) = self.batch.held(record, name) {
            self.batch.trees.share(value);
            return Ok(Some(value));
        }
        let Some(found) = self.batch.value(record, name) else {
            // A message that came without a text has an empty one, unless somebody has taken it away.
            if name == NameId::MESSAGE && record.message != Span::EMPTY {
                return Ok(Some(Value::String(record.message)));
            }
            return match name.is_sdata() && self.batch.overridden(record, name).is_none() {
                true => self.sdata_value(name),
                false => Ok(None),
            };
        };
        let kind = found.kind;
        let span = match filter::span_in(self.batch, found.bytes) {
            Some(span) => span,
            None => {
                let mut copy = self.cx.work.text();
                copy.extend_from_slice(found.bytes);
                let span = self.place(&copy);
                self.cx.work.keep_text(copy);
                span?
            }
        };
        match kind {
            ValueType::String => Ok(Some(Value::String(span))),
            ValueType::Int if !is_printed(self.batch.bytes(span)) => {
                Ok(Some(Value::Unread(Scalar::Integer, span)))
            }
            ValueType::Double => Ok(Some(Value::Unread(Scalar::Double, span))),
            ValueType::Boolean => Ok(Some(Value::Unread(Scalar::Boolean, span))),
            ValueType::DateTime => Ok(Some(Value::Unread(Scalar::Datetime, span))),
            kind => self.typed(span, kind).map(Some),
        }
    }

    /// A parameter that stands in STRUCTURED-DATA as received.
    fn sdata_value(&mut self, name: NameId) -> Result<Option<Value>, Halt> {
        let Some(record) = self.batch.records.get(self.index) else { return Ok(None) };
        let full = self.batch.name_of(name);
        let path = full.strip_prefix(".SDATA.").unwrap_or(full).as_bytes();
        let Some(raw) = wire::sdata::lookup(self.batch.bytes(record.sdata), path) else { return Ok(None) };
        if let (false, Some(span)) = (raw.contains(&b'\\'), filter::span_in(self.batch, raw)) {
            return Ok(Some(Value::String(span)));
        }
        let mut buffer = self.cx.work.text();
        let mut text = self.cx.work.text();
        text.extend_from_slice(wire::sdata::unescape(raw, &mut buffer));
        let value = self.string(&text);
        self.cx.work.keep_text(buffer);
        self.cx.work.keep_text(text);
        value.map(Some)
    }

    /// The value of a text with a type.
    pub fn typed(&mut self, span: Span, kind: ValueType) -> Eval {
        let text = self.batch.bytes(span);
        let value = match kind {
            ValueType::String => Some(Value::String(span)),
            ValueType::Bytes => Some(Value::Bytes(span)),
            ValueType::Protobuf => Some(Value::Protobuf(span)),
            ValueType::Json => Some(Value::Json(span)),
            ValueType::Null => Some(Value::Null),
            ValueType::Int => integer_of(text).map(Value::Integer),
            ValueType::Double => double_of(text).map(Value::Double),
            ValueType::DateTime => Moment::read(text).map(Value::from),
            ValueType::Boolean => match text {
                b"true" | b"1" | b"yes" | b"t" | b"T" => Some(Value::Boolean(true)),
                b"false" | b"0" | b"no" | b"f" | b"F" | b"" => Some(Value::Boolean(false)),
                _ => None,
            },
            ValueType::List => return self.list_of(span),
        };
        match value {
            Some(value) => Ok(value),
            None => self.error("Failed to convert a value of the message to its type"),
        }
    }

    /// The texts of a list as syslog-ng writes it.
    fn list_of(&mut self, span: Span) -> Eval {
        let (mut text, mut buffer) = (self.cx.work.text(), self.cx.work.text());
        text.extend_from_slice(self.batch.bytes(span));
        let mark = self.memory.stack.len();
        let mut items = list::Items::of(&text);
        let mut pushed = Ok(());
        while let (Ok(()), Some(item)) = (pushed, items.next(&mut buffer)) {
            pushed = self.string(item).map(|value| self.memory.stack.push(value));
        }
        self.cx.work.keep_text(text);
        self.cx.work.keep_text(buffer);
        pushed?;
        self.node_of_stack(mark, false).map(Value::List)
    }

    /// Writes what has changed to the message.
    pub(crate) fn write_back(&mut self) -> Result<(), Halt> {
        for (number, variable) in self.variables.iter().enumerate() {
            let Some(slot) = self.memory.slots.get(number).filter(|slot| slot.changed) else { continue };
            let slot = *slot;
            match variable.of {
                Of::Message(name) if slot.state == State::Set => self.write(name, slot.value)?,
                Of::Message(name) => self.batch.unset(self.index, name),
                Of::Block(name) if slot.declared => {
                    let value = (slot.state == State::Set).then_some(slot.value);
                    self.batch.hold(self.index, name, value);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn write(&mut self, name: NameId, value: Value) -> Result<(), Halt> {
        let (span, kind) = match value {
            Value::String(span) => (span, ValueType::String),
            Value::Bytes(span) => (span, ValueType::Bytes),
            Value::Protobuf(span) => (span, ValueType::Protobuf),
            Value::Json(span) => (span, ValueType::Json),
            Value::Unread(kind, span) => (span, type_of(kind)),
            Value::Null => (Span::EMPTY, ValueType::Null),
            other => self.printed(other)?,
        };
        set(self.batch, self.index, name, span, kind);
        // A container is read again as it is, unless somebody sets the value to something else.
        if value.node().is_some() {
            self.batch.hold(self.index, name, Some(value));
        }
        Ok(())
    }

    fn printed(&mut self, value: Value) -> Result<(Span, ValueType), Halt> {
        let mut out = self.cx.work.text();
        let kind = match value {
            Value::Boolean(b) => {
                out.extend_from_slice(if b { b"true" } else { b"false" });
                ValueType::Boolean
            }
            Value::Integer(n) => {
                put_integer(n, &mut out);
                ValueType::Int
            }
            Value::Double(n) => {
                put_double(n, &mut out);
                ValueType::Double
            }
            Value::List(_) if self.cells(value).iter().all(|item| matches!(item, Value::String(_))) => {
                let mut first = true;
                self.cells(value).iter().for_each(|item| list::push(self.bytes(*item), &mut first, &mut out));
                ValueType::List
            }
            Value::Dict(_) | Value::List(_) | Value::Tuple(_) => {
                self.put(value, JSON, &mut out);
                ValueType::Json
            }
            Value::Labels(_) => {
                value::Print { text: &self.batch.text, trees: &self.batch.trees, style: JSON }
                    .labels(value, &mut out);
                ValueType::String
            }
            Value::Otel(kind, node) => {
                crate::functions::put_otel(self, kind, node, &mut out);
                ValueType::Protobuf
            }
            Value::Pubsub(_) => {
                crate::functions::put_pubsub(self, value, &mut out);
                ValueType::Protobuf
            }
            Value::Ip(_) | Value::Subnet(_) => {
                value::Print { text: &self.batch.text, trees: &self.batch.trees, style: JSON }
                    .address(value, &mut out);
                ValueType::String
            }
            other => {
                if let Some(at) = other.moment() {
                    at.put(&mut out);
                    at.put_offset(&mut out);
                }
                ValueType::DateTime
            }
        };
        let span = self.place(&out);
        self.cx.work.keep_text(out);
        Ok((span?, kind))
    }
}

pub(super) fn type_of(kind: Scalar) -> ValueType {
    match kind {
        Scalar::Boolean => ValueType::Boolean,
        Scalar::Integer => ValueType::Int,
        Scalar::Double => ValueType::Double,
        Scalar::Datetime => ValueType::DateTime,
    }
}

/// Whether a text is a whole number as it is printed.
fn is_printed(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    // Longer ones may not fit.
    (1..=18).contains(&digits.len())
        && digits.iter().all(u8::is_ascii_digit)
        && (digits.first() != Some(&b'0') || text == b"0")
}

/// Sets a value; MESSAGE is only known to be UTF-8 as long as it is.
fn set(batch: &mut Batch, index: usize, name: NameId, span: Span, kind: ValueType) {
    batch.set_span(index, name, span, kind);
    let is_known = |batch: &Batch| batch.records.get(index).is_some_and(|r| r.flags.has(Flags::UTF8));
    if name == NameId::MESSAGE
        && is_known(batch)
        && std::str::from_utf8(batch.bytes(span)).is_err()
        && let Some(record) = batch.records.get_mut(index)
    {
        record.flags.0 &= !Flags::UTF8.0;
    }
}
