//! `kv-parser()` and `linux-audit-parser()`: `key=value key="value with blanks"`.

mod all;
mod audit;
pub(crate) mod outlined;
pub(crate) mod scan;

pub use audit::{LINUX_AUDIT_PARSER, build_audit};

use crate::build::Build;
use crate::found::Found;
use crate::input::Input;
use crate::learned::Learned;
use crate::names::{Names, Table};
use crate::options::{PARSER, PREFIX};
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, NameId, ValueType};
use scan::{Scanner, Text};
use std::sync::Arc;
use wire::pairs::{Outline, Separators};

pub static KV_PARSER: Component = Component {
    context: Context::Parser,
    name: "kv-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        PREFIX,
        Opt::new(
            "value-separator",
            Kind::Text,
            Preset::Text("="),
            "The character between a key and its value.",
        ),
        Opt::new(
            "pair-separator",
            Kind::Text,
            Preset::Text(", "),
            "Ends a value. A blank does so too when a key comes after it.",
        ),
        Opt::new(
            "extract-stray-words-into",
            Kind::Text,
            Preset::None,
            "The name of a value that gets, as a list, what is neither key nor value.",
        )
        .alias(&["stray-words-value-name"]),
        Opt::no_effect(
            "allow-pair-separator-in-value",
            "a value that has the separator in it stands in quotes",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Takes keys and values out of a text: `key=value key2=\"a value\"`. Keys are letters, digits, `_`, `.` and `-`. \
              Every text matches. Keys that nothing reads are passed over.",
    example: "kv-parser(prefix(\".kv.\") pair-separator(\";\") extract-stray-words-into(\".kv.stray\"))",
    cost: Some(Cost::bench("One pass over the text; keys that nothing reads are passed over.", "kv")),
};

#[derive(Clone)]
struct Kv {
    input: Input,
    scanner: Scanner,
    names: Names,
    stray: Option<NameId>,
    /// Values that auditd writes in hexadecimal are decoded.
    audit: bool,
    asker: u64,
}

/// Which keys are read.
enum Keys<'a> {
    Some(&'a Table),
    All,
}

/// What a worker keeps.
#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    stray: Vec<u8>,
    outline: Outline,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let kv = common(settings, b, false)?;
    Some(Arc::new(kv))
}

fn common(settings: &Settings, b: &mut Build<'_>, audit: bool) -> Option<Kv> {
    let input = b.input(settings);
    let given = |name, preset| if audit { preset } else { settings.text(name).unwrap_or(preset) };
    let separator = given("value-separator", "=").as_bytes();
    let separator = match separator {
        [one] if !matches!(one, b' ' | b'"' | b'\'') => Some(*one),
        _ => {
            let help = "as value-separator(\":\")";
            b.wrong(
                "value-separator() takes one character, not a blank or quote",
                settings.span("value-separator"),
                help,
            );
            None
        }
    };
    let pairs = given("pair-separator", ", ");
    if pairs.is_empty() {
        b.wrong(
            "pair-separator() takes at least one character",
            settings.span("pair-separator"),
            "as pair-separator(\";\")",
        );
        return None;
    }
    let stray = match (audit, settings.text("extract-stray-words-into")) {
        (false, Some(name)) => {
            let at = settings.span("extract-stray-words-into").unwrap_or(b.span);
            Some(b.name(name, at)?)
        }
        _ => None,
    };
    let names = Names::all(settings.text("prefix").unwrap_or_default());
    let separators = Separators { key: separator?, pair: pairs.as_bytes().into() };
    let scanner = Scanner::new(separators);
    Some(Kv { input: input?, scanner, names, stray, audit, asker: new_asker() })
}

impl Kv {
    /// All there is, from sign to sign.
    fn pairs(&self, text: &[u8], found: &mut Found, learned: &mut Learned, stray: &mut Vec<u8>) {
        stray.clear();
        let mut first = true;
        let keep_stray = self.stray.is_some();
        self.scanner.scan(
            text,
            |key, value| {
                if let Some(name) = self.names.at(text, key.start, key.end, learned) {
                    self.keep(name, text.get(key.start..key.end).unwrap_or_default(), text, value, found);
                }
            },
            |word| {
                if keep_stray {
                    template::list::push(word, &mut first, stray);
                }
            },
        );
        if let Some(name) = self.stray {
            found.text(name, stray, ValueType::String);
        }
    }

    /// How a text's outline is enough to find the pairs that are read.
    fn by_outline(&self) -> Option<Keys<'_>> {
        let keys = self.names.table().map(Keys::Some).or(self.names.is_all().then_some(Keys::All))?;
        (self.stray.is_none() && self.scanner.separators.are_plain()).then_some(keys)
    }

    /// Finds the pairs by the text's outline; false, with nothing found, where it has none.
    #[inline(always)]
    fn outlined(
        &self,
        keys: &Keys<'_>,
        text: &[u8],
        outline: &mut Outline,
        found: &mut Found,
        learned: &mut Learned,
    ) -> bool {
        let separators = &self.scanner.separators;
        match keys {
            Keys::Some(table) => outlined::read(text, separators, outline, table, |key, name, value| {
                self.keep(name, key, text, value, found)
            }),
            Keys::All => {
                let prefix = self.names.prefix();
                all::read_all(text, separators, outline, (prefix, learned), |key, name, value| {
                    if value.escaped || self.audit {
                        return self.keep(name, text.get(key).unwrap_or_default(), text, value, found);
                    }
                    found.part(name, value.start, value.end, ValueType::String);
                })
            }
        }
    }

    #[inline]
    fn keep(&self, name: NameId, key: &[u8], text: &[u8], value: Text, found: &mut Found) {
        let raw = text.get(value.start..value.end).unwrap_or_default();
        let mark = found.begin();
        if value.escaped {
            scan::unescape(raw, value.quote, found.out());
        } else if self.audit && value.quote == 0 && audit::decode(key, raw, found.out()) {
        } else {
            return found.part(name, value.start, value.end, ValueType::String);
        }
        found.finish(name, mark, ValueType::String);
    }
}

impl Parse for Kv {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        if self.names.is_none() && self.stray.is_none() {
            return;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        let Memory { found, learned, stray, outline } = &mut *memory;
        let keys = self.by_outline();
        self.input.each(batch, selection, cx, found, learned, |text, found, learned| {
            let outlined =
                keys.as_ref().is_some_and(|keys| self.outlined(keys, text, outline, found, learned));
            if !outlined {
                self.pairs(text, found, learned, stray);
            }
            true
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes { names: self.stray.into_iter().collect(), ..Writes::prefix(self.names.prefix()) }
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        if demand.everything {
            return None;
        }
        let mut narrow = self.clone();
        narrow.names = self.names.narrowed(demand);
        narrow.stray =
            self.stray.filter(|name| demand.names.contains(name) || demand.sdata && name.is_sdata());
        Some(Arc::new(narrow))
    }
}

#[cfg(test)]
mod tests;
