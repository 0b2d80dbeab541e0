//! Prints what parsers cost, in nanoseconds per message of a warm worker: `cargo run --release -p parsers --example parser_cost [PART]`.

use conf_schema::ReadContext;
use conf_syntax::{FilterExpr, LogItem, ParseOptions, Statement};
use diag::Diagnostics;
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use parsers::{ALL, Build, Parse};
use record::{Batch, Context, Demand, Record, Span, Stamp, intern};
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
    build(&settings, &mut Build { env: &world, diags: &mut diags, span: call.span }).expect(text)
}

const MESSAGES: usize = 256;
const ROUNDS: usize = 4000;

fn measure(what: &str, text: &str, used: Option<&[&str]>, message: &str) {
    let made = parser(text);
    let mut demand = Demand { everything: used.is_none(), ..Demand::default() };
    used.unwrap_or_default().iter().for_each(|n| demand.name(intern(n).expect("room")));
    let made = made.narrowed(&demand).unwrap_or(made);
    let context = Arc::new(Context::local("s", "h", "local"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    let mut records = Vec::new();
    let mut text = Vec::new();
    for index in 0..MESSAGES {
        let start = text.len();
        text.extend_from_slice(message.as_bytes());
        let mut record = Record::new(Span::EMPTY);
        record.message = Span::between(start, text.len());
        record.origin = index as u32;
        records.push(record);
    }
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
        selection.clear();
        selection.extend(0..MESSAGES as u32);
        let start = Instant::now();
        made.parse(&mut batch, &mut selection, &mut cx);
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / MESSAGES as f64);
        assert_eq!(selection.len(), MESSAGES, "{what}");
    }
    println!("{what:<44} {best:8.1} ns/message, {} bytes", message.len());
}

/// As `penstock loggen --body json` makes them.
const LOGGEN: &str = r#"{"stamp":"2026-11-22T00:00:00.000000+00:00","user":"u17","src":"10.0.3.17","dst":"10.9.8.6","sp":1041,"dp":443,"prot":"udp","act":"deny","len":57,"code":202,"meth":"PUT","zone":"dmz","if":"eth1","rule":17,"lvl":"mid","dept":"ops","os":"win","cc":"us","dur":17,"pkts":18,"id":10017,"ok":true,"nest":{"a":1,"b":"x"},"text":"connection closed by the peer after some time and no data of any kind was received xxx"}"#;

fn main() {
    let kv: String = (0..25).map(|n| format!("key{n:02}=value{:04} ", n * 37)).collect();
    let kv_quoted: String = (0..25).map(|n| format!("key{n:02}=\"a value{n}\" ")).collect();
    let fields = (0..13).map(|n| format!("\"field{n:02}\":\"value num {n}\",")).collect::<String>();
    let json = format!(
        "{{{fields}\"n\":12345,\"d\":1.5,\"b\":true,\"o\":{{\"x\":{{\"y\":\"deep\"}},\"z\":[1,2,3]}}}}"
    );
    let csv: String = (0..20).map(|n| format!("column value {n}")).collect::<Vec<_>>().join(",");
    let columns: String = (0..20).map(|n| format!("\".c.c{n:02}\" ")).collect();
    let csv_parser = format!("csv-parser(columns({columns}) delimiters(\",\"))");
    let data: String = (0..22).map(|n| format!("<f{n:02}>val{n}</f{n:02}>")).collect();
    let xml = format!("<event id=\"17\" host='web'><data>{data}</data></event>");
    let three: &[&str] = &[".k.key03", ".k.key11", ".k.key24"];
    let kv_parser = "kv-parser(prefix(\".k.\"))";
    let cases: Vec<(&str, &str, Option<&[&str]>, &str)> = vec![
        ("kv, 3 of 25 used", kv_parser, Some(three), &kv),
        ("kv, quoted, 3 of 25 used", kv_parser, Some(three), &kv_quoted),
        ("kv, all 25 used", kv_parser, None, &kv),
        ("csv, 3 of 20 columns used", &csv_parser, Some(&[".c.c02", ".c.c10", ".c.c19"]), &csv),
        ("csv, first 3 of 20 columns used", &csv_parser, Some(&[".c.c00", ".c.c01", ".c.c02"]), &csv),
        ("csv, all 20 columns used", &csv_parser, None, &csv),
        (
            "json, 4 used, one nested",
            "json-parser(prefix(\".j.\"))",
            Some(&[".j.field03", ".j.field11", ".j.n", ".j.o.x.y"]),
            &json,
        ),
        (
            "json, 4 of 24 used, one nested",
            "json-parser(prefix(\".j.\"))",
            Some(&[".j.user", ".j.src", ".j.code", ".j.nest.b"]),
            LOGGEN,
        ),
        (
            "xml, 3 of 24 elements used",
            "xml(prefix(\".x\"))",
            Some(&[".x.event.data.f03", ".x.event.data.f12", ".x.event.data.f21"]),
            &xml,
        ),
        ("xml, all used", "xml(prefix(\".x\"))", None, &xml),
        ("json, all used", "json-parser(prefix(\".j.\"))", None, &json),
    ];
    let only = std::env::args().nth(1).unwrap_or_default();
    for (what, text, used, message) in cases {
        if what.contains(&only) {
            measure(what, text, used, message);
        }
    }
}
