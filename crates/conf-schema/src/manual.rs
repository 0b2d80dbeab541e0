//! The reference manual and the editor schema, written from the tables.

pub mod cost;
pub mod elements;

use std::fmt::Write;

use serde_json::{Value, json};

use crate::catalogue::Catalogue;
use crate::read::wanted;
use crate::spec::{Component, Context, Group, Kind, OptionSpec, Preset, State, Table, Word};

const CONTEXTS: &[(Context, &str)] = &[
    (Context::Source, "Sources"),
    (Context::Destination, "Destinations"),
    (Context::Parser, "Parsers"),
    (Context::Rewrite, "Rewrite operations"),
    (Context::LogPath, "Elements of a log path"),
    (Context::Options, "Global options"),
];

/// The manual as (file name, text): a page for each component, those of the smaller elements, an index, what
/// is not available, the editor schema.
pub fn files(catalogue: &Catalogue, pages: &[elements::Page]) -> Vec<(String, String)> {
    // By name, whatever order the lists of components have.
    let mut components = catalogue.components.to_vec();
    components.sort_by_key(|component| (component.context, component.name));
    let mut files: Vec<(String, String)> = components.iter().map(|c| (file_name(c), page(c))).collect();
    files.extend(pages.iter().map(|page| (page.file.into(), page.text())));
    files.push(("README.md".into(), index(&components, pages)));
    files.push(("unavailable.md".into(), unavailable(catalogue)));
    files.push(("options.json".into(), options_json(&components)));
    files
}

/// `source-network.md`
pub fn file_name(component: &Component) -> String {
    match component.context {
        Context::Options => "options.md".into(),
        context => format!("{}-{}.md", context.as_str(), component.name),
    }
}

/// The page of one component, in Markdown.
pub fn page(component: &'static Component) -> String {
    let table = component.table();
    let mut out =
        format!("# {}\n\n{}\n\n```\n{}\n```\n", title(component), component.summary, component.example);
    if let [first, rest @ ..] = component.aliases {
        let more: String = rest.iter().map(|a| format!(", `{a}()`")).collect();
        let _ = write!(out, "\nAlso written `{first}()`{more}.\n");
    }
    if !table.positional.is_empty() {
        out.push_str("\n## Values without a name\n\n| value | takes | |\n|---|---|---|\n");
        for p in table.positional {
            let need = if p.required { "required" } else { "optional" };
            let _ = writeln!(out, "| {} | {} | {need} |", cell(p.help), cell(&wanted(&p.kind)));
        }
    }
    if !component.own.is_empty() {
        section(&mut out, &format!("Options of {}", title(component)), component.own, &table);
    }
    for group in component.groups {
        let name = match component.own.is_empty() && component.groups.len() == 1 {
            true => "Options".to_string(),
            false => format!("Options: {}", group.name),
        };
        section(&mut out, &name, group.options, &table);
    }
    refused(&mut out, &table);
    without_effect(&mut out, &table);
    out.push_str(&cost::section(component));
    out.push_str("\n`-` and `_` are the same in names. This page is made from the program's own tables.\n");
    out
}

fn title(component: &Component) -> String {
    match component.context {
        Context::Options => "Global options".into(),
        Context::LogPath => format!("{}()", component.name),
        context => format!("{}() {}", component.name, context.as_str()),
    }
}

fn section(out: &mut String, title: &str, options: &'static [OptionSpec], table: &Table) {
    let shown: Vec<&'static OptionSpec> = options.iter().filter(|o| o.state.is_read()).collect();
    if shown.is_empty() {
        return;
    }
    let _ = write!(out, "\n## {title}\n\n| option | takes | default | what it does |\n|---|---|---|---|\n");
    for option in &shown {
        let names: Vec<String> = option.names().map(|n| format!("`{n}()`")).collect();
        let preset = preset_text(table.preset(option));
        let mut help = option.help.to_string();
        if let State::Obsolete(instead) = option.state {
            let _ = write!(help, " Obsolete: {instead}.");
        }
        let takes = match option.kind {
            Kind::Choice(_) | Kind::BoolOr(_) => wanted(&option.kind),
            Kind::Flags(_) => "flags, see below".into(),
            Kind::Block(_) => "options, see below".into(),
            _ => wanted(&option.kind),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            names.join(", "),
            cell(&takes),
            cell(&preset),
            cell(&help)
        );
    }
    for option in &shown {
        words_of(out, option);
        if let Kind::Block(groups) = option.kind {
            nested(out, option.name, groups);
        }
    }
}

/// A block in a block is named by its path: `failover(failback())`.
fn nested(out: &mut String, path: &str, groups: &'static [&'static Group]) {
    let table = Table::block("", groups);
    for group in groups {
        section(out, &format!("Options in `{path}()`"), group.options, &table);
    }
}

fn words_of(out: &mut String, option: &OptionSpec) {
    let words = option.kind.words();
    if words.is_empty() {
        return;
    }
    let _ = write!(out, "\nWords of `{}()`:\n\n", option.name);
    for word in words.iter().filter(|w| w.state.is_read()) {
        let _ = writeln!(out, "- {}: {}", word_names(word), word.help);
    }
    for word in words {
        match word.state {
            State::NotYet(remedy) => {
                let _ = writeln!(out, "- {}: not available; {remedy}.", word_names(word));
            }
            State::NoEffect(why) => {
                let _ = writeln!(out, "- {}: accepted, without effect: {why}.", word_names(word));
            }
            _ => {}
        }
    }
}

fn word_names(word: &Word) -> String {
    let names: Vec<String> =
        std::iter::once(&word.name).chain(word.aliases).map(|n| format!("`{n}`")).collect();
    names.join(", ")
}

