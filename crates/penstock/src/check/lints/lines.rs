//! Templates of destinations that write one message behind the other, and do not end the line.

use super::Lints;
use conf_syntax::{ArgKind, Call, Config, LogItem, Statement, TemplateBody, quoted};
use diag::Diagnostic;
use std::collections::HashMap;

/// Destinations of which the template is all that is written.
const OF_LINES: [&str; 7] = ["file", "pipe", "network", "tcp", "tcp6", "unix-stream", "program"];
/// Functions of templates that write whole lines, or records that end with a zero byte.
const END_LINES: [&str; 3] = ["format-ewmm", "format-cim", "format-gelf"];

pub fn look(config: &Config, lints: &mut Lints<'_>) {
    let mut texts = HashMap::new();
    for statement in &config.items {
        if let Statement::Template(template) = statement {
            let text = match &template.body {
                TemplateBody::Text(text) => Some(text.text.clone()),
                TemplateBody::Options(options) => {
                    options.iter().find(|option| option.is("template")).and_then(literal)
                }
            };
            texts.extend(text.map(|text| (template.name.text.clone(), text)));
        }
    }
    let functions = config.items.iter().filter_map(|statement| match statement {
        Statement::TemplateFunction(function) => Some(function),
        _ => None,
    });
    let end = functions.filter(|f| f.text.text.ends_with(char::is_control)).map(|f| f.name.text.as_str());
    let templates = Templates { texts, end_lines: end.chain(END_LINES).map(str::to_owned).collect() };
    for statement in &config.items {
        match statement {
            Statement::Destination(object) => items(&object.body, true, &templates, lints),
            Statement::Log(path) => items(&path.items, false, &templates, lints),
            _ => {}
        }
    }
}

fn literal(option: &Call) -> Option<String> {
    option.values().next()?.text().map(str::to_owned)
}

struct Templates {
    /// Of template statements, by their names.
    texts: HashMap<String, String>,
    /// Functions whose text ends the line.
    end_lines: Vec<String>,
}

impl Templates {
    fn ends_line(&self, text: &str) -> bool {
        let last = text.rfind("$(").and_then(|at| text.get(at + 2..)?.strip_suffix(')'));
        text.ends_with(char::is_control)
            || last.and_then(|last| last.split_whitespace().next()).is_some_and(|function| {
                self.end_lines.iter().any(|name| conf_syntax::same_keyword(name, function))
            })
    }
}

/// `bare`: calls that stand here are destinations.
fn items(list: &[LogItem], bare: bool, templates: &Templates, lints: &mut Lints<'_>) {
    for item in list {
        match item {
            LogItem::Call(call) if bare => destination(call, templates, lints),
            LogItem::Inline(inline) => {
                let is_destination = inline.kind == conf_syntax::ObjectKind::Destination;
                items(&inline.body, is_destination, templates, lints);
            }
            LogItem::Junction(inner, _) => items(inner, bare, templates, lints),
            LogItem::Channel(path) | LogItem::Log(path) => items(&path.items, bare, templates, lints),
            LogItem::If(choice) => {
                let bodies = choice.branches.iter().map(|branch| &branch.body).chain(&choice.otherwise);
                bodies.for_each(|body| items(&body.items, bare, templates, lints));
            }
            _ => {}
        }
    }
}

fn destination(call: &Call, templates: &Templates, lints: &mut Lints<'_>) {
    if !OF_LINES.iter().any(|name| call.is(name)) || frames_itself(call) {
        return;
    }
    let Some(option) = call.options().find(|option| option.is("template")) else { return };
    let Some(text) = literal(option) else { return };
    let text = templates.texts.get(&text).unwrap_or(&text).as_str();
    // A name that is none of a template here: one of an included file that is not read, a macro's own.
    if text.contains('$') && !templates.ends_line(text) {
        let name = &call.name.text;
        let text = format!("the template of {name}() does not end the line: messages run together");
        let Some(arg) = option.values().next() else { return };
        let finding = Diagnostic::warning("L0102", text, arg.span).help("end it with \\n, in double quotes");
        lints.add(match &arg.kind {
            ArgKind::Str { text, .. } if text.contains('$') => finding.replace(quoted(&format!("{text}\n"))),
            _ => finding,
        });
    }
}

/// Each message is a datagram, or has its length in front of it.
fn frames_itself(call: &Call) -> bool {
    let value = |option: &Call| {
        option.values().filter_map(|arg| arg.text()).map(str::to_lowercase).collect::<Vec<_>>()
    };
    call.options().any(|option| {
        let values = value(option);
        option.is("transport") && values.iter().any(|value| value.contains("udp") || value.contains("proto"))
            || option.is("flags")
                && values.iter().any(|value| value == "syslog-protocol" || value == "syslog_protocol")
            || option.is("frac-delimiter")
    })
}
