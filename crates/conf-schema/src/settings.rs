//! What was read for one component: typed access that falls back to the declared preset, and remembers what
//! was asked for.
//!
//! The builder of a component asks for each option by name. A test builds every component and fails when
//! [`Settings::unread`] is not empty: an option that is declared but never asked for would be parsed and
//! ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use conf_syntax::{Arg, FilterExpr};
use diag::Span;
use record::Zone;

use crate::encoding::Encoding;
use crate::spec::{Kind, Preset, Table};
use crate::value::{Change, Pair, Port, Switch, TemplateText, Text, Value};

/// The options of one call.
#[derive(Debug)]
pub struct Settings {
    table: Table,
    span: Option<Span>,
    values: BTreeMap<&'static str, Entry>,
    globals: Option<Arc<Settings>>,
    /// Names asked for, `option` or `option(word)`. Only used while a configuration is built.
    asked: Mutex<BTreeSet<String>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub value: Value,
    pub span: Span,
}

/// Where the value of an option comes from.
enum Found<'a> {
    Value(&'a Value),
    Preset(Preset),
    Nothing,
}

impl Clone for Settings {
    fn clone(&self) -> Settings {
        Settings {
            table: self.table,
            span: self.span,
            values: self.values.clone(),
            globals: self.globals.clone(),
            asked: Mutex::new(self.lock().clone()),
        }
    }
}

impl Settings {
    /// Nothing set: everything has its preset.
    pub fn empty(table: Table, span: Option<Span>, globals: Option<Arc<Settings>>) -> Settings {
        Settings { table, span, values: BTreeMap::new(), globals, asked: Mutex::default() }
    }

    pub(crate) fn entry_mut(&mut self, name: &str) -> Option<&mut Entry> {
        self.values.get_mut(name)
    }

    pub(crate) fn insert(&mut self, name: &'static str, value: Value, span: Span) {
        self.values.insert(name, Entry { value, span });
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.values.get(name)
    }

    pub(crate) fn table(&self) -> Table {
        self.table
    }

    pub(crate) fn globals(&self) -> Option<&Settings> {
        self.globals.as_deref()
    }

