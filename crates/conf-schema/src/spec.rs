//! What a component declares: its options with type, default and help, in tables that are plain constants.

use crate::cost::Cost;

/// Where a component may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    Source,
    Destination,
    Parser,
    Rewrite,
    /// The global `options { }`.
    Options,
    /// An element of a log path, such as `parallelize()`.
    LogPath,
}

impl Context {
    /// In file names and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Context::Source => "source",
            Context::Destination => "destination",
            Context::Parser => "parser",
            Context::Rewrite => "rewrite",
            Context::Options => "options",
            Context::LogPath => "log",
        }
    }
}

/// Whether something that has a name does what syslog-ng's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Supported,
    /// Works, with a warning. What to write instead.
    Obsolete(&'static str),
    /// Accepted with a warning, changes nothing. Why.
    NoEffect(&'static str),
    /// Refused. What to do instead.
    NotYet(&'static str),
}

impl State {
    /// A builder has to read it.
    pub fn is_read(self) -> bool {
        matches!(self, State::Supported | State::Obsolete(_))
    }
}

/// A word of [`Kind::Choice`], [`Kind::Flags`] or [`Kind::BoolOr`].
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// As [`crate::Settings`] returns it: with `-`, lower case.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Flags that this one undoes when it comes later.
    pub undoes: &'static [&'static str],
    pub help: &'static str,
    pub state: State,
}

impl Word {
    pub const fn new(name: &'static str, help: &'static str) -> Word {
        Word { name, aliases: &[], undoes: &[], help, state: State::Supported }
    }

    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Word {
        self.aliases = aliases;
        self
    }

    pub const fn undoes(mut self, names: &'static [&'static str]) -> Word {
        self.undoes = names;
        self
    }

    pub const fn not_yet(name: &'static str, remedy: &'static str) -> Word {
        Word { name, aliases: &[], undoes: &[], help: "", state: State::NotYet(remedy) }
    }

    pub const fn no_effect(name: &'static str, why: &'static str) -> Word {
        Word { name, aliases: &[], undoes: &[], help: "", state: State::NoEffect(why) }
    }
}

/// The type of an option's value. What [`crate::Settings`] method reads it stands at each.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `yes`/`no` -> `bool()`
    Bool,
    /// `yes`/`no` or one of the words -> `switch()`
    BoolOr(&'static [Word]),
    /// A whole number -> `int()`
    Int { min: i64, max: i64 },
    /// Bytes, with suffixes -> `size()`
    Size { min: u64, max: u64 },
    /// Whole or decimal seconds, from `min` to `max` -> `seconds()`
    Seconds { min: u32, max: u32 },
    /// A number from 0 to 1 -> `ratio()`
    Ratio,
    /// A word, string or number -> `text()`
    Text,
    /// Any number of texts -> `list()`
    TextList,
    /// A file or folder -> `path()`
    Path,
    /// A template, or the name of one; with an optional type hint -> `template()`
    Template,
    /// One of the words -> `choice()`
    Choice(&'static [Word]),
    /// Any of the words -> `flag(option, word)`
    Flags(&'static [Word]),
    /// A severity name -> `number()`, 0 to 7
    Severity,
    /// A facility name or number -> `number()`, 0 to 127
    Facility,
    /// A regular expression, compiled by the builder -> `text()`
    Regexp,
    /// A time zone name or offset -> `zone()`
    Zone,
    /// A user name or number, or `()` for "leave as it is" -> `owner()`
    Owner,
    /// A group name or number, or `()` -> `owner()`
    Group,
    /// A file mode in octal, or `()` -> `perm()`
    Perm,
    /// A character encoding -> `encoding()`
    Encoding,
    /// A port number or service name -> `port()`
    Port,
    /// A filter expression -> `filter()`
    Filter,
    /// `key => value` or `key(value)`, any number -> `pairs()`
    Pairs,
    /// Nested options -> `block()`
    Block(&'static [&'static Group]),
    /// Read by the component itself -> `args()`
    Any,
}

impl Kind {
    /// The words it knows.
    pub fn words(self) -> &'static [Word] {
        match self {
            Kind::Choice(words) | Kind::Flags(words) | Kind::BoolOr(words) => words,
            _ => &[],
        }
    }
}

