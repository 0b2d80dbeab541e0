//! Tests of the whole: a template, a message, the text.

mod arbitrary;
mod functions;
mod growth;
mod layouts;
mod macros;
mod syntax;
mod types;

use crate::sample::{LINE, STAMP};
pub(crate) use crate::sample::{batch, context};
use crate::*;
use record::{Batch, Context, Flags, NameId, Record, Span, Stamp, ValueType, intern};
use std::collections::HashMap;
use std::sync::Arc;

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

    fn template_names(&self) -> Vec<String> {
        self.templates.keys().map(|name| (*name).to_owned()).collect()
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
