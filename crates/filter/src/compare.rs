//! Comparisons: `"$PID" > 100`, `"$HOST" eq "a"`, `int("$x") === 5`.

use crate::context::Workspace;
use crate::number::Number;
use crate::subject::Subject;
use conf_syntax::CompareOp;
use record::{Demand, NameId, ValueType};
use std::cmp::Ordering;
use template::{Msg, RenderContext, Template};

/// A compiled comparison.
pub struct Compare {
    pub left: Side,
    pub right: Side,
    pub test: Test,
    pub rule: Rule,
}

/// One side.
pub enum Side {
    Literal {
        text: Box<[u8]>,
        kind: ValueType,
        number: Number,
    },
    /// A value in place; `kind` is the declared type, else the value's own.
    Subject {
        subject: Subject,
        kind: Option<ValueType>,
    },
    /// `lone`: one value that keeps its type.
    Template {
        template: Box<Template>,
        lone: bool,
    },
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Their bytes.
    Text,
    /// The whole numbers they begin with: before version 4.0.
    Leading,
    /// By their types.
    Typed,
    /// By their types, and different types are never equal.
    Strict,
}

/// Which outcomes of the comparison make it true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    less: bool,
    equal: bool,
    greater: bool,
}

impl Test {
    pub fn of(op: CompareOp) -> Test {
        let (less, equal, greater) = match op {
            CompareOp::Lt | CompareOp::StrLt => (true, false, false),
            CompareOp::Le | CompareOp::StrLe => (true, true, false),
            CompareOp::Eq | CompareOp::StrEq | CompareOp::StrictEq => (false, true, false),
            CompareOp::Ne | CompareOp::StrNe | CompareOp::StrictNe => (true, false, true),
            CompareOp::Ge | CompareOp::StrGe => (false, true, true),
            CompareOp::Gt | CompareOp::StrGt => (false, false, true),
        };
        Test { less, equal, greater }
    }

    fn holds(self, ordering: Ordering) -> bool {
        match ordering {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }

    /// `!=`: the only one that is true of things that cannot be compared.
    fn is_not_equal(self) -> bool {
        self.less && self.greater && !self.equal
    }

    fn is_equality(self) -> bool {
        self.less == self.greater && self.less != self.equal
    }
}

struct Seen<'a> {
    text: &'a [u8],
    kind: ValueType,
    number: Option<Number>,
}

impl Seen<'_> {
    fn number(&self) -> Number {
        self.number.unwrap_or_else(|| Number::of(self.text, self.kind))
    }
}

impl Compare {
    /// The value, the text it is compared with byte by byte, and whether it has to be that text (`eq`) or
    /// another one (`ne`).
    pub fn equality(&self) -> Option<(NameId, &[u8], bool)> {
        if self.rule != Rule::Text || !self.test.is_equality() {
            return None;
        }
        let (subject, text) = match (&self.left, &self.right) {
            (Side::Subject { subject, .. }, Side::Literal { text, .. }) => (subject, text),
            (Side::Literal { text, .. }, Side::Subject { subject, .. }) => (subject, text),
            _ => return None,
        };
        Some((subject.name()?, text, self.test.equal))
    }

    /// The outcome, where no message is needed to know it.
    pub fn constant(&self) -> Option<bool> {
        let literal = |side: &'_ Side| matches!(side, Side::Literal { .. });
        (literal(&self.left) && literal(&self.right)).then(|| {
            let seen = |side| match side {
                &Side::Literal { ref text, kind, number } => Seen { text, kind, number: Some(number) },
                _ => Seen { text: b"", kind: ValueType::Null, number: None },
            };
            self.decide(&seen(&self.left), &seen(&self.right))
        })
    }

    pub fn holds(&self, msg: Msg<'_>, work: &mut Workspace, render: &mut RenderContext) -> bool {
        // In place, where nothing has to be printed.
        if self.rule == Rule::Text
            && let (Some(left), Some(right)) = (self.left.in_place(msg), self.right.in_place(msg))
        {
            return self.texts(left, right);
        }
        let (mut a, mut b) = (work.text(), work.text());
        let left = self.left.see(msg, render, &mut a);
        let right = self.right.see(msg, render, &mut b);
        let result = self.decide(&left, &right);
        work.keep_text(a);
        work.keep_text(b);
        result
    }

    /// The texts of both sides.
    pub fn sides(&self, msg: Msg<'_>, render: &mut RenderContext) -> (Vec<u8>, Vec<u8>) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let left = self.left.see(msg, render, &mut a).text.to_vec();
        let right = self.right.see(msg, render, &mut b).text.to_vec();
        (left, right)
    }

