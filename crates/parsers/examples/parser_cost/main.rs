//! Prints what parsers cost, in nanoseconds per message of a warm worker, for the manual pages that name it:
//! `cargo run --release -p parsers --example parser_cost [PART OF A NAME]...`.

mod cases;

use cases::Case;
use conf_schema::ReadContext;
use conf_syntax::{FilterExpr, LogItem, ParseOptions, Statement};
use diag::Diagnostics;
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use parsers::{ALL, Build, Parse};
use record::{Batch, Context, Demand, Record, Span, Stamp, ValueType, intern};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use template::{Identity, NoScope, Scope, TemplateOptions};

#[derive(Default)]
struct World {
    options: TemplateOptions,
    named: NamedFilters,
}

impl FilterEnv for World {
    fn scope(&self) -> &dyn Scope {
        &NoScope
    }
    fn template_options(&self) -> &TemplateOptions {
        &self.options
    }
    fn filter(&self, _: &str) -> Option<&FilterExpr> {
        None
    }
    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
}

fn parser(text: &str) -> Arc<dyn Parse> {
    let parsed =
        conf_syntax::parse_text("bench", &format!("parser p {{ {text}; }};"), &ParseOptions::default());
    let Some(Statement::Parser(object)) = parsed.config.items.first() else { panic!("{text}") };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{text}") };
    let (component, build) = ALL.iter().find(|(c, _)| call.is(c.name)).expect("a parser");
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let settings = conf_schema::read(call, component, &read, &mut diags);
    let world = World::default();
    let made = build(&settings, &mut Build { env: &world, diags: &mut diags, span: call.span });
    made.unwrap_or_else(|| panic!("{text}: {}", diag::render_all(&diags, &parsed.sources)))
}

const MESSAGES: usize = 256;
const ROUNDS: usize = 4000;
/// Of as many hosts, in turn.
const HOSTS: usize = 16;

/// The records of a round and the text they point into.
fn records(messages: &[String]) -> (Vec<u8>, Vec<Record>) {
    let (mut text, mut records) = (Vec::new(), Vec::new());
    let mut append = |bytes: &[u8]| {
        let start = text.len();
        text.extend_from_slice(bytes);
        Span::between(start, text.len())
    };
    for index in 0..MESSAGES {
        let mut record = Record::new(Span::EMPTY);
        record.message = append(messages[index % messages.len()].as_bytes());
        record.host = append(format!("host{}", index % HOSTS).as_bytes());
        record.origin = index as u32;
        records.push(record);
    }
    (text, records)
}

fn measure(label: &str, case: &Case) {
    let made = parser(&case.text);
    let mut demand = Demand { everything: case.used.is_none(), ..Demand::default() };
    case.used.unwrap_or_default().iter().for_each(|n| demand.name(intern(n).expect("room")));
    made.reads(&mut demand);
    let made = made.narrowed(&demand).unwrap_or(made);
    let (text, records) = records(&case.messages);
    let values: Vec<_> = case.values.iter().map(|(n, value)| (intern(n).expect("room"), value)).collect();
    let context = Arc::new(Context::local("s", "h", "local"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    let mut cx = FilterContext::new(Identity::new("host"));
    cx.work.wanted = Wanted::of(&demand);
    let mut selection = Vec::new();
    let mut best = f64::MAX;
    for _ in 0..ROUNDS {
        let contexts = std::mem::take(&mut batch.contexts);
        batch.reset();
        batch.contexts = contexts;
        batch.text.extend_from_slice(&text);
        batch.records.extend_from_slice(&records);
        for index in 0..MESSAGES {
            values
                .iter()
                .for_each(|(name, value)| batch.set(index, *name, value.as_bytes(), ValueType::String));
        }
        selection.clear();
        selection.extend(0..MESSAGES as u32);
        let start = Instant::now();
        made.parse(&mut batch, &mut selection, &mut cx);
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / MESSAGES as f64);
        // A parser with contexts makes messages and may keep those that came.
        let passed = if made.state().is_some() { !selection.is_empty() } else { selection.len() == MESSAGES };
        assert!(passed, "{label}: {} passed", selection.len());
    }
    let bytes = records.iter().map(|record| record.message.len as usize).sum::<usize>() / MESSAGES;
    println!("{label:<58} {best:8.1} ns/message, {bytes} bytes");
}

fn main() -> ExitCode {
    let parts: Vec<String> = std::env::args().skip(1).collect();
    let cases: Vec<(String, Case)> =
        cases::all().into_iter().map(|case| (format!("{}, {}", case.parser, case.what), case)).collect();
    if let Some(part) = parts.iter().find(|part| !cases.iter().any(|(label, _)| label.contains(*part))) {
        eprintln!("no case is named {part}");
        return ExitCode::FAILURE;
    }
    for (label, case) in &cases {
        if parts.is_empty() || parts.iter().any(|part| label.contains(part)) {
            measure(label, case);
        }
    }
    ExitCode::SUCCESS
}