/// The value an option has when the configuration does not give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Nothing: not set means not done.
    None,
    Bool(bool),
    /// Also of sizes, seconds, ports.
    Int(i64),
    /// Also of words, severities, facilities, paths.
    Text(&'static str),
    /// A file mode.
    Perm(u32),
    /// The value of this global option.
    Global(&'static str),
    /// Depends on other things: said in words for the manual, chosen by the builder.
    Described(&'static str),
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// With `-`.
    pub name: &'static str,
    /// Other current spellings.
    pub aliases: &'static [&'static str],
    /// Obsolete spellings: they work, with a warning.
    pub old_names: &'static [&'static str],
    pub kind: Kind,
    pub preset: Preset,
    /// One or two sentences: unit, range, effect.
    pub help: &'static str,
    pub state: State,
    /// Given several times it collects ([`Kind::TextList`], [`Kind::Pairs`]); [`Kind::Flags`] always does.
    pub collects: bool,
    /// A number in the place of a block is meant for this option: `stats(600)`.
    pub number_means: Option<&'static str>,
    /// A good value as it is written, for tests: where its type does not give one away.
    pub sample: Option<&'static str>,
}

impl OptionSpec {
    pub const fn new(name: &'static str, kind: Kind, preset: Preset, help: &'static str) -> OptionSpec {
        OptionSpec {
            name,
            aliases: &[],
            old_names: &[],
            kind,
            preset,
            help,
            state: State::Supported,
            collects: false,
            number_means: None,
            sample: None,
        }
    }

    pub const fn sample(mut self, value: &'static str) -> OptionSpec {
        self.sample = Some(value);
        self
    }

    pub const fn number_means(mut self, option: &'static str) -> OptionSpec {
        self.number_means = Some(option);
        self
    }

    /// Known from syslog-ng, refused in this version.
    pub const fn not_yet(name: &'static str, remedy: &'static str) -> OptionSpec {
        let mut spec = OptionSpec::new(name, Kind::Any, Preset::None, "");
        spec.state = State::NotYet(remedy);
        spec
    }

    /// Known from syslog-ng, accepted with a warning.
    pub const fn no_effect(name: &'static str, why: &'static str) -> OptionSpec {
        let mut spec = OptionSpec::new(name, Kind::Any, Preset::None, "");
        spec.state = State::NoEffect(why);
        spec
    }

    pub const fn alias(mut self, names: &'static [&'static str]) -> OptionSpec {
        self.aliases = names;
        self
    }

    pub const fn old(mut self, names: &'static [&'static str]) -> OptionSpec {
        self.old_names = names;
        self
    }

    pub const fn obsolete(mut self, instead: &'static str) -> OptionSpec {
        self.state = State::Obsolete(instead);
        self
    }

    pub const fn collects(mut self) -> OptionSpec {
        self.collects = true;
        self
    }

    /// Name and current aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Options that recur in several components.
#[derive(Debug)]
pub struct Group {
    pub name: &'static str,
    pub options: &'static [OptionSpec],
}

/// A value without a name, in front of or between the options: the path of `file()`.
#[derive(Clone, Copy, Debug)]
pub struct Positional {
    /// Read by this name, as an option is.
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    pub help: &'static str,
}

/// Everything there is to know about a component.
#[derive(Debug)]
pub struct Component {
    pub context: Context,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub positional: &'static [Positional],
    pub groups: &'static [&'static Group],
    pub own: &'static [OptionSpec],
    /// Presets that differ from those of the groups: (option, preset).
    pub presets: &'static [(&'static str, Preset)],
    /// Options of syslog-ng that are refused: (option, what to do instead).
    pub not_yet: &'static [(&'static str, &'static str)],
    /// What it is for, one to three sentences.
    pub summary: &'static str,
    /// A call (or, for the global options, a list of calls) that reads without findings.
    pub example: &'static str,
    /// What it costs on the message path; `None` for what is not on it.
    pub cost: Option<Cost>,
}

impl Component {
    pub fn table(&'static self) -> Table {
        Table {
            label: self.name,
            positional: self.positional,
            groups: self.groups,
            own: self.own,
            presets: self.presets,
            not_yet: self.not_yet,
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// The options one call may have: of a component, or of a nested block.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Name of the component or block, for messages.
    pub label: &'static str,
    pub positional: &'static [Positional],
    pub groups: &'static [&'static Group],
    pub own: &'static [OptionSpec],
    pub presets: &'static [(&'static str, Preset)],
    pub not_yet: &'static [(&'static str, &'static str)],
}

impl Table {
    pub fn block(label: &'static str, groups: &'static [&'static Group]) -> Table {
        Table { label, positional: &[], groups, own: &[], presets: &[], not_yet: &[] }
    }

    /// Own options first, then those of the groups in order.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionSpec> + use<> {
        self.own.iter().chain(self.groups.iter().flat_map(|g| g.options.iter()))
    }

    /// The option of this canonical name.
    pub fn option(&self, name: &str) -> Option<&'static OptionSpec> {
        self.options().find(|o| o.name == name)
    }

    pub fn preset(&self, spec: &OptionSpec) -> Preset {
        self.presets.iter().find(|(name, _)| *name == spec.name).map_or(spec.preset, |(_, preset)| *preset)
    }
}
