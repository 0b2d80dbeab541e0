//! `update_metric()`: counters by name and labels.

use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Halt, Run};
use crate::types::Types;
use filter::new_asker;
use parsers::scanners::metrics::{self, Cell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use value::{TEXT, Value};

pub const FUNCTIONS: &[Function] = &[Function {
    name: "update_metric",
    parameters: &[
        Parameter::value("key", Types::STRING),
        Parameter::named("labels", Form::Expression, "none"),
        Parameter::named("increment", Form::Expression, "1"),
        Parameter::named("level", Form::Number, "0"),
    ],
    returns: Types::BOOLEAN,
    help: "Adds to a counter, which statistics show as `syslogng_` and its key. Labels are a dict or metrics_labels(); empty ones are left out. It always \
           returns true: where something is wrong, nothing is counted.",
    examples: &[
        ("update_metric(\"fx_example\", labels={\"a\": 1}, increment=2)", "true"),
        ("update_metric(\"fx_example\", increment=nosuch)", "true"),
    ],
    build: Build::Made(update),
}];

/// Counters a worker remembers.
const REMEMBERED_MAX: usize = 1 << 16;

struct Update {
    key: Expr,
    labels: Option<Expr>,
    increment: Option<Expr>,
    level: u8,
    asker: u64,
}

#[derive(Default)]
struct Memory {
    known: HashMap<Vec<u8>, Option<Arc<Cell>>>,
    text: Vec<u8>,
}

fn update(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let key = args.value(0);
    let (labels, increment) = (args.optional(1), args.optional(2));
    let level = args.number(3, 0)?;
    let level = u8::try_from(level).unwrap_or(u8::MAX);
    args.made(Update { key: key?, labels: labels?, increment: increment?, level, asker: new_asker() })
}

/// Key, labels and number of a metric.
type Parts = (Value, Vec<(Value, Value)>, i64);

impl Update {
    /// Key, labels by their names, and what is added.
    fn parts(&self, run: &mut Run<'_>) -> Result<Parts, Halt> {
        let key = run.eval(&self.key)?;
        if !matches!(key, Value::String(_)) {
            return run.error("The key of a metric must be a string");
        }
        let labels = match &self.labels {
            Some(labels) => run.eval(labels)?,
            None => Value::Null,
        };
        let mut pairs: Vec<(Value, Value)> =
            run.cells(labels).chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.retain(|(name, value)| {
            let is_empty = *value == Value::Null || value.span().is_some_and(|span| span.is_empty());
            matches!(name, Value::String(_)) && !is_empty
        });
        pairs.sort_by(|a, b| run.bytes(a.0).cmp(run.bytes(b.0)));
        let increment = match &self.increment {
            Some(increment) => match run.eval(increment)? {
                Value::Integer(n) => n,
                _ => return run.error("increment must be an integer"),
            },
            None => 1,
        };
        Ok((key, pairs, increment))
    }

    fn count(&self, run: &mut Run<'_>, memory: &mut Memory) -> Result<(), Halt> {
        let (key, pairs, increment) = self.parts(run)?;
        let text = &mut memory.text;
        text.clear();
        text.extend_from_slice(run.bytes(key));
        for (name, value) in &pairs {
            for part in [*name, *value] {
                text.push(0);
                run.put(part, TEXT, text);
            }
        }
        if memory.known.len() >= REMEMBERED_MAX {
            memory.known.clear();
        }
        let cell = match memory.known.get(text.as_slice()) {
            Some(cell) => cell.clone(),
            None => {
                let lossy = |value: Value| {
                    let mut text = Vec::new();
                    run.put(value, TEXT, &mut text);
                    String::from_utf8_lossy(&text).into_owned()
                };
                let labels = pairs.iter().map(|(name, value)| (lossy(*name).into(), lossy(*value))).collect();
                let cell = metrics::cell(&lossy(key).into(), labels, self.level);
                memory.known.insert(text.clone(), cell.clone());
                cell
            }
        };
        match cell {
            Some(cell) => {
                cell.fetch_add(increment as u64, Ordering::Relaxed);
            }
            None => metrics::left_out(),
        }
        Ok(())
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
