//! What may stand at a place: statements, components, their options and words, names, macros.

use super::documents::{Document, Documents};
use super::expressions;
use super::help;
use super::names::{Kind, Names};
use super::place::Surroundings;
use crate::components::registry;
use conf_schema::{Context, OptionSpec, Table};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionParams, CompletionResponse, Documentation,
    InsertTextFormat, MarkupContent, MarkupKind,
};

/// What stands at the top of a configuration, as it is begun.
const STATEMENTS: [(&str, &str); 12] = [
    ("source", "source ${1:s_name} {\n    $0\n};"),
    ("destination", "destination ${1:d_name} {\n    $0\n};"),
    ("filter", "filter ${1:f_name} { $0; };"),
    ("parser", "parser ${1:p_name} {\n    $0\n};"),
    ("rewrite", "rewrite ${1:r_name} {\n    $0\n};"),
    ("template", "template ${1:t_name} { template(\"$0\\n\"); };"),
    ("log", "log {\n    source($1);\n    destination($0);\n};"),
    ("options", "options {\n    $0\n};"),
    ("block", "block ${1:source} ${2:name}($3) {\n    $0\n};"),
    ("@version", "@version: $0"),
    ("@include", "@include \"$0\""),
    ("@define", "@define ${1:name} \"$0\""),
];
/// What stands in a log path.
const IN_PATHS: [(&str, &str); 14] = [
    ("source", "source($0);"),
    ("destination", "destination($0);"),
    ("filter", "filter($0);"),
    ("filter { }", "filter { $0; };"),
    ("parser", "parser($0);"),
    ("rewrite", "rewrite($0);"),
    ("if", "if ($1) {\n    $0\n};"),
    ("elif", "elif ($1) {\n    $0\n}"),
    ("else", "else {\n    $0\n}"),
    ("junction", "junction {\n    channel { $0 };\n};"),
    ("channel", "channel { $0 };"),
    ("log", "log {\n    $0\n};"),
    ("filterx", "filterx {\n    $0\n};"),
    ("flags", "flags($0);"),
];
const FLAGS: [&str; 4] = ["final", "fallback", "catchall", "flow-control"];

pub fn at(documents: &Documents, params: &CompletionParams) -> Option<CompletionResponse> {
    let (document, offset) = documents.place(&params.text_document_position)?;
    let place = Surroundings::of(&document.text, offset);
    if place.is_in_comment {
        return None;
    }
    let items = match place.is_in_string {
        true => in_text(&document.text, offset),
        false if expressions::is_inside(&place) => expressions::at(&place, &document.text, offset),
        false => outside(document, &place),
    };
    Some(CompletionResponse::Array(items))
}

fn outside(document: &Document, place: &Surroundings) -> Vec<CompletionItem> {
    let calls = place.calls();
    let of_kind = |kind: Kind| -> Vec<CompletionItem> {
        let names = Names::of(document);
        names.defined(kind).map(|name| plain(name, CompletionItemKind::REFERENCE)).collect()
    };
    if calls == ["template"] {
        return of_kind(Kind::Template);
    }
    if let Some((table, inside)) = place.options() {
        return match inside {
            Some(option) => words(option),
            None => options(table),
        };
    }
    match (place.block(), calls.as_slice()) {
        (None, []) => STATEMENTS.iter().map(|(label, text)| snippet(label, text)).collect(),
        (Some("source" | "destination" | "parser"), []) => {
            place.context().map(components).unwrap_or_default()
        }
        (Some("rewrite"), []) => {
            rewrite::OPERATIONS.iter().map(|o| function(o.name, o.arguments, o.help)).collect()
        }
        (_, [.., "source"]) => of_kind(Kind::Source),
        (_, [.., "destination"]) => of_kind(Kind::Destination),
        (_, [.., "parser"]) => of_kind(Kind::Parser),
        (_, [.., "rewrite"]) => of_kind(Kind::Rewrite),
        (_, [.., "filter"]) => of_kind(Kind::Filter),
        (_, [.., "flags"]) => FLAGS.iter().map(|flag| plain(flag, CompletionItemKind::ENUM_MEMBER)).collect(),
        (Some("filter"), []) | (_, [.., "if" | "elif"]) => {
            filter::FUNCTIONS.iter().map(|f| function(f.name, f.arguments, f.help)).collect()
        }
        (Some("log" | "channel" | "if" | "elif" | "else" | "junction"), []) => {
            IN_PATHS.iter().map(|(label, text)| snippet(label, text)).collect()
        }
        _ => Vec::new(),
    }
}

