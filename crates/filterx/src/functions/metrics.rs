//! `update_metric()`: counters by name and labels.

use crate::ast::Kind;
use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Halt, Run};
use crate::types::Types;
use filter::new_asker;
use parsers::scanners::metrics::{self, Cell};
use std::collections::HashMap;
use std::sync::Arc;
use value::{Seed, TEXT, Value};

pub const FUNCTIONS: &[Function] = &[Function {
    name: "update_metric",
    parameters: &[
        Parameter::value("key", Types::STRING),
        Parameter::named("labels", Form::Expression, "none"),
        Parameter::named("increment", Form::Expression, "1"),
        Parameter::named("level", Form::Number, "0"),
    ],
    returns: Types::BOOLEAN,
    help: "Adds to a counter, which statistics show as `syslogng_` and its key. Labels are a dict or metrics_labels(); empty ones are left out. The \
           increment is a whole number, 0 or more. It always returns true: where something is wrong, nothing is counted.",
    examples: &[
        ("update_metric(\"fx_example\", labels={\"a\": 1}, increment=2)", "true"),
        ("update_metric(\"fx_example\", increment=nosuch)", "true"),
    ],
    build: Build::Made(update),
}];

/// Counters a worker remembers.
const REMEMBERED_MAX: usize = 1 << 16;

struct Counter {
    /// `None`: there was no room for it.
    cell: Option<Arc<Cell>>,
    /// Where it stands among what the batch has counted.
    place: usize,
}

struct Update {
    key: Expr,
    labels: Option<Expr>,
    increment: Option<Expr>,
    level: u8,
    asker: u64,
}

#[derive(Default)]
struct Memory {
    known: HashMap<Vec<u8>, Counter, Seed>,
    text: Vec<u8>,
    /// Names and values of labels.
    pairs: Vec<(Value, Value)>,
}

fn update(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let key = args.value(0);
    if let Some(Kind::Dict(pairs)) = args.ast(1).map(|labels| &labels.kind)
        && let Some(name) = pairs.iter().find(|pair| !matches!(pair.key.kind, Kind::Text(..)))
    {
        let help = "where names of labels come from the message, build them with metrics_labels()";
        let at = name.key.at;
        args.compiler.wrong_with("Y0104", "names of labels are fixed texts", at, help);
        return None;
    }
    let (labels, increment) = (args.optional(1), args.optional(2));
    let level = args.number(3, 0)?;
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    args.made(Update { key: key?, labels: labels?, increment: increment?, level, asker: new_asker() })
}

impl Update {
    /// Key and what is added; labels by their names into `pairs`.
    fn parts(&self, run: &mut Run<'_>, pairs: &mut Vec<(Value, Value)>) -> Result<(Value, u64), Halt> {
        let key = run.eval(&self.key)?;
        if !matches!(key, Value::String(_)) {
            return run.error("The key of a metric must be a string");
        }
        let labels = match &self.labels {
            Some(labels) => run.eval(labels)?,
            None => Value::Null,
        };
        let count = run.pair_count(labels);
        if self.labels.is_some() && count.is_none() {
            return run.error("labels must be a dict");
        }
        pairs.clear();
        pairs.extend((0..count.unwrap_or(0)).filter_map(|at| run.pair(labels, at)));
        pairs.retain(|(name, value)| {
            let is_empty = *value == Value::Null || value.span().is_some_and(|span| span.is_empty());
            matches!(name, Value::String(_)) && !is_empty
        });
        pairs.sort_by(|a, b| run.bytes(a.0).cmp(run.bytes(b.0)));
        let increment = match &self.increment {
            Some(increment) => match run.eval(increment)? {
                // A counter does not go down.
                Value::Integer(n) => match u64::try_from(n) {
                    Ok(n) => n,
                    Err(_) => return run.error("increment must not be negative"),
                },
                _ => return run.error("increment must be an integer"),
            },
            None => 1,
        };
        Ok((key, increment))
    }

    fn count(&self, run: &mut Run<'_>, memory: &mut Memory) -> Result<(), Halt> {
        let Memory { known, text, pairs } = memory;
        let (key, increment) = self.parts(run, pairs)?;
        text.clear();
        text.extend_from_slice(run.bytes(key));
        for (name, value) in &*pairs {
            for part in [*name, *value] {
                text.push(0);
                run.put(part, TEXT, text);
            }
        }
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        if let Some(counter) = known.get_mut(text.as_slice()) {
            counter.add(run, increment);
            return Ok(());
        }
        let lossy = |value: Value| {
            let mut text = Vec::new();
            run.put(value, TEXT, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let labels = pairs.iter().map(|(name, value)| (lossy(*name).into(), lossy(*value))).collect();
        let cell = metrics::cell(&lossy(key).into(), labels, self.level);
        known.entry(text.clone()).or_insert(Counter { cell, place: 0 }).add(run, increment);
        Ok(())
    }
}

impl Counter {
    fn add(&mut self, run: &mut Run<'_>, increment: u64) {
        match &self.cell {
            Some(cell) => run.cx.work.pending.add(cell, increment, &mut self.place),
            None => metrics::left_out(),
        }
    }
}

impl Operation for Update {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        if self.level > metrics::level() {
            return Ok(Value::Boolean(true));
        }
        let mut memory = run.cx.work.take_state(self.asker, Memory::default);
        let counted = self.count(run, &mut memory);
        run.cx.work.keep_state(self.asker, memory);
        match counted {
            Err(Halt) if !run.is_error() => Err(Halt),
            _ => Ok(Value::Boolean(true)),
        }
    }
}
