//! Template functions over the messages of a correlation context, and `${X}@1`, which prints an earlier one.
//! Where there is no context the message itself is all there is.

use crate::call::Call;
use crate::facts::put;
use crate::function::{ANY, Build, BuildFn, Function, FunctionInfo};
use crate::{Condition, Cost, Msg, RenderContext, Template, TemplateError, list};
use record::{Demand, ValueType};
use std::ops::ControlFlow;
use std::sync::Arc;

const MAX_COUNT: &[(&str, bool)] = &[("--max-count", true), ("-m", true)];

const fn numbers(name: &'static str, help: &'static str, build: BuildFn) -> FunctionInfo {
    let example = match name.as_bytes() {
        [b's', ..] => ("$(sum 3)", "3"),
        [b'm', b'i', ..] => ("$(min 3)", "3"),
        [b'm', ..] => ("$(max 3)", "3"),
        _ => ("$(average 3)", "3"),
    };
    FunctionInfo {
        name,
        usage: "NUMBER",
        help,
        arity: (1, 1),
        options: &[],
        build: Build::Special(build),
        example,
        cost: Cost::CONTEXT,
    }
}

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo {
        name: "context-length",
        usage: "",
        help: "the number of messages in the correlation context",
        arity: (0, ANY),
        options: &[],
        build: Build::Special(|call| call.boxed(Length)),
        example: ("$(context-length)", "1"),
        cost: Cost::of("none: the number is known"),
    },
    FunctionInfo {
        name: "context-values",
        usage: "TEXT...",
        help: "the texts of every message of the context, as a list",
        arity: (1, ANY),
        options: &[],
        build: Build::Special(values),
        example: ("$(context-values $PROGRAM x)", "app,x"),
        cost: Cost::CONTEXT,
    },
    FunctionInfo {
        name: "context-lookup",
        usage: "[--max-count N] CONDITION TEXT...",
        help: "the texts of those messages of the context for which the filter expression holds, as a list",
        arity: (2, ANY),
        options: MAX_COUNT,
        build: Build::Special(lookup),
        example: ("$(context-lookup ('$PID' > 100) $PROGRAM)", "app"),
        cost: Cost::CONTEXT,
    },
    FunctionInfo {
        name: "grep",
        usage: "[--max-count N] CONDITION TEXT...",
        help: "the same, with nothing but commas between the texts",
        arity: (2, ANY),
        options: MAX_COUNT,
        build: Build::Special(grep),
        example: ("$(grep ('$PID' > 100) $PROGRAM $MSG)", "app,hello world"),
        cost: Cost::CONTEXT,
    },
    numbers(
        "sum",
        "the sum of a number over the messages of the context; what is no number is left out",
        |call| fold(call, Fold::Sum),
    ),
    numbers("min", "the least of a number over the messages of the context", |call| fold(call, Fold::Min)),
    numbers("max", "the largest of a number over the messages of the context", |call| fold(call, Fold::Max)),
    numbers(
        "average",
        "the mean of a number over the messages of the context; of whole numbers, whole",
        |call| fold(call, Fold::Average),
    ),
];

/// `${X}@1`: something of the message this many before the last.
pub(crate) struct At {
    pub back: usize,
    pub inner: Template,
}

impl Function for At {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let Some(messages) = cx.messages.take() else {
            return if self.back == 0 { self.inner.render_typed(msg, cx, out) } else { ValueType::String };
        };
        let last = messages.records.len().wrapping_sub(1);
        let record = messages.records.get(last.wrapping_sub(self.back));
        let kind = record.map(|record| self.inner.render_typed(Msg { batch: &messages, record }, cx, out));
        cx.messages = Some(messages);
        kind.unwrap_or_default()
    }

    fn reads(&self, demand: &mut Demand) {
        demand.context |= self.back > 0;
        self.inner.reads(demand);
    }
}

