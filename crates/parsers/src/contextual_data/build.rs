//! The options of `add-contextual-data()`, and its file read.

use super::Contextual;
use super::database::{Database, Reading};
use super::selector::Selector;
use crate::build::Build;
use crate::parse::Parse;
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, TemplateText};
use conf_syntax::{Arg, ArgKind};
use diag::Span;
use std::sync::Arc;

pub static ADD_CONTEXTUAL_DATA: Component = Component {
    context: Context::Parser,
    name: "add-contextual-data",
    aliases: &[],
    positional: &[],
    groups: &[],
    own: &[
        Opt::new(
            "selector",
            Kind::Any,
            Preset::None,
            "A template whose text is looked up among the selectors of the file; or glob(TEMPLATE), where the selectors are \
             globs; or filters(FILE), where they are names of filters in a configuration file. Of globs and filters the first \
             one of the file that fits counts, so they cost as much as they are many; a look-up does not.",
        ),
        Opt::new(
            "database",
            Kind::Path,
            Preset::None,
            "The file, read when the configuration is; a relative path is looked for in the configuration's folder, then in the working \
             directory. Lines of `selector,name,value`, in quotes where needed. A value is a \
             template, with its type around it if need be: `int(${x})`.",
        ),
        Opt::new("default-selector", Kind::Text, Preset::None, "Its values are set where no selector fits."),
        Opt::new("prefix", Kind::Text, Preset::Text(""), "Put in front of the name of every value."),
        Opt::new(
            "ignore-case",
            Kind::Bool,
            Preset::Bool(false),
            "Selectors are compared without regard to the case of ASCII letters.",
        ),
        Opt::no_effect("internal", "every named parser is counted"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Adds values that a file holds for a text of the message, its host say. A message without any passes as it is. The \
              file is read again with the configuration.",
    example: "add-contextual-data(selector(\"$HOST\") database(\"hosts.csv\") default-selector(\"unknown\") prefix(\".host.\"))",
    cost: Some(Cost::bench(
        "One look into a table in memory per message, besides what its selector costs; values that nothing reads are not made.",
        "contextual-data",
    )),
};

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let kind = selector_kind(settings, b);
    let ignore_case = settings.bool("ignore-case").unwrap_or(false);
    let prefix = settings.text("prefix").unwrap_or_default();
    let default = settings.text("default-selector");
    let Some(path) = settings.text("database") else {
        b.wrong("add-contextual-data() needs database()", None, "as database(\"hosts.csv\")");
        return None;
    };
    if !path.ends_with(".csv") {
        b.wrong(
            format!("`{path}` is no CSV file by its name"),
            settings.span("database"),
            "the name ends in .csv",
        );
        return None;
    }
    let at = settings.span("database").unwrap_or(b.span);
    let reading =
        Reading { path, prefix, at, ignore_case: ignore_case && matches!(kind, Some(Kinds::Text(_))) };
    let database = Database::read(&reading, b);
    let (kind, database) = (kind?, database?);
    let selector = match kind {
        Kinds::Text(template) => Selector::text(&b.template(&template)?, ignore_case),
        Kinds::Glob(template) => {
            let template = b.template(&template)?;
            Selector::globs(&template, &database, ignore_case, at, b)?
        }
        Kinds::Filters(path, at) => Selector::filters(&path, &database, at, b)?,
    };
    let default = default.and_then(|name| database.group(name.as_bytes()));
    Some(Arc::new(Contextual { selector: Arc::new(selector), database: Arc::new(database), default }))
}

enum Kinds {
    Text(TemplateText),
    Glob(TemplateText),
    Filters(String, Span),
}

fn selector_kind(settings: &Settings, b: &mut Build<'_>) -> Option<Kinds> {
    let text = |arg: &Arg| {
        arg.text().map(|text| TemplateText { type_hint: None, text: text.to_owned(), span: arg.span })
    };
    let kind = match settings.args("selector") {
        [arg] => match &arg.kind {
            ArgKind::Call(call) => match call.args.as_slice() {
                [inner] if call.is("glob") => text(inner).map(Kinds::Glob),
                [inner] if call.is("filters") => text(inner).map(|t| Kinds::Filters(t.text, t.span)),
                _ => None,
            },
            _ => text(arg).map(Kinds::Text),
        },
        _ => None,
    };
    if kind.is_none() {
        b.wrong(
            "selector() takes a template, glob(TEMPLATE) or filters(FILE)",
            settings.span("selector"),
            "as selector(\"$HOST\")",
        );
    }
    kind
}