    /// How both sides are compared; empty where the operator alone says it.
    pub fn compares_as(&self, msg: Msg<'_>, render: &mut RenderContext) -> &'static str {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let left = self.left.see(msg, render, &mut a);
        let right = self.right.see(msg, render, &mut b);
        let is_null = left.kind == ValueType::Null || right.kind == ValueType::Null;
        match self.rule {
            Rule::Text => "",
            Rule::Leading => "the whole numbers they begin with",
            Rule::Strict if left.kind != right.kind => "values of different types",
            Rule::Strict | Rule::Typed if same_text(left.kind, right.kind) => "texts",
            Rule::Strict | Rule::Typed if self.test.is_equality() && is_null => "a value that is not set",
            Rule::Strict | Rule::Typed => "numbers",
        }
    }

    fn decide(&self, left: &Seen<'_>, right: &Seen<'_>) -> bool {
        match self.rule {
            Rule::Text => self.texts(left.text, right.text),
            Rule::Leading => {
                let ordering = Number::leading(left.text).compare(Number::leading(right.text));
                self.test.holds(ordering.unwrap_or(Ordering::Equal))
            }
            Rule::Strict if left.kind != right.kind => self.test.is_not_equal(),
            Rule::Strict | Rule::Typed => self.typed(left, right),
        }
    }

    /// Whether two texts are equal is mostly said by their lengths.
    #[inline]
    fn texts(&self, left: &[u8], right: &[u8]) -> bool {
        match self.test.is_equality() {
            true => (left == right) == self.test.equal,
            false => self.test.holds(left.cmp(right)),
        }
    }

    fn typed(&self, left: &Seen<'_>, right: &Seen<'_>) -> bool {
        if same_text(left.kind, right.kind) {
            return self.texts(left.text, right.text);
        }
        let null = |seen: &Seen<'_>| seen.kind == ValueType::Null;
        if self.test.is_equality() && (null(left) || null(right)) {
            return self.test.equal == (null(left) && null(right));
        }
        match left.number().compare(right.number()) {
            Some(ordering) => self.test.holds(ordering),
            None => self.test.is_not_equal(),
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        for side in [&self.left, &self.right] {
            match side {
                Side::Literal { .. } => {}
                Side::Subject { subject, .. } => subject.reads(demand),
                Side::Template { template, .. } => template.reads(demand),
            }
        }
    }
}

/// Types whose values are compared as text when both sides have them. A list is not compared with JSON:
/// neither is a number.
fn same_text(left: ValueType, right: ValueType) -> bool {
    use ValueType::{Bytes, Json, List, Protobuf, String};
    left == right && matches!(left, String | List | Json | Bytes | Protobuf)
}

impl Side {
    pub fn literal(text: &[u8], kind: ValueType) -> Side {
        Side::Literal { text: text.into(), kind, number: Number::of(text, kind) }
    }

    /// The text, where it stands somewhere.
    #[inline]
    fn in_place<'a>(&'a self, msg: Msg<'a>) -> Option<&'a [u8]> {
        match self {
            Side::Literal { text, .. } => Some(text),
            Side::Subject { subject: Subject::Value(name), kind } => Some(value(msg, *name, *kind).text),
            Side::Subject { subject, .. } => subject.field(msg.record).map(|span| msg.batch.bytes(span)),
            Side::Template { .. } => None,
        }
    }

    fn see<'a>(&'a self, msg: Msg<'a>, render: &mut RenderContext, buffer: &'a mut Vec<u8>) -> Seen<'a> {
        match self {
            Side::Literal { text, kind, number } => Seen { text, kind: *kind, number: Some(*number) },
            Side::Subject { subject: Subject::Value(name), kind } => value(msg, *name, *kind),
            Side::Subject { subject, kind } => {
                let text = subject.text(msg, render, buffer);
                let own = match subject.name() {
                    Some(name) if text.is_empty() => {
                        msg.batch.value(msg.record, name).map_or(ValueType::Null, |value| value.kind)
                    }
                    Some(name) => msg.record.types.of(name),
                    None if text.is_empty() => ValueType::Null,
                    None => ValueType::String,
                };
                Seen { text, kind: kind.unwrap_or(own), number: None }
            }
            Side::Template { template, lone } => {
                let kind = template.render_typed(msg, render, buffer);
                let unset = *lone && buffer.is_empty() && kind == ValueType::String;
                Seen { text: buffer, kind: if unset { ValueType::Null } else { kind }, number: None }
            }
        }
    }
}

/// A value that is not set is null: from version 4.0 on `"$PID" == ""` is not true of it, `"$PID" eq ""` is.
fn value(msg: Msg<'_>, name: NameId, kind: Option<ValueType>) -> Seen<'_> {
    let is_binary = |kind| matches!(kind, ValueType::Bytes | ValueType::Protobuf);
    match msg.batch.value(msg.record, name) {
        // A template shows nothing of it, unless a type hint asks for it.
        Some(value) if is_binary(value.kind) && !kind.is_some_and(is_binary) => {
            Seen { text: b"", kind: kind.unwrap_or(value.kind), number: None }
        }
        Some(value) => Seen { text: value.bytes, kind: kind.unwrap_or(value.kind), number: None },
        None => Seen { text: b"", kind: kind.unwrap_or(ValueType::Null), number: None },
    }
}