/// Calls `f` for every message of the context, each as if it stood alone.
fn each(
    msg: Msg<'_>,
    cx: &mut RenderContext,
    mut f: impl FnMut(Msg<'_>, &mut RenderContext) -> ControlFlow<()>,
) {
    let Some(messages) = cx.messages.take() else {
        let _ = f(msg, cx);
        return;
    };
    for record in &messages.records {
        if f(Msg { batch: &messages, record }, cx).is_break() {
            break;
        }
    }
    cx.messages = Some(messages);
}

struct Length;

impl Function for Length {
    fn call(&self, _: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let length = cx.messages.as_ref().map_or(1, |messages| messages.records.len());
        put(out, format_args!("{length}"));
        ValueType::Int
    }

    fn reads(&self, demand: &mut Demand) {
        demand.context = true;
    }
}

/// Texts of messages, as a list or with bare commas between them.
struct Texts {
    condition: Option<Arc<dyn Condition>>,
    texts: Box<[Template]>,
    most: usize,
    quoted: bool,
}

fn values(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    call.boxed(Texts { condition: None, texts: call.templates(0)?, most: usize::MAX, quoted: true })
}

fn lookup(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let (condition, texts, most) = (Some(call.condition(0)?), call.templates(1)?, most(call)?);
    call.boxed(Texts { condition, texts, most, quoted: true })
}

fn grep(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let (condition, texts, most) = (Some(call.condition(0)?), call.templates(1)?, most(call)?);
    call.boxed(Texts { condition, texts, most, quoted: false })
}

/// Messages that count; 0 says no bound.
fn most(call: &Call<'_>) -> Result<usize, TemplateError> {
    let Some(text) = call.option("--max-count").or_else(|| call.option("-m")) else { return Ok(usize::MAX) };
    match text.parse::<usize>() {
        Ok(0) => Ok(usize::MAX),
        Ok(most) => Ok(most),
        Err(_) => Err(call.error(0, format!("--max-count takes a number, not `{text}`"))),
    }
}

impl Function for Texts {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let (mut first, mut left) = (true, self.most);
        let mut scratch = cx.take_scratch();
        each(msg, cx, |msg, cx| {
            if self.condition.as_ref().is_some_and(|c| !c.holds(msg, cx)) {
                return ControlFlow::Continue(());
            }
            for text in &self.texts {
                scratch.text.clear();
                text.render(msg, cx, &mut scratch.text);
                if self.quoted {
                    list::push(&scratch.text, &mut first, out);
                    continue;
                }
                if !std::mem::replace(&mut first, false) {
                    out.push(b',');
                }
                out.extend_from_slice(&scratch.text);
            }
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        cx.put_back(scratch);
        if self.quoted { ValueType::List } else { ValueType::String }
    }

    fn reads(&self, demand: &mut Demand) {
        demand.context = true;
        self.condition.iter().for_each(|condition| condition.reads(demand));
        self.texts.iter().for_each(|text| text.reads(demand));
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fold {
    Sum,
    Min,
    Max,
    Average,
}

struct Numbers {
    number: Template,
    fold: Fold,
}

fn fold(call: &mut Call<'_>, fold: Fold) -> Result<Box<dyn Function>, TemplateError> {
    call.boxed(Numbers { number: call.template(0)?, fold })
}

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    /// Decimal; blanks before it are skipped.
    fn read(text: &[u8]) -> Option<Number> {
        let text = std::str::from_utf8(text).ok()?.trim_start();
        let int = text.parse().ok().map(Number::Int);
        int.or_else(|| text.parse::<f64>().ok().filter(|d| d.is_finite()).map(Number::Double))
    }

    fn double(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Double(double) => double,
        }
    }
}

impl Fold {
    /// Sums of whole numbers go round at the ends, as those of syslog-ng.
    fn join(self, a: Number, b: Number) -> Number {
        match (self, a, b) {
            (Fold::Sum | Fold::Average, Number::Int(a), Number::Int(b)) => Number::Int(a.wrapping_add(b)),
            (Fold::Sum | Fold::Average, a, b) => Number::Double(a.double() + b.double()),
            (Fold::Min, Number::Int(a), Number::Int(b)) => Number::Int(a.min(b)),
            (Fold::Max, Number::Int(a), Number::Int(b)) => Number::Int(a.max(b)),
            (Fold::Min, a, b) => {
                if b.double() < a.double() {
                    b
                } else {
                    a
                }
            }
            (Fold::Max, a, b) => {
                if b.double() > a.double() {
                    b
                } else {
                    a
                }
            }
        }
    }
}

impl Function for Numbers {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let mut result: Option<Number> = None;
        let mut count = 0i64;
        let mut scratch = cx.take_scratch();
        each(msg, cx, |msg, cx| {
            scratch.text.clear();
            self.number.render(msg, cx, &mut scratch.text);
            if let Some(number) = Number::read(&scratch.text) {
                result = Some(result.map_or(number, |before| self.fold.join(before, number)));
                count += 1;
            }
            ControlFlow::Continue(())
        });
        cx.put_back(scratch);
        let result = match result {
            Some(Number::Int(sum)) if self.fold == Fold::Average => {
                Some(Number::Int(sum.wrapping_div(count)))
            }
            Some(Number::Double(sum)) if self.fold == Fold::Average => {
                Some(Number::Double(sum / count as f64))
            }
            other => other,
        };
        match result {
            Some(Number::Int(int)) => {
                put(out, format_args!("{int}"));
                ValueType::Int
            }
            Some(Number::Double(double)) => {
                put(out, format_args!("{double}"));
                ValueType::Double
            }
            None => ValueType::Null,
        }
    }

    fn reads(&self, demand: &mut Demand) {
        demand.context = true;
        self.number.reads(demand);
    }
}

#[cfg(test)]
mod tests;
