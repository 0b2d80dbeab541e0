//! What options are in effect: given, inherited or preset, as texts that can be compared and shown.

use std::fmt::Write;

use conf_syntax::quoted;
use diag::Span;

use crate::settings::Entry;
use crate::spec::{Kind, Preset};
use crate::value::{Change, Switch, TemplateText, Value};
use crate::{OptionSpec, Settings};

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It stands in the call.
    Given,
    /// From this global option, which is given or has its preset.
    Global(&'static str),
    Preset,
}

/// An option, or an argument without a name, that has a value.
#[derive(Clone, Debug)]
pub struct Effective {
    /// `port`; of one in a block, `tls(peer-verify)`.
    pub name: String,
    pub value: String,
    pub source: Source,
    /// Where it is given.
    pub span: Option<Span>,
}

impl Settings {
    /// Everything that has a value, in the order of the table. `named` gives the text of a template that is
    /// meant by its name. Options whose preset depends on other things are there only where they are given.
    pub fn effective(&self, named: &dyn Fn(&str) -> Option<String>) -> Vec<Effective> {
        let mut found = Vec::new();
        for positional in self.table().positional {
            if let Some(entry) = self.entry(positional.name) {
                found.push(given(positional.name, entry, named));
            }
        }
        for option in self.table().options().filter(|option| option.state.is_read()) {
            match self.entry(option.name) {
                Some(Entry { value: Value::Block(inner), .. }) => {
                    let inside = inner.iter().flat_map(|inner| inner.effective(named));
                    found.extend(inside.map(|inner| Effective {
                        name: format!("{}({})", option.name, inner.name),
                        ..inner
                    }));
                }
                Some(entry) => found.push(given(option.name, entry, named)),
                None => found.extend(self.preset(option, named)),
            }
        }
        found
    }

    fn preset(&self, option: &OptionSpec, named: &dyn Fn(&str) -> Option<String>) -> Option<Effective> {
        let of = |value: String, source: Source, span: Option<Span>| {
            Some(Effective { name: option.name.to_owned(), value, source, span })
        };
        match self.table().preset(option) {
            Preset::Global(name) => {
                let globals = self.globals()?;
                if let Some(entry) = globals.entry(name) {
                    let value = in_words(&entry.value, named);
                    return of(value, Source::Global(name), Some(entry.span));
                }
                let global = globals.table().option(name)?;
                of(preset_in_words(globals.table().preset(global))?, Source::Global(name), None)
            }
            preset => of(preset_in_words(preset)?, Source::Preset, None),
        }
    }
}

fn given(name: &str, entry: &Entry, named: &dyn Fn(&str) -> Option<String>) -> Effective {
    let value = in_words(&entry.value, named);
    Effective { name: name.to_owned(), value, source: Source::Given, span: Some(entry.span) }
}

fn preset_in_words(preset: Preset) -> Option<String> {
    Some(match preset {
        Preset::Bool(yes) => yes_no(yes).to_owned(),
        Preset::Int(number) => number.to_string(),
        Preset::Text(text) => quoted(text),
        Preset::Perm(mode) => format!("{mode:04o}"),
        Preset::None | Preset::Global(_) | Preset::Described(_) => return None,
    })
}

fn yes_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

fn template(text: &TemplateText, named: &dyn Fn(&str) -> Option<String>) -> String {
    let inner = quoted(&named(&text.text).unwrap_or_else(|| text.text.clone()));
    match &text.type_hint {
        Some(hint) => format!("{}({inner})", hint.text),
        None => inner,
    }
}

/// Words that say the same are the same text: a word and the string of it, `10k` and `10000`.
fn in_words(value: &Value, named: &dyn Fn(&str) -> Option<String>) -> String {
    let words = |words: &[&'static str]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words.join(" ")
    };
    match value {
        Value::Bool(yes) => yes_no(*yes).to_owned(),
        Value::Switch(Switch::Yes) => "yes".to_owned(),
        Value::Switch(Switch::No) => "no".to_owned(),
        Value::Switch(Switch::Word(word)) => quoted(word),
        Value::Int(number) => number.to_string(),
        Value::Size(bytes) => bytes.to_string(),
        Value::Seconds(time) => time.as_secs_f64().to_string(),
        Value::Ratio(ratio) => ratio.to_string(),
        Value::Text(text) => quoted(&text.text),
        Value::List(all) => all.iter().map(|text| quoted(&text.text)).collect::<Vec<_>>().join(" "),
        Value::Template(text) => template(text, named),
        Value::Choice(word) => quoted(word),
        Value::Flags(all) => words(all),
        Value::Number(number) => number.to_string(),
        Value::Zone(zone) => format!("{zone:?}"),
        Value::Owner(Change::Keep) | Value::Perm(Change::Keep) => "as it is".to_owned(),
        Value::Owner(Change::Set(name)) => quoted(name),
        Value::Perm(Change::Set(mode)) => format!("{mode:04o}"),
        Value::Encoding(encoding) => quoted(encoding.name()),
        Value::PortNumber(port) => port.to_string(),
        Value::PortService(name) => quoted(name),
        Value::Filter(expr) => expr.canonical(),
        Value::Pairs(pairs) => {
            let mut out = String::new();
            for pair in pairs {
                let comma = if out.is_empty() { "" } else { " " };
                let _ = write!(out, "{comma}{} => {}", quoted(&pair.key.text), template(&pair.value, named));
            }
            out
        }
        // Blocks have their options told one by one.
        Value::Block(_) => String::new(),
        Value::Args(args) => args.iter().map(conf_syntax::Arg::canonical).collect::<Vec<_>>().join(" "),
    }
}

impl OptionSpec {
    /// The preset in words, where it has one that can be said.
    pub fn preset_in_words(&self, preset: Preset) -> Option<String> {
        match (preset, self.kind) {
            (Preset::Global(name), _) => Some(format!("that of the global option {name}()")),
            (Preset::Described(words), _) => Some(words.to_owned()),
            (Preset::Text(word), Kind::Choice(_) | Kind::Severity | Kind::Facility) => Some(word.to_owned()),
            (preset, _) => preset_in_words(preset),
        }
    }
}