fn refused(out: &mut String, table: &Table) {
    let mut rows: Vec<(&str, &str)> = table.not_yet.to_vec();
    for option in table.options() {
        if let State::NotYet(remedy) = option.state {
            rows.push((option.name, remedy));
        }
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("\n## Not available in this version\n\nThese options of syslog-ng are refused.\n\n");
    out.push_str("| option | what to do |\n|---|---|\n");
    for (name, remedy) in rows {
        let _ = writeln!(out, "| `{name}()` | {} |", cell(remedy));
    }
}

fn without_effect(out: &mut String, table: &Table) {
    let mut rows: Vec<(String, String)> = Vec::new();
    for option in table.options() {
        if let State::NoEffect(why) = option.state {
            rows.push((option.name.into(), why.into()));
        }
        if option.state.is_read() {
            let old = option.old_names.iter();
            rows.extend(
                old.map(|n| (n.to_string(), format!("obsolete name of `{}()`; it works", option.name))),
            );
        }
    }
    if rows.is_empty() {
        return;
    }
    out.push_str("\n## Accepted with a warning\n\n| option | why |\n|---|---|\n");
    for (name, why) in rows {
        let _ = writeln!(out, "| `{name}()` | {} |", cell(&why));
    }
}

fn preset_text(preset: Preset) -> String {
    match preset {
        Preset::None => "none".into(),
        Preset::Bool(true) => "yes".into(),
        Preset::Bool(false) => "no".into(),
        Preset::Int(n) => n.to_string(),
        Preset::Text(text) => format!("`{text}`"),
        Preset::Perm(mode) => format!("0{mode:o}"),
        Preset::Global(name) => format!("global `{name}()`"),
        Preset::Described(text) => text.into(),
    }
}

/// A text that stands in a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn index(components: &[&'static Component], pages: &[elements::Page]) -> String {
    let mut out =
        String::from("# Reference\n\nWhat a configuration may say, made from the program's own tables.\n");
    for (context, heading) in CONTEXTS {
        let list: Vec<_> = components.iter().filter(|c| c.context == *context).collect();
        if list.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {heading}\n\n");
        for c in list {
            let name =
                if *context == Context::Options { "options { }".into() } else { format!("{}()", c.name) };
            let _ = writeln!(out, "- [`{name}`]({}): {}", file_name(c), c.summary);
        }
    }
    out.push_str("\n## Smaller elements\n\n");
    for page in pages {
        let _ = writeln!(out, "- [{}]({})", page.title, page.file);
    }
    out.push_str("\n## Also\n\n- [What of syslog-ng is not available yet](unavailable.md)\n");
    out.push_str("- [All tables for editors and scripts](options.json)\n");
    out
}

fn unavailable(catalogue: &Catalogue) -> String {
    let mut out = String::from(
        "# Not available yet\n\nThese drivers and parsers of syslog-ng are refused by name in this version.\n",
    );
    for (context, heading) in CONTEXTS {
        let list: Vec<_> = catalogue.unavailable.iter().filter(|u| u.context == *context).collect();
        if list.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {heading}\n\n| name | what to do |\n|---|---|\n");
        for u in list {
            let _ = writeln!(out, "| `{}()` | {} |", u.name, cell(u.remedy));
        }
    }
    out
}

/// All tables as JSON, for editors.
pub fn options_json(components: &[&'static Component]) -> String {
    let list: Vec<Value> = components.iter().map(|c| component_json(c)).collect();
    let mut text =
        serde_json::to_string_pretty(&json!({"version": 1, "components": list})).unwrap_or_default();
    text.push('\n');
    text
}

fn component_json(component: &'static Component) -> Value {
    let table = component.table();
    let positional: Vec<Value> = table
        .positional
        .iter()
        .map(|p| json!({"name": p.name, "takes": wanted(&p.kind), "required": p.required, "help": p.help}))
        .collect();
    let not_yet: Vec<Value> = table.not_yet.iter().map(|(n, r)| json!({"name": n, "instead": r})).collect();
    json!({
        "context": component.context.as_str(),
        "name": component.name,
        "aliases": component.aliases,
        "summary": component.summary,
        "example": component.example,
        "positional": positional,
        "options": options_of(&table),
        "not_available": not_yet,
    })
}

fn options_of(table: &Table) -> Vec<Value> {
    table.options().map(|o| option_json(o, table.preset(o))).collect()
}

fn option_json(option: &OptionSpec, preset: Preset) -> Value {
    let (state, note) = state_json(option.state);
    let words: Vec<Value> = option
        .kind
        .words()
        .iter()
        .map(|w| {
            let (state, note) = state_json(w.state);
            json!({"name": w.name, "aliases": w.aliases, "state": state, "note": note, "help": w.help})
        })
        .collect();
    let nested = match option.kind {
        Kind::Block(groups) => options_of(&Table::block("", groups)),
        _ => Vec::new(),
    };
    json!({
        "name": option.name,
        "aliases": option.aliases,
        "obsolete_names": option.old_names,
        "takes": wanted(&option.kind),
        "words": words,
        "options": nested,
        "default": preset_text(preset),
        "collects": option.collects,
        "state": state,
        "note": note,
        "help": option.help,
    })
}

fn state_json(state: State) -> (&'static str, &'static str) {
    match state {
        State::Supported => ("supported", ""),
        State::Obsolete(instead) => ("obsolete", instead),
        State::NoEffect(why) => ("no-effect", why),
        State::NotYet(remedy) => ("not-available", remedy),
    }
}
