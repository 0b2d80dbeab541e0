//! A parser made from configuration text, run over any message: nothing panics, and a parser that reads a
//! part sees the same as one that reads everything.

use conf_schema::ReadContext;
use conf_syntax::{FilterExpr, LogItem, ParseOptions, Statement};
use diag::Diagnostics;
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use parsers::{ALL, Build, Parse};
use record::{Batch, Context, Demand, NameId, Record, Span, Stamp, intern};
use std::sync::Arc;
use template::{Identity, NoScope, Scope, TemplateOptions};

/// What a configuration has around the parser; every file it names has this text.
#[derive(Default)]
struct World<'a> {
    options: TemplateOptions,
    named: NamedFilters,
    file: &'a [u8],
}

impl FilterEnv for World<'_> {
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
    fn read_file(&self, _: &str) -> std::io::Result<Vec<u8>> {
        Ok(self.file.to_vec())
    }
}

/// The parser of a configuration; `None` where the file it reads is refused.
pub fn made(text: &str, file: &[u8]) -> Option<Arc<dyn Parse>> {
    let parsed =
        conf_syntax::parse_text("fuzz", &format!("parser p {{ {text}; }};"), &ParseOptions::default());
    let Some(Statement::Parser(object)) = parsed.config.items.first() else { panic!("{text}") };
    let Some(LogItem::Call(call)) = object.body.first() else { panic!("{text}") };
    let (component, build) = ALL.iter().find(|(c, _)| call.is(c.name)).expect("a parser");
    let mut diags = Diagnostics::new();
    let read = ReadContext { sources: &parsed.sources, globals: None };
    let settings = conf_schema::read(call, component, &read, &mut diags);
    let world = World { file, ..World::default() };
    let made = build(&settings, &mut Build { env: &world, diags: &mut diags, span: call.span });
    assert!(made.is_some() || diags.has_errors(), "{text}");
    made
}

/// Parsers of one kind, each as it is and narrowed to some names.
pub struct Parsers {
    each: Vec<(Arc<dyn Parse>, Arc<dyn Parse>)>,
    names: Vec<NameId>,
}

impl Parsers {
    pub fn new(texts: &[&str], names: &[&str]) -> Parsers {
        let names: Vec<NameId> = names.iter().map(|name| intern(name).expect("room")).collect();
        let mut demand = Demand::default();
        names.iter().for_each(|name| demand.name(*name));
        let all = texts.iter().map(|text| made(text, b"").expect("a parser"));
        let each = all.map(|all| (Arc::clone(&all), all.narrowed(&demand).unwrap_or(all))).collect();
        Parsers { each, names }
    }

    pub fn check(&self, input: &[u8]) {
        let mut demand = Demand::default();
        self.names.iter().for_each(|name| demand.name(*name));
        for (all, narrow) in &self.each {
            let (whole, part) = (run(&**all, input, None), run(&**narrow, input, Some(&demand)));
            let passed = |r: &(Batch, Vec<u32>)| r.1.contains(&0);
            assert_eq!(passed(&whole), passed(&part));
            for name in &self.names {
                let value = |b: &Batch| {
                    b.records
                        .first()
                        .and_then(|r| b.value(r, *name))
                        .map(|v| (v.bytes.to_vec(), v.kind as u8))
                };
                assert_eq!(value(&whole.0), value(&part.0), "{name:?}");
            }
        }
    }
}

/// The message parsed, and what is left in the selection.
pub fn run(parser: &dyn Parse, input: &[u8], demand: Option<&Demand>) -> (Batch, Vec<u32>) {
    let context = Arc::new(Context::local("s", "h", "local"));
    let mut batch = Batch::new(b"before ".to_vec(), context, Stamp::default());
    let mut record = Record::new(Span::EMPTY);
    record.message = batch.append(input);
    batch.records.push(record);
    let mut cx = FilterContext::new(Identity::new("host"));
    if let Some(demand) = demand {
        cx.work.wanted = Wanted::of(demand);
    }
    let mut selection = vec![0];
    parser.parse(&mut batch, &mut selection, &mut cx);
    (batch, selection)
}
