//! Prints what rewrite operations cost in nanoseconds a message: `cargo run --release -p rewrite --example
//! rewrite_cost`.

use conf_syntax::{FilterExpr, LogItem, ParseOptions, Statement};
use diag::Diagnostics;
use filter::{FilterContext, FilterEnv, NamedFilters, Wanted};
use record::{Batch, Context, Demand, Record, Span, Stamp};
use rewrite::Rewrite;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use template::{Identity, NoScope, Scope, TemplateOptions};

#[derive(Default)]
struct World {
    named: NamedFilters,
    options: TemplateOptions,
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

const MESSAGES: usize = 256;
const ROUNDS: usize = 200;

fn main() {
    for text in [
        "subst('web' 'www' value('HOST'))",
        "subst('nosuch' 'x' value('HOST'))",
        "subst('^(.*)\\.example\\.com$' '$1' value('HOST'))",
        "subst('\\.example\\.com$' '' value('HOST'))",
        "subst('[0-9]+' 'N' flags(global))",
        "subst('nosuch' 'x')",
        "set('x' value('.a'))",
        "set('$HOST' value('.a'))",
        "set('$HOST-$PROGRAM' value('.a'))",
        "set('x' value('HOST'))",
        "set-tag('t')",
        "set-severity('err')",
        "set-severity('err' condition(message('nosuch')))",
        "groupunset(values('.SDATA.*'))",
    ] {
        println!("{:8.1} ns  {text}", measure(&compile(text)));
    }
}

fn compile(text: &str) -> Rewrite {
    let parsed = conf_syntax::parse_text("t", &format!("rewrite r {{ {text}; }};"), &ParseOptions::default());
    for item in parsed.config.items {
        if let Statement::Rewrite(object) = item
            && let Some(LogItem::Call(call)) = object.body.first()
        {
            return Rewrite::compile(call, &World::default(), &mut Diagnostics::new()).expect(text);
        }
    }
    panic!("{text}: nothing to compile");
}

/// Nanoseconds a message, the least of several rounds; nothing downstream reads matches.
fn measure(rewrite: &Rewrite) -> f64 {
    let mut cx = FilterContext::new(Identity::new("loghost"));
    cx.work.wanted = Wanted::of(&Demand::default());
    let model = batch();
    let mut batch = batch();
    let selection: Vec<u32> = (0..MESSAGES as u32).collect();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let contexts = std::mem::take(&mut batch.contexts);
        batch.reset();
        batch.contexts = contexts;
        batch.text.extend_from_slice(&model.text);
        batch.records.extend_from_slice(&model.records);
        let start = Instant::now();
        rewrite.apply(&mut batch, &selection, &mut cx);
        black_box(&batch);
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1e9 / MESSAGES as f64
}

/// Messages of 400 bytes from ten hosts.
fn batch() -> Batch {
    let context = Arc::new(Context::local("s_test", "fromhost", "rfc3164+tcp"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    for n in 0..MESSAGES {
        let host = format!("web{}.example.com", n % 10);
        let mut text = format!("{host} app: connection {n} accepted, handled in {}ms; ", n % 50);
        while text.len() < 400 {
            text.push_str("lorem ipsum dolor sit amet ");
        }
        let start = batch.text.len();
        batch.text.extend_from_slice(&text.as_bytes()[..400]);
        let mut record = Record::new(Span::new(start, 400));
        record.host = Span::new(start, host.len());
        record.program = Span::new(start + host.len() + 1, 3);
        record.message = Span::new(start + host.len() + 6, 400 - host.len() - 6);
        batch.records.push(record);
    }
    batch
}
