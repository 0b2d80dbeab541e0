//! Values as truth and text, and texts that are made.

use super::{Eval, Failure, Halt, Run};
use record::Batch;
use value::{Print, Span, Style, TEXT, Trees, Value};

impl Run<'_> {
    /// A value's bytes; empty for what has none.
    #[inline]
    pub fn bytes(&self, value: Value) -> &[u8] {
        value.span().map_or(&[], |span| self.batch.bytes(span))
    }

    pub fn trees(&mut self) -> &mut Trees {
        &mut self.batch.trees
    }

    /// The cells of a container.
    pub fn cells(&self, value: Value) -> &[Value] {
        value.node().map_or(&[], |node| self.batch.trees.cells(node))
    }

    /// Section 3.3 of the language: containers are always true.
    #[inline]
    pub fn is_true(&self, value: Value) -> bool {
        match value {
            Value::Null => false,
            Value::Boolean(b) => b,
            Value::Integer(n) => n != 0,
            Value::Double(n) => n.abs() >= f64::EPSILON,
            Value::String(span) | Value::Bytes(span) | Value::Protobuf(span) => !span.is_empty(),
            Value::Datetime { micros, .. } => micros != 0,
            Value::Subnet(span) => self.batch.bytes(span).iter().any(|b| *b != 0),
            _ => true,
        }
    }

    /// Appends the text of a value.
    pub fn put(&self, value: Value, style: Style, out: &mut Vec<u8>) {
        Print { text: &self.batch.text, trees: &self.batch.trees, style }.put(value, out);
    }

    /// A place for text that was made.
    pub fn place(&mut self, bytes: &[u8]) -> Result<Span, Halt> {
        if self.batch.text.len() + bytes.len() > self.text_end {
            return self.fail(Failure::Limit("Too much text made of one message"));
        }
        let span = self.batch.append(bytes);
        if span.len as usize != bytes.len() {
            self.fail(Failure::Limit("Too much text in one batch"))
        } else {
            Ok(span)
        }
    }

    pub fn string(&mut self, bytes: &[u8]) -> Eval {
        self.place(bytes).map(Value::String)
    }

    /// A string that `make` appends to an empty buffer.
    pub fn made(&mut self, make: impl FnOnce(&mut Self, &mut Vec<u8>) -> Result<(), Halt>) -> Eval {
        let mut out = self.cx.work.text();
        let result = make(self, &mut out).and_then(|()| self.string(&out));
        self.cx.work.keep_text(out);
        result
    }

    /// The text that `string()` makes of a value, in place where it is one.
    pub fn text_of(&mut self, value: Value) -> Result<Span, Halt> {
        if let Some(span) = value.span() {
            return Ok(span);
        }
        let mut out = self.cx.work.text();
        self.put(value, TEXT, &mut out);
        let span = self.place(&out);
        self.cx.work.keep_text(out);
        span
    }

    /// The bytes of a text of the block.
    pub(crate) fn literal(&self, number: u32) -> &[u8] {
        self.literals.get(number as usize).map_or(&[], |text| text)
    }

    /// A text of the block as a value.
    #[inline(always)]
    pub(crate) fn literal_value(&mut self, number: u32) -> Eval {
        self.literal_span(number).map(Value::String)
    }

    /// Where a text of the block stands: it is put into the batch once, for all messages.
    #[inline(always)]
    pub(super) fn literal_span(&mut self, number: u32) -> Result<Span, Halt> {
        match self.memory.texts.get(number as usize) {
            Some(Some(span)) => Ok(*span),
            _ => self.new_literal(number),
        }
    }

    #[inline(never)]
    fn new_literal(&mut self, number: u32) -> Result<Span, Halt> {
        match put_literal(self.batch, self.literals, &mut self.memory.texts, number) {
            Some(span) => Ok(span),
            None => self.fail(Failure::Limit("Too much text in one batch")),
        }
    }

    /// A list of these values.
    pub fn list(&mut self, values: &[Value]) -> Eval {
        match self.batch.trees.node_of(values) {
            Ok(node) => Ok(Value::List(node)),
            Err(_) => self.full(),
        }
    }

    /// A container of what stands on the stack above `mark`, which is taken from it; of keys that may
    /// repeat the last value counts.
    pub(crate) fn node_of_stack(&mut self, mark: usize, may_repeat: bool) -> Result<value::Node, Halt> {
        let node = self.batch.trees.node_of(self.memory.stack.get(mark..).unwrap_or_default());
        self.memory.stack.truncate(mark);
        let Ok(node) = node else { return self.full() };
        let batch = &mut *self.batch;
        if may_repeat && batch.trees.merge_duplicates(node, &batch.text).is_err() {
            return self.full();
        }
        Ok(node)
    }

    pub fn new_dict(&mut self) -> Result<value::Node, Halt> {
        match self.batch.trees.new_node(8) {
            Ok(node) => Ok(node),
            Err(_) => self.full(),
        }
    }

    /// Sets a key of a dictionary that nobody else has.
    pub fn set_key(&mut self, dict: value::Node, key: Value, value: Value) -> Result<(), Halt> {
        let batch = &mut *self.batch;
        match batch.trees.set(dict, key, value, &batch.text) {
            Ok(()) => Ok(()),
            Err(_) => self.full(),
        }
    }

    /// Sets a key that is a text.
    pub fn set_text(&mut self, dict: value::Node, key: &[u8], value: Value) -> Result<(), Halt> {
        let key = self.string(key)?;
        self.set_key(dict, key, value)
    }
}

/// Puts a text of the block into the batch; `None` where that has no room.
#[inline(never)]
pub(super) fn put_literal(
    batch: &mut Batch,
    literals: &[Box<[u8]>],
    places: &mut [Option<Span>],
    number: u32,
) -> Option<Span> {
    let text = literals.get(number as usize).map_or(&[][..], |text| text);
    // In quotes, as JSON has it, so that it is printed in one piece.
    batch.append(b"\"");
    let span = batch.append(text);
    batch.append(b"\"");
    let span = (span.len as usize == text.len()).then_some(span)?;
    *places.get_mut(number as usize)? = Some(span);
    Some(span)
}
