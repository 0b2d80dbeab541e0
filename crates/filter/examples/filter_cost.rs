//! Prints what filters cost in nanoseconds a message: `cargo run --release -p filter --example filter_cost`.

use conf_syntax::{FilterExpr, ParseOptions, Statement};
use diag::Diagnostics;
use filter::{Filter, FilterContext, FilterEnv, FilterSet, NamedFilters};
use record::{Batch, Context, Record, Span, Stamp};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use template::{Identity, NoScope, Scope, TemplateOptions};

#[derive(Default)]
struct World {
    filters: HashMap<String, FilterExpr>,
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
    fn filter(&self, name: &str) -> Option<&FilterExpr> {
        self.filters.get(name)
    }
    fn named_filters(&self) -> &NamedFilters {
        &self.named
    }
}

/// The filters of a distribution's default configuration, in its manner.
const SIBLINGS: &str = r#"
filter f_iptables { facility(kern) and match("IN=" value("MESSAGE")) and match("OUT=" value("MESSAGE")); };
filter f_console { level(warn) and facility(kern) and not filter(f_iptables) or level(err) and not facility(authpriv); };
filter f_newsnotice { level(notice) and facility(news); };
filter f_newscrit { level(crit) and facility(news); };
filter f_newserr { level(err) and facility(news); };
filter f_news { facility(news); };
filter f_mailinfo { level(info) and facility(mail); };
filter f_mailwarn { level(warn) and facility(mail); };
filter f_mailerr { level(err, crit) and facility(mail); };
filter f_mail { facility(mail); };
filter f_cron { facility(cron); };
filter f_local { facility(local0, local1, local2, local3, local4, local5, local6, local7); };
filter f_acpid_full { match('^acpid:' value("MESSAGE")); };
filter f_acpid { level(emerg..notice) and match('^acpid:' value("MESSAGE")); };
filter f_acpid_old { match('^\[acpid\]:' value("MESSAGE")); };
filter f_netmgm { program('NetworkManager') or match('^NetworkManager:' value("MESSAGE")); };
filter f_messages { not facility(news, mail) and not filter(f_iptables); };
filter f_warn { level(warn, err, crit) and not filter(f_iptables); };
filter f_alert { level(alert); };
filter f_auth { facility(auth, authpriv) and program("sshd|su|login"); };
"#;

const MESSAGES: usize = 256;
const ROUNDS: usize = 400;

fn main() {
    let mut world = World::default();
    let parsed = conf_syntax::parse_text("siblings", SIBLINGS, &ParseOptions::default());
    let mut order = Vec::new();
    for item in parsed.config.items {
        if let Statement::Filter(f) = item
            && let Some(expr) = f.expr
        {
            order.push(f.name.text.clone());
            world.filters.insert(f.name.text, expr);
        }
    }
    for text in [
        "facility(mail)",
        "facility(auth) and level(info)",
        "tags('none')",
        "netmask('10.0.0.0/8')",
        "host('web1' type(string))",
        "host('^web[0-9]+')",
        "program('^(sshd|su)$')",
        "program('sshd?')",
        "message('disk failure')",
        "message('disk failure' flags(ignore-case))",
        "message('(disk|fan) failure')",
        "message('failure of (disk|fan) [0-9]+')",
        "message('user=[a-z]+ from [0-9.]+')",
        "message('[0-9]+ms')",
        "message('(?i)user=root')",
        "message('^.* error')",
        "message('fail(?=ure)')",
        "message('port ([0-9]+) proto ([a-z]+)' flags(store-matches))",
        "match('x' template('$HOST-$PROGRAM'))",
        "'$LEVEL_NUM' > 5",
        "'$HOST' eq 'web7'",
        "'$PID' > 100",
        "not facility(mail) or host('web') and message('no such text')",
        "rate-limit(key('$HOST') rate(1000))",
    ] {
        world.filters.insert("measured".to_owned(), expr_of(text));
        let mut diags = Diagnostics::new();
        let filter = Filter::compile(&world.filters["measured"], &world, &mut diags).expect(text);
        let (cost, found) = measure(|batch, selection, cx| filter.select(batch, selection, cx));
        println!("{cost:8.1} ns  {found:3} of {MESSAGES}  {text}  {}", filter.explain().join(", "));
    }
    let mut diags = Diagnostics::new();
    let filters: Vec<Arc<Filter>> = order
        .iter()
        .map(|n| Arc::new(Filter::compile(&world.filters[n], &world, &mut diags).expect(n)))
        .collect();
    let set = FilterSet::compile(&filters).expect("pure filters");
    let mut out = vec![Vec::new(); filters.len()];
    let (cost, _) = measure(|batch, selection, cx| {
        out.iter_mut().for_each(Vec::clear);
        set.select_all(batch, selection, cx, &mut out);
    });
    println!("{cost:8.1} ns  {} filters as a set", filters.len());
    let mut copy = Vec::new();
    let (cost, _) = measure(|batch, selection, cx| {
        for filter in &filters {
            copy.clear();
            copy.extend_from_slice(selection);
            filter.select(batch, &mut copy, cx);
        }
    });
    println!("{cost:8.1} ns  {} filters one by one", filters.len());
}

