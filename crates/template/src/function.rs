//! Template functions: what a call is once compiled, and what the table says of each.

use crate::call::Call;
use crate::context::Scratch;
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Demand, ValueType};
use std::sync::Arc;

/// A compiled call.
pub(crate) trait Function: Send + Sync {
    /// Appends the result.
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType;
    fn reads(&self, demand: &mut Demand);

    /// What it prints, and as which type, when no message changes that: then it is called only once.
    fn constant(&self) -> Option<(Vec<u8>, ValueType)> {
        None
    }

    /// The arguments of `$(explode)`, for a function that goes through its parts itself: what is left is of
    /// no use.
    fn exploded(&mut self) -> Option<Box<[Template]>> {
        None
    }

    /// The chain whose entries it makes: drafts, until the output leaves.
    fn chain(&self) -> Option<&Arc<slog::Chain>> {
        None
    }
}

/// A template function for the reference manual and the compiler.
pub struct FunctionInfo {
    pub name: &'static str,
    /// The arguments, as the manual prints them.
    pub usage: &'static str,
    pub help: &'static str,
    /// Least and largest number of arguments, options not counted.
    pub(crate) arity: (usize, usize),
    /// Options before the arguments, and whether each takes a value.
    pub(crate) options: &'static [(&'static str, bool)],
    pub(crate) build: Build,
    /// A call with its result, for the manual and its test.
    pub example: (&'static str, &'static str),
    pub cost: Cost,
}

pub(crate) type BuildFn = fn(&mut Call<'_>) -> Result<Box<dyn Function>, TemplateError>;

#[derive(Clone, Copy)]
pub(crate) enum Build {
    /// Works on its printed arguments alone; computed once when they are literal.
    Plain(Plain),
    /// Has options, fixed arguments or looks at the message.
    Special(BuildFn),
    /// `$(template NAME)`.
    Template,
}

/// A function of its arguments.
pub(crate) type Plain = fn(Args<'_>, &mut Vec<u8>) -> ValueType;

pub(crate) const ANY: usize = usize::MAX;

/// Printed arguments.
#[derive(Clone, Copy)]
pub(crate) struct Args<'a> {
    text: &'a [u8],
    ends: &'a [u32],
}

impl<'a> Args<'a> {
    #[cfg(test)]
    pub fn of(text: &'a [u8], ends: &'a [u32]) -> Args<'a> {
        Args { text, ends }
    }

    /// An argument; empty when it was not given.
    pub fn get(&self, index: usize) -> &'a [u8] {
        let end = |i: usize| self.ends.get(i).map(|e| *e as usize);
        let start = if index == 0 { Some(0) } else { end(index - 1) };
        start.zip(end(index)).and_then(|(start, end)| self.text.get(start..end)).unwrap_or_default()
    }

    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// All arguments as one text.
    pub fn joined(&self) -> &'a [u8] {
        self.text
    }

    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.count()).map(move |i| self.get(i))
    }
}

/// The printed arguments of a call, in buffers of the worker.
pub(crate) fn with_args<R>(
    templates: &[Template],
    msg: Msg<'_>,
    cx: &mut RenderContext,
    use_args: impl FnOnce(Args<'_>, &mut RenderContext) -> R,
) -> R {
    let Scratch { mut text, mut ends } = cx.take_scratch();
    for template in templates {
        template.render(msg, cx, &mut text);
        ends.push(text.len() as u32);
    }
    let result = use_args(Args { text: &text, ends: &ends }, cx);
    cx.put_back(Scratch { text, ends });
    result
}

/// A call of a function that only sees its arguments.
pub(crate) struct PlainCall {
    pub name: &'static str,
    pub args: Box<[Template]>,
    pub run: Plain,
}

impl Function for PlainCall {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        with_args(&self.args, msg, cx, |args, _| (self.run)(args, out))
    }

    fn constant(&self) -> Option<(Vec<u8>, ValueType)> {
        let mut text = Vec::new();
        let mut ends = Vec::new();
        for arg in &self.args {
            text.extend_from_slice(arg.literal()?);
            ends.push(text.len() as u32);
        }
        let mut out = Vec::new();
        let kind = (self.run)(Args { text: &text, ends: &ends }, &mut out);
        Some((out, kind))
    }

    fn exploded(&mut self) -> Option<Box<[Template]>> {
        (self.name == "explode").then(|| std::mem::take(&mut self.args))
    }

    fn reads(&self, demand: &mut Demand) {
        self.args.iter().for_each(|arg| arg.reads(demand));
    }
}