/// Macros and functions behind a `$`.
fn in_text(text: &str, offset: usize) -> Vec<CompletionItem> {
    let before = text.get(..offset).unwrap_or_default();
    let begin = before.rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).unwrap_or(0);
    let sign = before.get(..=begin).unwrap_or_default();
    if sign.ends_with("$(") {
        return template::functions()
            .map(|f| documented(f.name, CompletionItemKind::FUNCTION, f.usage, f.help))
            .collect();
    }
    if !sign.ends_with('$') && !sign.ends_with("${") {
        return Vec::new();
    }
    macros()
}

pub fn macros() -> Vec<CompletionItem> {
    let all = template::MACROS.iter();
    all.map(|m| documented(m.name, CompletionItemKind::VARIABLE, m.example, m.help)).collect()
}

fn components(context: Context) -> Vec<CompletionItem> {
    let all = registry().catalogue.components.iter().filter(|component| component.context == context);
    all.map(|component| {
        let item =
            documented(component.name, CompletionItemKind::CLASS, component.example, component.summary);
        CompletionItem { insert_text: Some(format!("{}($0)", component.name)), ..as_snippet(item) }
    })
    .collect()
}

fn options(table: Table) -> Vec<CompletionItem> {
    let usable = table.options().filter(|option| option.state.is_read());
    usable
        .map(|option| {
            let item =
                documented(option.name, CompletionItemKind::PROPERTY, "", &help::of_option(&table, option));
            CompletionItem { insert_text: Some(format!("{}($0)", option.name)), ..as_snippet(item) }
        })
        .collect()
}

fn words(option: &OptionSpec) -> Vec<CompletionItem> {
    let listed = option.kind.words().iter().filter(|word| word.state.is_read());
    let mut items: Vec<CompletionItem> =
        listed.map(|word| documented(word.name, CompletionItemKind::ENUM_MEMBER, "", word.help)).collect();
    if matches!(option.kind, conf_schema::Kind::Bool | conf_schema::Kind::BoolOr(_)) {
        items.extend(["yes", "no"].map(|word| plain(word, CompletionItemKind::ENUM_MEMBER)));
    }
    items
}

pub fn plain(label: &str, kind: CompletionItemKind) -> CompletionItem {
    CompletionItem { label: label.to_owned(), kind: Some(kind), ..CompletionItem::default() }
}

pub fn documented(label: &str, kind: CompletionItemKind, detail: &str, text: &str) -> CompletionItem {
    let markdown = MarkupContent { kind: MarkupKind::Markdown, value: text.to_owned() };
    CompletionItem {
        detail: (!detail.is_empty()).then(|| detail.to_owned()),
        documentation: (!text.is_empty()).then_some(Documentation::MarkupContent(markdown)),
        ..plain(label, kind)
    }
}

fn function(name: &str, arguments: &str, help: &str) -> CompletionItem {
    let item = documented(name, CompletionItemKind::FUNCTION, &format!("{name}({arguments})"), help);
    CompletionItem { insert_text: Some(format!("{name}($0)")), ..as_snippet(item) }
}

fn snippet(label: &str, text: &str) -> CompletionItem {
    CompletionItem {
        insert_text: Some(text.to_owned()),
        ..as_snippet(plain(label, CompletionItemKind::KEYWORD))
    }
}

pub fn as_snippet(item: CompletionItem) -> CompletionItem {
    CompletionItem { insert_text_format: Some(InsertTextFormat::SNIPPET), ..item }
}
