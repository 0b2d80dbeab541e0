//! `failure_info()` and its companions: why blocks failed, for the paths that take the message then.
//!
//! That failures are recorded is held by the message, as a declared variable is: blocks further on know it,
//! and other paths do not. What was recorded is a note of the batch, so that it outlives the failed branch.

use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Halt, Run, Signal};
use crate::types::Types;
use record::{NameId, intern};
use value::Value;

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "failure_info_enable",
        parameters: &[Parameter::named("collect_falsy", Form::Flag, "false")],
        returns: Types::BOOLEAN,
        help: "From the next block of the path on, errors that make a block fail are recorded, with `collect_falsy` also statements that do not hold. Returns true.",
        examples: &[("failure_info_enable(collect_falsy=true)", "true")],
        build: Build::Made(|args| {
            let collect_falsy = args.flag(0, false)?;
            args.made(Enable { collect_falsy })
        }),
    },
    Function {
        name: "failure_info_meta",
        parameters: &[Parameter::form("dict", Form::Fields)],
        returns: Types::BOOLEAN,
        help: "What is recorded with a failure, as `meta`, until the next call or the end of the block. Returns true.",
        examples: &[("failure_info_meta({\"step\": \"parsing\"})", "true")],
        build: Build::Made(|args| {
            args.fields(0)?;
            let meta = args.value(0)?;
            args.made(Meta(meta))
        }),
    },
    Function {
        name: "failure_info",
        parameters: &[],
        returns: Types::LIST,
        help: "What has been recorded of this message, the oldest first, whatever path or branch it failed in: `meta` where failure_info_meta() set one, and \
               `errors` with `location`, `line` (the statement) and `error` of each.",
        examples: &[("failure_info()", "[]")],
        build: Build::Made(|args| args.made(Recorded)),
    },
    Function {
        name: "failure_info_clear",
        parameters: &[],
        returns: Types::BOOLEAN,
        help: "Forgets what has been recorded of this message. Returns true.",
        examples: &[("failure_info_clear()", "true")],
        build: Build::Made(|args| args.made(Clear)),
    },
];

/// Failures of a message that are recorded.
const RECORDED_MAX: usize = 64;

/// What the message holds where failures are to be recorded; no variable can be called so.
fn held_name() -> Option<NameId> {
    intern("}failure info")
}

struct Enable {
    collect_falsy: bool,
}

impl Operation for Enable {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        if let Some(name) = held_name() {
            run.batch.hold(run.index, name, Some(Value::Boolean(self.collect_falsy)));
        }
        Ok(Value::Boolean(true))
    }
}

struct Meta(Expr);

impl Operation for Meta {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let meta = run.eval_owned(&self.0)?;
        run.meta = Some(meta);
        Ok(Value::Boolean(true))
    }
}

struct Recorded;

impl Operation for Recorded {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let noted = run.batch.records.get(run.index).and_then(|record| run.batch.note(record));
        match noted {
            Some(list) => {
                run.trees().share(list);
                Ok(list)
            }
            None => run.list(&[]),
        }
    }
}

struct Clear;

impl Operation for Clear {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        if let Some(record) = run.batch.records.get(run.index).copied() {
            run.batch.set_note(&record, None);
        }
        Ok(Value::Boolean(true))
    }
}

/// Records why a block failed, if that is asked for. The message is what it was before the block.
pub(crate) fn record_failure(run: &mut Run<'_>) {
    let Some(name) = held_name() else { return };
    let record = run.batch.records.get(run.index).copied();
    let collects = record.and_then(|record| run.batch.held(&record, name));
    let wanted = match (collects, run.signal) {
        (Some(_), Signal::Error(_)) => true,
        (Some(falsy), Signal::Falsy(_)) => falsy == Value::Boolean(true),
        _ => false,
    };
    if wanted {
        let signal = run.signal;
        // Where there is no more room, nothing is recorded.
        let _ = add(run);
        run.signal = signal;
    }
}

fn add(run: &mut Run<'_>) -> Result<(), Halt> {
    let message = run.failure_text();
    let (location, line) = run.place_failed().map_or(("", ""), |place| (&place.location, &place.text));
    let error = run.new_dict()?;
    for (key, text) in [("location", location), ("line", line), ("error", &message)] {
        let text = run.string(text.as_bytes())?;
        run.set_text(error, key.as_bytes(), text)?;
    }
    let errors = run.list(&[Value::Dict(error)])?;
    let entry = run.new_dict()?;
    if let Some(meta) = run.meta {
        run.set_text(entry, b"meta", meta)?;
    }
    run.set_text(entry, b"errors", errors)?;
    let Some(record) = run.batch.records.get(run.index).copied() else { return Ok(()) };
    let mut all = match run.batch.note(&record) {
        Some(list) => run.cells(list).to_vec(),
        None => Vec::new(),
    };
    if all.len() < RECORDED_MAX {
        all.push(Value::Dict(entry));
        let list = run.list(&all)?;
        run.batch.set_note(&record, Some(list));
    }
    Ok(())
}
