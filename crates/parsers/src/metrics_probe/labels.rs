//! `labels()` of `metrics-probe()`: pairs of names and templates, or value-pairs, whose names depend on the
//! message.

use crate::build::Build;
use crate::value_pairs::{VALUE_PAIRS, spec};
use conf_schema::{Component, Context, ReadContext, Settings, TemplateText, read_options};
use conf_syntax::{Arg, ArgKind, Call, Name};
use diag::{Diagnostic, SourceMap};
use record::Demand;
use std::sync::Arc;
use template::value_pairs::ValuePairs;
use template::{Msg, RenderContext, Template};

pub enum Labels {
    /// By name.
    Fixed(Vec<(Arc<str>, Arc<Template>)>),
    Found(Box<ValuePairs>),
}

/// What may stand in `labels()`; `"name" => "template"` is read as `pair()`.
static OPTIONS: Component = Component {
    context: Context::Parser,
    name: "labels",
    aliases: &[],
    positional: &[],
    groups: &[&VALUE_PAIRS],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "",
    example: "",
    cost: None,
};

/// Where neither labels nor a key are given.
const PRESETS: [(&str, &str); 4] =
    [("app", "${APP}"), ("host", "${HOST}"), ("program", "${PROGRAM}"), ("source", "${SOURCE}")];

impl Labels {
    /// `None` after an error was reported.
    pub fn read(settings: &Settings, b: &mut Build<'_>) -> Option<Labels> {
        let args = settings.args("labels");
        if !settings.is_set("labels") && !settings.is_set("key") {
            let text = |text: &str| TemplateText { type_hint: None, text: text.to_owned(), span: b.span };
            let texts = PRESETS.map(|(name, template)| (name, text(template)));
            let made = texts.iter().map(|(name, text)| Some((Arc::from(*name), b.template(text)?)));
            return made.collect::<Option<Vec<_>>>().map(Labels::Fixed);
        }
        let before = b.diags.counts().0;
        let calls = calls(args, b);
        let read = ReadContext { sources: &SourceMap::new(), globals: None };
        let options = read_options(&calls, &OPTIONS, &read, b.diags);
        let spec = spec(&options, b)?;
        if b.diags.counts().0 > before {
            return None;
        }
        if calls.iter().all(|call| call.is("pair")) {
            let mut pairs: Vec<_> =
                spec.pairs.into_iter().map(|(name, text)| (Arc::from(name.as_str()), text)).collect();
            // As syslog-ng does, so that the same labels in another order are the same counter.
            pairs.sort_by(|a: &(Arc<str>, _), b| a.0.cmp(&b.0));
            return Some(Labels::Fixed(pairs));
        }
        match ValuePairs::compile(spec, b.env.template_options()) {
            Ok(pairs) => Some(Labels::Found(Box::new(pairs))),
            Err(error) => {
                b.diags.push(Diagnostic::error("A0101", error.to_string(), b.span));
                None
            }
        }
    }

    /// Appends what tells sets of labels apart.
    pub fn render(&self, msg: Msg<'_>, cx: &mut RenderContext, text: &mut Vec<u8>) {
        match self {
            Labels::Fixed(labels) => {
                for (_, template) in labels {
                    template.render(msg, cx, text);
                    text.push(0);
                }
            }
            Labels::Found(pairs) => pairs.each(msg, cx, |name, _, value| {
                for part in [name.as_bytes(), value] {
                    text.extend_from_slice(part);
                    text.push(0);
                }
            }),
        }
    }

    /// The labels with their values, by name. `text` is what [`Labels::render`] made of the message.
    pub fn values(&self, msg: Msg<'_>, cx: &mut RenderContext, text: &[u8]) -> Vec<(Arc<str>, String)> {
        let owned = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match self {
            Labels::Fixed(labels) => {
                let names = labels.iter().map(|(name, _)| Arc::clone(name));
                names.zip(text.split(|byte| *byte == 0).map(owned)).collect()
            }
            Labels::Found(pairs) => {
                let mut found = Vec::new();
                pairs.each(msg, cx, |name, _, value| found.push((Arc::from(name), owned(value))));
                found
            }
        }
    }

    pub fn reads(&self, demand: &mut Demand) {
        match self {
            Labels::Fixed(labels) => labels.iter().for_each(|(_, template)| template.reads(demand)),
            Labels::Found(pairs) => pairs.reads(demand),
        }
    }
}

/// The arguments as options of value-pairs.
fn calls(args: &[Arg], b: &mut Build<'_>) -> Vec<Call> {
    let pair = |name: &Arg, value: &Arg| Call {
        name: Name { text: "pair".to_owned(), span: name.span },
        args: vec![name.clone(), value.clone()],
        span: name.span,
    };
    // `labels("name" "template")`
    if let [name, value] = args
        && name.text().is_some()
        && value.text().is_some()
    {
        return vec![pair(name, value)];
    }
    let mut calls = Vec::new();
    for arg in args {
        match &arg.kind {
            ArgKind::Pair(name, value) => calls.push(pair(name, value)),
            ArgKind::Call(call) => calls.push(call.clone()),
            _ => b.wrong(
                format!("{} cannot stand here", arg.describe()),
                Some(arg.span),
                "write `\"name\" => \"template\"`, or options of value-pairs such as key(\".app.*\")",
            ),
        }
    }
    calls
}
