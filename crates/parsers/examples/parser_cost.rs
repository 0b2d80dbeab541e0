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

fn measure(what: &str, text: &str, used: Option<&[&str]>, messages: &[String]) {
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
        text.extend_from_slice(messages[index % messages.len()].as_bytes());
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
    println!("{what:<44} {best:8.1} ns/message, {} bytes", text.len() / MESSAGES);
}

/// The fields of `penstock loggen --body json` and `kv`: their lengths change from message to message, so that nothing can be foreseen.
fn loggen(index: usize, json: bool) -> String {
    let one = |choices: &[&str]| choices[index % choices.len()].to_owned();
    let text = |name, value| (name, value, false);
    let number = |name, value: usize| (name, value.to_string(), true);
    let fields = [
        text("user", format!("u{}", index % 100)),
        text("src", format!("10.0.{}.{}", index % 7, index % 250)),
        text("dst", format!("10.9.8.{}", index % 11)),
        number("sp", 1024 + index),
        number("dp", [22, 80, 443][index % 3]),
        text("prot", one(&["tcp", "udp"])),
        text("act", one(&["allow", "deny"])),
        number("len", 40 + index % 1400),
        number("code", 200 + index % 5),
        text("meth", one(&["GET", "PUT"])),
        text("zone", one(&["in", "out", "dmz"])),
        text("if", one(&["eth0", "eth1"])),
        number("rule", index % 90),
        text("lvl", one(&["low", "mid"])),
        text("dept", one(&["it", "hr", "ops"])),
        text("os", one(&["lnx", "win"])),
        text("cc", one(&["de", "hu", "us"])),
        number("dur", index % 60),
        number("pkts", 1 + index % 30),
        number("id", 10_000 + index),
    ];
    let plain = |(name, value, _): &(&str, String, bool)| format!("{name}={value} ");
    let member = |(name, value, number): &(&str, String, bool)| match number {
        true => format!("\"{name}\":{value},"),
        false => format!("\"{name}\":\"{value}\","),
    };
    let tail = "connection closed by the peer after some time ".repeat(3);
    if json {
        let members: String = fields.iter().map(member).collect();
        let head = format!("{{\"stamp\":\"2026-11-22T00:00:00.000000+00:00\",{members}");
        format!("{head}\"ok\":true,\"nest\":{{\"a\":1,\"b\":\"x\"}},\"text\":\"{}\"}}", &tail[..66])
    } else {
        let pairs: String = fields.iter().map(plain).collect();
        format!("2026-11-22T00:00:00.000000+00:00 {pairs}text=\"{}\"", &tail[..136])
    }
}

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
        ("kv, 3 of 21 used, of loggen", kv_parser, Some(&[".k.user", ".k.act", ".k.code"]), "loggen kv"),
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
            "json, 4 of 24 used, of loggen",
            "json-parser(prefix(\".j.\"))",
            Some(&[".j.user", ".j.src", ".j.code", ".j.nest.b"]),
            "loggen json",
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
            let messages = match message {
                "loggen json" | "loggen kv" => {
                    (0..MESSAGES).map(|n| loggen(n * 7, message.ends_with("json"))).collect()
                }
                message => vec![message.to_owned()],
            };
            measure(what, text, used, &messages);
        }
    }
}
