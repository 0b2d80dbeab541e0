//! `$(python FUNCTION ARGUMENTS...)`: a function of the user's own, in a process beside the program.
//!
//! Who prints a template knows one message at a time; a question for each would cost two changes of process.
//! So the engine lets the calls of a step be made for all messages of a batch beforehand ([`Prepare`]), and a
//! result waits as a value of its message under a name of the call's own. Where nobody has, the call asks for
//! its one message.

use crate::call::Call;
use crate::function::{Build, Function, FunctionInfo};
use crate::python::Values;
use crate::{Cost, Msg, RenderContext, Template, TemplateError, TemplateOptions};
use python::marshal::{self, Item, Malformed, Reader};
use python::{Identity, Instance, Kind, Messages, Names};
use record::{Batch, Demand, NameId, ValueType};
use std::sync::{Arc, Mutex, PoisonError, Weak};

pub(super) const FUNCTIONS: &[FunctionInfo] = &[FunctionInfo {
    name: "python",
    usage: "FUNCTION [TEXT...]",
    help: "what a function of Python returns, str or bytes: `module.function`, or `function` of a `python { }` block. It is called with \
           the message and the arguments, which are bytes. What raises, or returns something else, prints `<error>`",
    arity: (1, crate::function::ANY),
    options: &[],
    build: Build::Special(build),
    example: ("$(python my_function $HOST)", "HOST"),
    cost: Cost::of(
        "a Python function for each message, called in another process for a batch at a time; see docs/python.md",
    ),
}];

/// What stands where a function fails, as in syslog-ng.
const FAILED: &[u8] = b"<error>";

/// A call in a template.
pub struct Prepare {
    instance: Arc<Instance>,
    args: Box<[Template]>,
    options: TemplateOptions,
    /// The value in which the result waits.
    name: NameId,
}

struct Python(Arc<Prepare>);

/// The calls there are, by the name of their value.
static CALLS: Mutex<Vec<(NameId, Weak<Prepare>)>> = Mutex::new(Vec::new());

fn build(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let function = call.literal(0, "the function")?;
    let pool = call.compiler.scope.python().map_err(|why| call.error(0, why))?;
    let identity = Identity {
        kind: Kind::Function,
        class: function.clone(),
        // No options.
        options: b"[\0\0\0\0".to_vec(),
        loaders: Vec::new(),
        place: String::new(),
        flags: None,
    };
    let instance = pool.load(identity).map_err(|fault| {
        call.error(0, format!("the function `{function}` cannot be used: {}", fault.to_string().trim_end()))
    })?;
    let (args, options) = (call.templates(1)?, call.options().clone());
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    calls.retain(|(_, call)| call.strong_count() > 0);
    let free = (0..=calls.len()).map(|number| format!(".python.call.{number}"));
    let mut free = free.filter_map(|name| record::intern(&name));
    let name = free.find(|name| !calls.iter().any(|(taken, _)| taken == name));
    let name = name.ok_or_else(|| call.error(0, "too many names"))?;
    let prepare = Arc::new(Prepare { instance, args, options, name });
    calls.push((name, Arc::downgrade(&prepare)));
    Ok(Box::new(Python(prepare)))
}

/// The calls whose results a step with this demand reads.
pub fn calls_in(demand: &Demand) -> Vec<Arc<Prepare>> {
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let read = calls.iter().filter(|(name, _)| demand.calls.contains(name));
    read.filter_map(|(_, call)| call.upgrade()).collect()
}

impl Prepare {
    /// Makes the call for all messages of a selection.
    pub fn prepare(&self, batch: &mut Batch, selection: &[u32], cx: &mut RenderContext) {
        let mut values = self.values(cx);
        let results = vec![None; selection.len()];
        let mut calling =
            Calling { call: self, batch, selection, values: &mut values, cx, results, texts: Vec::new() };
        self.instance.run(&mut calling);
        let Calling { results, texts, .. } = calling;
        self.keep(values, cx);
        for (index, result) in selection.iter().zip(results) {
            let text = result.and_then(|(start, end)| texts.get(start..end)).unwrap_or(FAILED);
            batch.set(*index as usize, self.name, text, ValueType::String);
        }
    }

    pub fn name(&self) -> NameId {
        self.name
    }

    /// Adds what it looks at, its arguments too.
    pub fn reads(&self, demand: &mut Demand) {
        crate::python::reads(demand);
        self.args.iter().for_each(|arg| arg.reads(demand));
    }

