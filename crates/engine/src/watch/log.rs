//! What happens to messages, in the program's log and in the words of syslog-ng: `debug` says what came in,
//! what filters and parsers made of it and what goes out, `trace` every step and value.
//!
//! Messages of `internal()` are not spoken of: each line would make more of them.

use super::{Change, Event, Kind, Message, Sight, Statement, Verdict, Watch, What, is_own};
use crate::source::Source;
use filter::{FilterContext, Judged};
use oplog::{Bytes, Field, Level};
use record::{Batch, Record, ValueType};
use std::fmt;

/// Writes to the log at `debug` and `trace`.
pub struct LogWatch {
    traces: bool,
}

impl LogWatch {
    /// `None` when the log is to be silent about the messages of this batch. Once a batch: one look at the
    /// log's level.
    #[inline]
    pub fn of(batch: &Batch) -> Option<LogWatch> {
        if !oplog::enabled(Level::Debug) {
            return None;
        }
        // Those of internal() come in batches of their own.
        let own = batch.records.first().is_some_and(is_own);
        (!own).then(|| LogWatch { traces: oplog::enabled(Level::Trace) })
    }
}

/// How the log names a message.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.id)
    }
}

/// Says something with the fields by which the message is known behind its own.
fn say(level: Level, text: &'static str, fields: &[Field<'_>], message: Message) {
    let mut all = fields.to_vec();
    all.extend([("msg", &message as &dyn fmt::Display), ("rcptid", &message.received)]);
    match level {
        Level::Trace => oplog::trace(text, &all),
        _ => oplog::debug(text, &all),
    }
}

impl Watch for LogWatch {
    fn see(&mut self, source: &Source, message: Message, event: &Event<'_>) {
        if message.is_own {
            return;
        }
        match event {
            Event::Received(input) => {
                say(Level::Debug, "Incoming log entry", &[("input", &Bytes(input))], message);
                self.trace("Initial message parsing follows", &[], message);
            }
            Event::Begins(at) => self.begins(source, at.statement, message),
            Event::Judged(at, judged) => self.judged(at.statement, judged, message),
            Event::Changed(change) => self.changed(change, message),
            Event::Ends(at, _) if at.statement.kind == Kind::Source => {
                let instance = instance(source);
                let text = "<<<<<< Source side message processing finish";
                self.trace(text, &[("instance", &instance), ("location", &at.statement.location)], message);
            }
            Event::Ends(at, verdict) => self.ends(at.statement, *verdict, message),
            Event::Queued { at, driver, name, output, .. } => {
                let fields: [Field<'_>; 5] = [
                    ("message", &Bytes(output)),
                    ("destination", &at.statement.rule),
                    ("driver", driver),
                    ("name", name),
                    ("location", &at.statement.location),
                ];
                say(Level::Debug, "Outgoing message", &fields, message);
            }
            Event::NotQueued { at, driver } => {
                let fields: [Field<'_>; 3] = [
                    ("destination", &at.statement.rule),
                    ("driver", driver),
                    ("location", &at.statement.location),
                ];
                say(Level::Debug, "Nothing to write for the message", &fields, message);
            }
            Event::MadeOf(_) | Event::Finished => {}
        }
    }

    fn wants_changes(&self, message: Message) -> bool {
        !message.is_own
    }

    fn follows(&mut self, _: &Source, _: &Batch, record: &Record, _: &mut FilterContext) -> bool {
        !is_own(record)
    }

    /// The log tells what happens, not what messages are.
    fn look(&mut self, _message: Message, _sight: &mut Sight<'_>) {}
}

impl LogWatch {
    fn trace(&self, text: &'static str, fields: &[Field<'_>], message: Message) {
        if self.traces {
            say(Level::Trace, text, fields, message);
        }
    }