fn expr_of(text: &str) -> FilterExpr {
    let mut map = diag::SourceMap::new();
    conf_syntax::parse_filter_text(text, None, &mut map, &mut Diagnostics::new()).expect(text)
}

/// Nanoseconds a message, the least of several rounds, and how many were selected.
fn measure(mut run: impl FnMut(&mut Batch, &mut Vec<u32>, &mut FilterContext)) -> (f64, usize) {
    let mut cx = FilterContext::new(Identity::new("loghost"));
    let mut batch = batch();
    let model = self::batch();
    let mut selection: Vec<u32> = Vec::new();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        // Stored matches are not carried into the next round.
        let contexts = std::mem::take(&mut batch.contexts);
        batch.reset();
        batch.contexts = contexts;
        batch.text.extend_from_slice(&model.text);
        batch.records.extend_from_slice(&model.records);
        selection.clear();
        selection.extend(0..MESSAGES as u32);
        let start = Instant::now();
        run(&mut batch, &mut selection, &mut cx);
        best = best.min(start.elapsed());
        black_box(&selection);
    }
    (best.as_secs_f64() * 1e9 / MESSAGES as f64, selection.len())
}

/// Messages of 400 bytes from ten hosts.
fn batch() -> Batch {
    let context = Arc::new(Context::local("s_test", "fromhost", "rfc3164+tcp"));
    let mut batch = Batch::new(Vec::new(), context, Stamp::default());
    for n in 0..MESSAGES {
        let host = format!("web{}", n % 10);
        let program = ["sshd", "kernel", "postfix", "app"][n % 4];
        let head = format!("{host} {program}[{}]: ", n * 3);
        let mut message =
            format!("connection {n} accepted port {} proto tcp, handled in {}ms; ", 1000 + n, n % 50);
        while head.len() + message.len() < 400 {
            message.push_str("lorem ipsum dolor sit amet consectetur ");
        }
        message.truncate(400 - head.len());
        let start = batch.text.len();
        batch.text.extend_from_slice(head.as_bytes());
        batch.text.extend_from_slice(message.as_bytes());
        let mut record = Record::new(Span::new(start, 400));
        record.host = Span::new(start, host.len());
        record.program = Span::new(start + host.len() + 1, program.len());
        record.pid = Span::new(start + host.len() + program.len() + 2, (n * 3).to_string().len());
        record.message = Span::new(start + head.len(), 400 - head.len());
        record.pri = [38, 22, 13, 134][n / 4 % 4];
        record.origin = n as u32;
        batch.records.push(record);
    }
    batch
}
