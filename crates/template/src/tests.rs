//! Tests of the whole: a template, a message, the text.

mod arbitrary;
mod functions;
mod layouts;
mod macros;
mod syntax;
mod types;

use crate::*;
use record::{Batch, Context, Flags, NameId, Peer, Record, Span, Stamp, Transport, ValueType, intern};
use std::collections::HashMap;
use std::sync::Arc;

const LINE: &str = "<38>Nov 21 10:00:00 host app[123]: hello world\n";

/// 2026-11-21 10:00:00.123456 +01:00, a Saturday.
const STAMP: Stamp = Stamp { secs: 1_795_251_600, usec: 123_456, offset: 3600 };

fn span(text: &str, part: &str) -> Span {
    Span::new(text.find(part).expect("part of the line"), part.len())
}

/// The usual message over TCP, received two seconds after it was sent.
pub(crate) fn batch() -> Batch {
    let peer = Peer::Inet {
        remote: "10.1.2.3:4567".parse().expect("address"),
        local: "[2001:db8::1]:514".parse().expect("address"),
        proxy: Some("10.9.9.9:99".parse().expect("address")),
    };
    let context = Context {
        source: "s_net".into(),
        peer,
        host_from: "sender".into(),
        transport: Transport("rfc3164+tcp"),
        ip_protocol: 6,
        values: vec![(NameId::FILE_NAME, b"/var/log/x"[..].into())],
    };
    let received = Stamp { secs: STAMP.secs + 2, usec: 5, offset: 7200 };
    let mut batch = Batch::new(LINE.as_bytes().to_vec(), Arc::new(context), received);
    let mut record = Record::new(Span::new(0, LINE.len() - 1));
    record.pri = 38;
    record.stamp = STAMP;
    record.stamp_text = 4;
    record.host = span(LINE, "host");
    record.program = span(LINE, "app");
    record.pid = span(LINE, "123");
    record.msghdr = span(LINE, "app[123]: ");
    record.message = span(LINE, "hello world");
    batch.records.push(record);
    batch
}

/// The batch with one value set.
fn with(name: &str, value: &str) -> Batch {
    let mut batch = batch();
    batch.set(0, intern(name).expect("room"), value.as_bytes(), ValueType::String);
    batch
}

pub(crate) fn sdata(text: &str) -> Batch {
    let mut batch = batch();
    batch.records[0].sdata = batch.append(text.as_bytes());
    batch.records[0].flags = Flags::IETF;
    batch
}

pub(crate) fn context() -> RenderContext {
    let mut identity = Identity::new("loghost");
    (identity.host_id, identity.run_id) = (0xabc, 7);
    identity.started = STAMP;
    let mut cx = RenderContext::new(identity);
    cx.begin_batch(Stamp { secs: STAMP.secs + 61, usec: 500_000, offset: 0 });
    cx
}

/// Knows the condition `yes`, which holds, `no`, which does not, and `b`, for which `$_` has to be b.
#[derive(Default)]
struct TestScope {
    templates: HashMap<&'static str, Arc<Template>>,
    functions: HashMap<&'static str, Arc<Template>>,
}

struct Fixed(String);

impl Condition for Fixed {
    fn holds(&self, msg: Msg<'_>, cx: &mut RenderContext) -> bool {
        let item = Template::compile("$_", &TemplateOptions::default(), &NoScope).expect("compiles");
        let mut out = Vec::new();
        item.render(msg, cx, &mut out);
        self.0 == "yes" || self.0.as_bytes() == out
    }

    fn reads(&self, demand: &mut record::Demand) {
        demand.pri = true;
    }
}

impl Scope for TestScope {
    fn template(&self, name: &str) -> Option<Arc<Template>> {
        self.templates.get(name).cloned()
    }

    fn function(&self, name: &str) -> Option<Arc<Template>> {
        self.functions.get(name).cloned()
    }

    fn condition(&self, text: &str) -> Result<Arc<dyn Condition>, String> {
        match text {
            "yes" | "no" | "b" => Ok(Arc::new(Fixed(text.to_owned()))),
            other => Err(format!("`{other}` is no filter")),
        }
    }
}

fn scope() -> TestScope {
    let opts = TemplateOptions::default();
    let compile = |text: &str| Arc::new(Template::compile(text, &opts, &NoScope).expect("compiles"));
    TestScope {
        templates: HashMap::from([
            ("t_program", compile("program=$PROGRAM")),
            ("t_iso", compile("$ISODATE")),
        ]),
        functions: HashMap::from([("greeting", compile("hi $HOST"))]),
    }
}

pub(crate) fn render_with(text: &str, opts: &TemplateOptions, batch: &Batch) -> String {
    let template = match Template::compile(text, opts, &scope()) {
        Ok(template) => template,
        Err(error) => return format!("error: {error}"),
    };
    render(&template, batch)
}

fn render(template: &Template, batch: &Batch) -> String {
    let mut out = b"|".to_vec();
    template.render(Msg { batch, record: &batch.records[0] }, &mut context(), &mut out);
    let mut ends = Vec::new();
    let mut many = b"|".to_vec();
    template.render_selection(batch, &[0], &mut context(), &mut many, &mut ends);
    assert_eq!((ends, many == out), (vec![out.len() as u32], true), "one by one as in selections");
    String::from_utf8_lossy(&out[1..]).into_owned()
}

#[track_caller]
pub(crate) fn check_in(batch: &Batch, text: &str, expected: &str) {
    assert_eq!(render_with(text, &TemplateOptions::default(), batch), expected, "{text}");
}

#[track_caller]
pub(crate) fn check(text: &str, expected: &str) {
    check_in(&batch(), text, expected);
}

#[track_caller]
fn check_opts(opts: &TemplateOptions, text: &str, expected: &str) {
    assert_eq!(render_with(text, opts, &batch()), expected, "{text}");
}

/// The text does not compile; the error is at `offset` and its message or help contains `part`.
#[track_caller]
pub(crate) fn check_error(text: &str, offset: usize, part: &str) {
    let error = Template::compile(text, &TemplateOptions::default(), &scope()).expect_err(text);
    let all = format!("{error} {}", error.help.clone().unwrap_or_default());
    assert!(all.contains(part), "{text}: {all}");
    assert_eq!(error.offset, offset, "{text}: {all}");
}