    fn values(&self, cx: &mut RenderContext) -> Box<Values> {
        cx.python.remove(&self.name).unwrap_or_else(|| Box::new(Values::new(&self.options)))
    }

    fn keep(&self, values: Box<Values>, cx: &mut RenderContext) {
        cx.python.insert(self.name, values);
    }
}

impl Function for Python {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let Python(call) = self;
        if let Some(result) = msg.batch.value(msg.record, call.name) {
            out.extend_from_slice(result.bytes);
            return ValueType::String;
        }
        let mut values = call.values(cx);
        let index = [0];
        let mut calling = Calling {
            call,
            batch: msg.batch,
            selection: &index,
            values: &mut values,
            cx,
            results: vec![None],
            texts: Vec::new(),
        };
        call.instance.run(&mut OfOne { calling: &mut calling, msg });
        let result = calling.results.first().copied().flatten();
        out.extend_from_slice(
            result.and_then(|(start, end)| calling.texts.get(start..end)).unwrap_or(FAILED),
        );
        call.keep(values, cx);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        demand.name(self.0.name);
        demand.calls.insert(self.0.name);
        self.0.reads(demand);
    }
}

/// The messages of a selection, on their way to the function and back.
struct Calling<'a> {
    call: &'a Prepare,
    batch: &'a Batch,
    selection: &'a [u32],
    values: &'a mut Values,
    cx: &'a mut RenderContext,
    /// Places in `texts`.
    results: Vec<Option<(usize, usize)>>,
    texts: Vec<u8>,
}

impl<'a> Calling<'a> {
    fn msg(&self, at: usize) -> Option<Msg<'a>> {
        let batch: &'a Batch = self.batch;
        let record = batch.records.get(*self.selection.get(at)? as usize)?;
        Some(Msg { batch, record })
    }

    fn write_arguments(&mut self, msg: Msg<'_>, out: &mut Vec<u8>) {
        marshal::tuple(self.call.args.len(), out);
        let mut text = Vec::new();
        for arg in &self.call.args {
            text.clear();
            arg.render(msg, self.cx, &mut text);
            marshal::bytes(&text, out);
        }
    }

    fn take(&mut self, at: usize, answer: &mut Reader<'_>) -> Result<(), Malformed> {
        let result = match answer.item()? {
            Item::None => {
                self.call.instance.note_raised(1);
                None
            }
            Item::Text(text) | Item::Bytes(text) => {
                let start = self.texts.len();
                self.texts.extend_from_slice(text);
                Some((start, self.texts.len()))
            }
            _ => return Err(Malformed),
        };
        if let Some(place) = self.results.get_mut(at) {
            *place = result;
        }
        Ok(())
    }
}

impl Messages for Calling<'_> {
    fn count(&self) -> usize {
        self.selection.len()
    }

    fn row(&mut self, at: usize, names: &Arc<Names>, out: &mut Vec<u8>) {
        if let Some(msg) = self.msg(at) {
            self.values.row(msg, names, self.cx, out);
        }
    }

    fn value(&mut self, at: usize, name: &str, out: &mut Vec<u8>) {
        if let Some(msg) = self.msg(at) {
            self.values.value(msg, name, self.cx, out);
        }
    }

    fn arguments(&mut self, at: usize, out: &mut Vec<u8>) {
        if let Some(msg) = self.msg(at) {
            self.write_arguments(msg, out);
        }
    }

    fn answer(&mut self, at: usize, answer: &mut Reader<'_>) -> Result<(), Malformed> {
        self.take(at, answer)
    }
}

/// One message, wherever its record stands.
struct OfOne<'a, 'b> {
    calling: &'a mut Calling<'b>,
    msg: Msg<'a>,
}

impl Messages for OfOne<'_, '_> {
    fn count(&self) -> usize {
        1
    }

    fn row(&mut self, _: usize, names: &Arc<Names>, out: &mut Vec<u8>) {
        self.calling.values.row(self.msg, names, self.calling.cx, out);
    }

    fn value(&mut self, _: usize, name: &str, out: &mut Vec<u8>) {
        self.calling.values.value(self.msg, name, self.calling.cx, out);
    }

    fn arguments(&mut self, _: usize, out: &mut Vec<u8>) {
        let msg = self.msg;
        self.calling.write_arguments(msg, out);
    }

    fn answer(&mut self, at: usize, answer: &mut Reader<'_>) -> Result<(), Malformed> {
        self.calling.take(at, answer)
    }
}