    fn begins(&self, source: &Source, at: &Statement, message: Message) {
        let text = match at.kind {
            Kind::Source => ">>>>>> Source side message processing begin",
            Kind::LogPath => ">>>>>> log path evaluation begin",
            Kind::Channel => ">>>>>> channel evaluation begin",
            Kind::Filter => ">>>>>> filter rule evaluation begin",
            Kind::Rewrite => ">>>>>> rewrite rule evaluation begin",
            Kind::Parser => ">>>>>> parser rule evaluation begin",
            Kind::FilterX => ">>>>>> filterx rule evaluation begin",
            Kind::Destination | Kind::Fork | Kind::Join | Kind::Branch => return,
        };
        let instance = instance(source);
        let name: Field<'_> = match at.kind {
            Kind::Source => ("instance", &instance),
            _ => ("rule", &at.rule),
        };
        self.trace(text, &[name, ("location", &at.location)], message);
    }

    fn judged(&self, at: &Statement, judged: &Judged<'_>, message: Message) {
        if judged.function == "filterx" {
            return self.expression(judged, message);
        }
        if !self.traces {
            return;
        }
        let texts: Vec<(&'static str, Bytes<'_>)> =
            judged.operands.iter().map(|(name, text)| (*name, Bytes(text))).collect();
        let mut fields: Vec<Field<'_>> =
            texts.iter().map(|(name, text)| (*name, text as &dyn fmt::Display)).collect();
        let is_comparison = judged.function == "cmp";
        let Some(holds) = judged.holds else {
            // Of a comparison syslog-ng says the outcome with the sides.
            if !is_comparison {
                self.trace(started(judged), &fields, message);
            }
            return;
        };
        if is_comparison {
            let number = u8::from(holds);
            fields.push(("result", &number));
            self.trace("cmp() evaluation result", &fields, message);
        }
        let result = if holds { "match" } else { "not-match" };
        let fields: [Field<'_>; 4] =
            [("result", &result), ("type", &judged.function), ("rule", &at.rule), ("location", &at.location)];
        self.trace("Filter node evaluation result", &fields, message);
    }

    /// A statement or condition of FilterX, in AxoSyslog's form.
    fn expression(&self, judged: &Judged<'_>, message: Message) {
        let operand = |name: &str| {
            let found = judged.operands.iter().find(|(operand, _)| *operand == name);
            found.map(|(_, text)| String::from_utf8_lossy(text).into_owned())
        };
        let condition = operand("condition");
        let text = condition.clone().or_else(|| operand("statement")).unwrap_or_default();
        let expr = format!("{}|\t{text}", operand("expr").unwrap_or_default());
        let operands = operand("operands").unwrap_or_default();
        if let Some(error) = operand("suppressed") {
            let fields: [Field<'_>; 2] = [("expr", &expr), ("error", &error)];
            let is_assignment = text.contains("=??");
            let what = match is_assignment {
                true => "FilterX: null coalesce assignment suppressing error",
                false => "FilterX: null coalesce suppressing error",
            };
            say(Level::Debug, what, &fields, message);
        }
        if let Some(value) = operand("falsy") {
            let kind = operand("type").unwrap_or_default();
            let fields: [Field<'_>; 3] = [("expr", &expr), ("value", &value), ("type", &kind)];
            say(Level::Debug, "FILTERX FALSY", &fields, message);
        }
        if let Some(error) = operand("error") {
            let fields: [Field<'_>; 4] =
                [("err_idx", &"[1/1]"), ("expr", &expr), ("error", &error), ("operands", &operands)];
            return say(Level::Debug, "FILTERX ERROR", &fields, message);
        }
        let what = match (condition, judged.holds) {
            (None, _) => "FILTERX ESTEP",
            (Some(_), Some(true)) => "FILTERX CONDT",
            (Some(_), _) => "FILTERX CONDF",
        };
        self.trace(what, &[("expr", &expr), ("operands", &operands)], message);
    }

    fn changed(&self, change: &Change<'_>, message: Message) {
        let value = Bytes(change.after.as_deref().unwrap_or_default());
        match (&change.what, &change.after) {
            (What::Value(name), Some(_)) => {
                let kind = kind_name(change.kind);
                let fields: [Field<'_>; 3] = [("name", name), ("value", &value), ("type", &kind)];
                self.trace("Setting value", &fields, message);
            }
            (What::Value(name), None) => self.trace("Unsetting value", &[("name", name)], message),
            (What::Tag(name), after) => {
                let on = u8::from(after.is_some());
                self.trace("Setting tag", &[("name", name), ("value", &on)], message);
            }
        }
    }

    fn ends(&self, at: &Statement, verdict: Verdict, message: Message) {
        let passed = verdict != Verdict::Stopped;
        let own: [Field<'_>; 2] = [("rule", &at.rule), ("location", &at.location)];
        let with = |result: &'static &'static str| [("result", result as &dyn fmt::Display), own[0], own[1]];
        match at.kind {
            Kind::Filter => {
                let result = match passed {
                    true => &"MATCH - Forwarding message to the next LogPipe",
                    false => &"UNMATCHED - Dropping message from LogPipe",
                };
                say(Level::Debug, "<<<<<< filter rule evaluation result", &with(result), message);
            }
            Kind::Parser => {
                let (result, number) = if passed { (&"accepted", &"1") } else { (&"rejected", &"0") };
                say(Level::Debug, "Message parsing complete", &with(number), message);
                say(Level::Debug, "<<<<<< parser rule evaluation result", &with(result), message);
            }
            Kind::FilterX => {
                let result = if passed { &"matched" } else { &"unmatched" };
                self.trace("<<<<<< filterx rule evaluation result", &with(result), message);
            }
            Kind::Rewrite => {
                if verdict == Verdict::Skipped {
                    self.trace("Rewrite condition unmatched, skipping rewrite", &own, message);
                }
                self.trace("<<<<<< rewrite rule evaluation finished", &own, message);
            }
            Kind::LogPath | Kind::Channel => {
                let text = match at.kind {
                    Kind::LogPath => "<<<<<< log path evaluation result",
                    _ => "<<<<<< channel evaluation result",
                };
                self.trace(text, &with(if passed { &"matched" } else { &"unmatched" }), message);
            }
            Kind::Source | Kind::Destination | Kind::Fork | Kind::Join | Kind::Branch => {}
        }
    }
}

/// Driver and address of a source.
fn instance(source: &Source) -> String {
    match source.instance.is_empty() {
        true => source.driver.to_owned(),
        false => format!("{},{}", source.driver, source.instance),
    }
}

/// What is said before a filter function is asked. Those that match a pattern say `match()`, as in syslog-ng.
fn started(judged: &Judged<'_>) -> &'static str {
    match judged.function {
        "facility" => "facility() evaluation started",
        "level" => "level() evaluation started",
        "program" | "host" | "message" | "match" | "source" => {
            match judged.operands.iter().any(|(operand, _)| *operand == "name") {
                true => "match() evaluation started against a name-value pair",
                false => "match() evaluation started",
            }
        }
        "filter" => "filter() evaluation started",
        "netmask" => "netmask() evaluation started",
        "netmask6" => "netmask6() evaluation started",
        "tags" => "tags() evaluation started",
        "in-list" => "in-list() evaluation started",
        "rate-limit" => "rate-limit() evaluation started",
        "blank" => "blank() evaluation started",
        _ => "filter evaluation started",
    }
}

fn kind_name(kind: ValueType) -> &'static str {
    match kind {
        ValueType::String => "string",
        ValueType::Bytes => "bytes",
        ValueType::Protobuf => "protobuf",
        ValueType::Json => "json",
        ValueType::Boolean => "boolean",
        ValueType::Int => "int",
        ValueType::Double => "double",
        ValueType::DateTime => "datetime",
        ValueType::List => "list",
        ValueType::Null => "null",
    }
}
