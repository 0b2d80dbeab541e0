//! The options of the two XML parsers.

use super::{Rules, Xml};
use crate::build::Build;
use crate::options::PARSER;
use crate::parse::Parse;
use crate::tree::Tree;
use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset, Settings};
use diag::Diagnostic;
use filter::new_asker;
use pattern::{Pattern, PatternOptions};
use std::sync::Arc;

static OPTIONS: Group = Group {
    name: "xml",
    options: &[
        Opt::new(
            "prefix",
            Kind::Text,
            Preset::Text(".xml"),
            "Put in front of every name, with a dot between them.",
        ),
        Opt::new(
            "drop-invalid",
            Kind::Bool,
            Preset::Bool(false),
            "A text that is no XML does not match; otherwise it passes, with what was read before the fault.",
        ),
        Opt::new(
            "exclude-tags",
            Kind::TextList,
            Preset::None,
            "Elements to pass over with all they contain: names, with `*` and `?` for any text and any character.",
        )
        .collects(),
        Opt::new(
            "strip-whitespaces",
            Kind::Bool,
            Preset::Bool(false),
            "Blanks around every piece of text are taken away.",
        ),
        Opt::new(
            "create-lists",
            Kind::Bool,
            Preset::Bool(true),
            "The second element of a path makes a list of the value, each further one adds an item. Otherwise the texts are joined.",
        ),
    ],
};

pub static XML: Component = Component {
    context: Context::Parser,
    name: "xml",
    aliases: &[],
    positional: &[],
    groups: &[&OPTIONS, &PARSER],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Takes elements and attributes out of an XML text: `<a><b k='1'>x</b></a>` gives `.xml.a.b` and `.xml.a.b._k`. \
              Declarations, CDATA sections and comments are passed over; entities are the five of XML and character \
              references, none is ever defined. What nothing reads is passed over without a copy.",
    example: "xml(prefix(\".event\") drop-invalid(yes) exclude-tags(\"Rendering*\"))",
    cost: Some(Cost::bench(
        "One pass over the text; elements that nothing reads are checked and passed over.",
        "xml",
    )),
};

pub static WINDOWS_EVENTLOG_XML_PARSER: Component = Component {
    context: Context::Parser,
    name: "windows-eventlog-xml-parser",
    aliases: &[],
    positional: &[],
    groups: &[&OPTIONS, &PARSER],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "As xml(), for events of Windows: `<Data Name='X'>` of `Event/EventData` becomes `.xml.Event.EventData.Data.X`.",
    example: "windows-eventlog-xml-parser(prefix(\".windows\"))",
    cost: Some(Cost::example(
        "As xml(): one pass over the text; elements that nothing reads are checked and passed over.",
    )),
};

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    common(settings, b, false)
}

pub fn build_windows(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    common(settings, b, true)
}

fn common(settings: &Settings, b: &mut Build<'_>, windows: bool) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let mut glob = PatternOptions::default();
    let mut exclude = Vec::new();
    let tags = settings.list("exclude-tags");
    for tag in tags {
        match glob.set_kind("glob").and_then(|()| Pattern::compile(&tag.text, &glob)) {
            Ok(pattern) => exclude.push(pattern),
            Err(e) => b.diags.push(Diagnostic::error("A0104", e.to_string(), tag.span)),
        }
    }
    let complete = exclude.len() == tags.len();
    let prefix = settings.text("prefix").unwrap_or_default();
    let prefix = match prefix.strip_suffix('.').unwrap_or(prefix) {
        "" => String::new(),
        prefix => format!("{prefix}."),
    };
    let rules = Rules {
        prefix: prefix.into(),
        exclude,
        strip: settings.bool("strip-whitespaces").unwrap_or(false),
        lists: settings.bool("create-lists").unwrap_or(true),
        drop_invalid: settings.bool("drop-invalid").unwrap_or(false),
        windows,
    };
    let xml = Xml { input: input?, rules: Arc::new(rules), tree: Tree::All, asker: new_asker() };
    complete.then(|| Arc::new(xml) as Arc<dyn Parse>)
}