    /// Name of the component or block.
    pub fn component(&self) -> &'static str {
        self.table.label
    }

    /// The place of the option when it is set, of the whole call otherwise; None only where no call was
    /// written.
    pub fn span(&self, name: &str) -> Option<Span> {
        self.values.get(name).map(|e| e.span).or(self.span)
    }

    /// The place of the option when it is set here or, with the same name, among the global options; of the
    /// whole call otherwise.
    pub fn span_in_effect(&self, name: &str) -> Option<Span> {
        let global = || self.globals().filter(|globals| globals.is_set(name))?.span(name);
        self.values.get(name).map(|e| e.span).or_else(global).or(self.span)
    }

    /// The place of the whole call.
    pub fn call_span(&self) -> Option<Span> {
        self.span
    }

    /// Given in this call. Does not count as reading it.
    pub fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Nothing was given, as in `tls()`.
    pub fn is_blank(&self) -> bool {
        self.values.is_empty()
    }

    pub fn bool(&self, name: &str) -> Option<bool> {
        match self.find(name) {
            Found::Value(Value::Bool(v)) => Some(*v),
            Found::Preset(Preset::Bool(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    pub fn switch(&self, name: &str) -> Option<Switch> {
        match self.find(name) {
            Found::Value(Value::Switch(v)) => Some(*v),
            Found::Preset(Preset::Bool(true)) => Some(Switch::Yes),
            Found::Preset(Preset::Bool(false)) => Some(Switch::No),
            Found::Preset(Preset::Text(word)) => Some(Switch::Word(word)),
            other => self.none(name, other),
        }
    }

    pub fn int(&self, name: &str) -> Option<i64> {
        match self.find(name) {
            Found::Value(Value::Int(v)) => Some(*v),
            Found::Preset(Preset::Int(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    /// Bytes.
    pub fn size(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Found::Value(Value::Size(v)) => Some(*v),
            Found::Preset(Preset::Int(v)) => u64::try_from(v).ok(),
            other => self.none(name, other),
        }
    }

    pub fn seconds(&self, name: &str) -> Option<Duration> {
        match self.find(name) {
            Found::Value(Value::Seconds(v)) => Some(*v),
            Found::Preset(Preset::Int(v)) => u64::try_from(v).ok().map(Duration::from_secs),
            other => self.none(name, other),
        }
    }

    /// From 0 to 1.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        match self.find(name) {
            Found::Value(Value::Ratio(v)) => Some(*v),
            other => self.none(name, other),
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.find(name) {
            Found::Value(Value::Text(v)) => Some(&v.text),
            Found::Preset(Preset::Text(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    pub fn path(&self, name: &str) -> Option<&Path> {
        self.text(name).map(Path::new)
    }

    /// Empty when not set.
    pub fn list(&self, name: &str) -> &[Text] {
        match self.find(name) {
            Found::Value(Value::List(v)) => v,
            other => self.none::<()>(name, other).map_or(&[], |()| &[]),
        }
    }

    pub fn template(&self, name: &str) -> Option<&TemplateText> {
        match self.find(name) {
            Found::Value(Value::Template(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    pub fn choice(&self, name: &str) -> Option<&'static str> {
        match self.find(name) {
            Found::Value(Value::Choice(v)) => Some(v),
            Found::Preset(Preset::Text(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    /// The word stands among the flags. Each word is remembered as asked for on its own.
    pub fn flag(&self, name: &str, word: &str) -> bool {
        self.lock().insert(flag_name(name, word));
        match self.find(name) {
            Found::Value(Value::Flags(v)) => v.contains(&word),
            other => self.none::<()>(name, other).is_some(),
        }
    }

    /// All flags that are set, in the order they were given. Counts as reading every one: the caller has to
    /// act on each.
    pub fn flags(&self, name: &str) -> &[&'static str] {
        if let Some(Kind::Flags(words)) = self.table.option(name).map(|o| o.kind) {
            self.lock().extend(words.iter().map(|w| flag_name(name, w.name)));
        }
        match self.find(name) {
            Found::Value(Value::Flags(v)) => v,
            other => self.none::<()>(name, other).map_or(&[], |()| &[]),
        }
    }

    /// A severity (0 to 7) or facility (0 to 127).
    pub fn number(&self, name: &str) -> Option<u8> {
        match self.find(name) {
            Found::Value(Value::Number(v)) => Some(*v),
            Found::Preset(Preset::Text(v)) => match self.table.option(name).map(|o| o.kind) {
                Some(Kind::Severity) => record::pri::severity(v),
                _ => record::pri::facility(v),
            },
            other => self.none(name, other),
        }
    }

    pub fn zone(&self, name: &str) -> Option<&Zone> {
        match self.find(name) {
            Found::Value(Value::Zone(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    /// A user or group, name or number. None: not said anywhere.
    pub fn owner(&self, name: &str) -> Option<Change<&str>> {
        match self.find(name) {
            Found::Value(Value::Owner(Change::Keep)) => Some(Change::Keep),
            Found::Value(Value::Owner(Change::Set(v))) => Some(Change::Set(v)),
            other => self.none(name, other),
        }
    }

    /// A file mode.
    pub fn perm(&self, name: &str) -> Option<Change<u32>> {
        match self.find(name) {
            Found::Value(Value::Perm(v)) => Some(*v),
            Found::Preset(Preset::Perm(v)) => Some(Change::Set(v)),
            other => self.none(name, other),
        }
    }

    pub fn encoding(&self, name: &str) -> Option<Encoding> {
        match self.find(name) {
            Found::Value(Value::Encoding(v)) => Some(*v),
            other => self.none(name, other),
        }
    }

    pub fn port(&self, name: &str) -> Option<Port<'_>> {
        match self.find(name) {
            Found::Value(Value::PortNumber(v)) => Some(Port::Number(*v)),
            Found::Value(Value::PortService(v)) => Some(Port::Service(v)),
            Found::Preset(Preset::Int(v)) => u16::try_from(v).ok().map(Port::Number),
            other => self.none(name, other),
        }
    }

    pub fn filter(&self, name: &str) -> Option<&FilterExpr> {
        match self.find(name) {
            Found::Value(Value::Filter(v)) => Some(v),
            other => self.none(name, other),
        }
    }

    /// Empty when not set.
    pub fn pairs(&self, name: &str) -> &[Pair] {
        match self.find(name) {
            Found::Value(Value::Pairs(v)) => v,
            other => self.none::<()>(name, other).map_or(&[], |()| &[]),
        }
    }

    /// None when the block was not written.
    pub fn block(&self, name: &str) -> Option<&Settings> {
        self.blocks(name).last()
    }

    /// The blocks of an option that collects; empty when not set.
    pub fn blocks(&self, name: &str) -> &[Settings] {
        match self.find(name) {
            Found::Value(Value::Block(v)) => v,
            other => self.none::<()>(name, other).map_or(&[], |()| &[]),
        }
    }

    /// Empty when not set.
    pub fn args(&self, name: &str) -> &[Arg] {
        match self.find(name) {
            Found::Value(Value::Args(v)) => v,
            other => self.none::<()>(name, other).map_or(&[], |()| &[]),
        }
    }

    /// The value of the `index`th positional argument, when it was given.
    pub fn positional(&self, index: usize) -> Option<&Value> {
        let name = self.table.positional.get(index)?.name;
        match self.find(name) {
            Found::Value(v) => Some(v),
            _ => None,
        }
    }

    /// Options a user can set that were never asked for: `name`, `flags(word)` or `block(name)`.
    pub fn unread(&self) -> Vec<String> {
        let asked = self.lock();
        let mut unread = Vec::new();
        for p in self.table.positional.iter().filter(|p| !asked.contains(p.name)) {
            unread.push(p.name.to_string());
        }
        for option in self.table.options().filter(|o| o.state.is_read()) {
            if !asked.contains(option.name) {
                unread.push(option.name.to_string());
            } else if let Kind::Flags(words) = option.kind {
                let words =
                    words.iter().filter(|w| w.state.is_read()).map(|w| flag_name(option.name, w.name));
                unread.extend(words.filter(|flag| !asked.contains(flag)));
            } else if let Some(Value::Block(inner)) = self.values.get(option.name).map(|e| &e.value) {
                let inside = inner.iter().flat_map(Settings::unread);
                unread.extend(inside.map(|name| flag_name(option.name, &name)));
            }
        }
        unread
    }

    /// Names that were asked for although the component does not declare them: a typing error in a builder,
    /// unless shared code asks for what other components have.
    pub fn undeclared(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.lock().iter().filter(|name| !name.contains('(')) {
            let declared = self.table.option(name).is_some_and(|o| o.state.is_read())
                || self.table.positional.iter().any(|p| p.name == name);
            if !declared {
                names.push(name.clone());
            }
        }
        names
    }

    fn find(&self, name: &str) -> Found<'_> {
        self.lock().insert(name.to_string());
        if let Some(entry) = self.values.get(name) {
            return Found::Value(&entry.value);
        }
        match self.table.option(name).map(|o| self.table.preset(o)) {
            Some(Preset::Global(global)) => match &self.globals {
                Some(globals) => globals.find(global),
                None => Found::Nothing,
            },
            Some(Preset::None | Preset::Described(_)) | None => Found::Nothing,
            Some(preset) => Found::Preset(preset),
        }
    }

    /// Not set is None; set but of another type is a mistake of the builder, found by any test that builds
    /// it.
    fn none<T>(&self, name: &str, found: Found<'_>) -> Option<T> {
        debug_assert!(
            matches!(found, Found::Nothing),
            "{}: option `{name}` was asked for by another type than its table declares",
            self.table.label
        );
        None
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flag_name(option: &str, word: &str) -> String {
    format!("{option}({word})")
}
