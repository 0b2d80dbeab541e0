//! `cef-parser()` and `leef-parser()`: the event formats of ArcSight and QRadar, a header between bars and
//! then pairs.

pub(crate) mod scan;

use crate::build::Build;
use crate::found::Found;
use crate::input::Input;
use crate::learned::Learned;
use crate::names::Names;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, ValueType};
use std::ops::Range;
use std::sync::Arc;

const CEF_FIELDS: [&str; 7] = [
    "version",
    "device_vendor",
    "device_product",
    "device_version",
    "device_event_class_id",
    "name",
    "agent_severity",
];
const LEEF_FIELDS: [&str; 5] = ["version", "vendor", "product_name", "product_version", "event_id"];
const EXTENSIONS: &str = "extensions.";

pub static CEF_PARSER: Component = Component {
    context: Context::Parser,
    name: "cef-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[Opt::new("prefix", Kind::Text, Preset::Text(".cef."), "Put in front of the name of every value.")],
    presets: &[],
    not_yet: &[],
    summary: "Reads the Common Event Format, `CEF:0|vendor|product|version|class|name|severity|key=value ...`: the fields of the header become \
              `version`, `device_vendor`, `device_product`, `device_version`, `device_event_class_id`, `name` and `agent_severity`, the pairs \
              `extensions.` and their key. `CEF:` may be missing, since a syslog header takes it for the program. Other texts do not match. \
              Of penstock's own.",
    example: "cef-parser(prefix(\".cef.\"))",
    cost: Some(Cost::example(
        "One pass over the text; extensions that nothing reads are passed over, and only values with a backslash are copied.",
    )),
};

pub static LEEF_PARSER: Component = Component {
    context: Context::Parser,
    name: "leef-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[Opt::new(
        "prefix",
        Kind::Text,
        Preset::Text(".leef."),
        "Put in front of the name of every value.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "Reads the Log Event Extended Format, `LEEF:1.0|vendor|product|version|event|key=value` with tabs between the pairs, and version \
              2.0, which names the delimiter in a further field: the header becomes `version`, `vendor`, `product_name`, `product_version` and \
              `event_id`, the pairs `extensions.` and their key. `LEEF:` may be missing, since a syslog header takes it for the program. Other \
              texts do not match. Of penstock's own.",
    example: "leef-parser(prefix(\".leef.\"))",
    cost: Some(Cost::example(
        "One pass over the text; attributes that nothing reads are passed over, and no value is copied.",
    )),
};

#[derive(Clone, Copy)]
enum Format {
    Cef,
    Leef,
}

#[derive(Clone)]
struct EventFormat {
    format: Format,
    input: Input,
    names: Names,
    asker: u64,
}

#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    key: Vec<u8>,
}

pub fn build_cef(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    build(Format::Cef, settings, b)
}

pub fn build_leef(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    build(Format::Leef, settings, b)
}

fn build(format: Format, settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings)?;
    let names = Names::all(settings.text("prefix").unwrap_or_default());
    Some(Arc::new(EventFormat { format, input, names, asker: new_asker() }))
}

impl EventFormat {
    /// `None` when the text is of another kind.
    fn read(&self, text: &[u8], found: &mut Found, learned: &mut Learned, key: &mut Vec<u8>) -> Option<()> {
        let mark: &[u8] = match self.format {
            Format::Cef => b"CEF:",
            Format::Leef => b"LEEF:",
        };
        let start = if text.starts_with(mark) { mark.len() } else { 0 };
        let mut kept = Kept { text, names: &self.names, found, learned, key };
        match self.format {
            Format::Cef => {
                let (fields, rest) = scan::header::<{ CEF_FIELDS.len() }>(text, start)?;
                is_version(text, &fields)?;
                kept.fields(&CEF_FIELDS, fields, true);
                scan::pairs(text, rest, |name, value| kept.extension(name, value, true));
            }
            Format::Leef => {
                let (fields, mut rest) = scan::header::<{ LEEF_FIELDS.len() }>(text, start)?;
                let version = is_version(text, &fields)?;
                let mut by = b'\t';
                if version.starts_with(b"2") {
                    let ([field], after) = scan::header::<1>(text, rest)?;
                    by = scan::delimiter(text.get(field)?)?;
                    rest = after;
                }
                kept.fields(&LEEF_FIELDS, fields, false);
                scan::delimited(text, rest, by, |name, value| kept.extension(name, value, false));
            }
        }
        Some(())
    }
}

/// Takes what is read.
struct Kept<'a> {
    text: &'a [u8],
    names: &'a Names,
    found: &'a mut Found,
    learned: &'a mut Learned,
    key: &'a mut Vec<u8>,
}

impl Kept<'_> {
    fn fields<const N: usize>(&mut self, names: &[&str; N], values: [Range<usize>; N], escapes: bool) {
        for (name, value) in names.iter().zip(values) {
            self.keep(name.as_bytes(), value, escapes);
        }
    }

    fn extension(&mut self, name: Range<usize>, value: Range<usize>, escapes: bool) {
        let mut key = std::mem::take(self.key);
        key.clear();
        key.extend_from_slice(EXTENSIONS.as_bytes());
        key.extend_from_slice(self.text.get(name).unwrap_or_default());
        self.keep(&key, value, escapes);
        *self.key = key;
    }

    fn keep(&mut self, name: &[u8], value: Range<usize>, escapes: bool) {
        let Some(id) = self.names.of(name, self.learned) else { return };
        let raw = self.text.get(value.clone()).unwrap_or_default();
        if escapes && raw.contains(&b'\\') {
            let mark = self.found.begin();
            scan::unescape(raw, self.found.out());
            self.found.finish(id, mark, ValueType::String);
        } else {
            self.found.part(id, value.start, value.end, ValueType::String);
        }
    }
}

fn is_version<'a>(text: &'a [u8], fields: &[Range<usize>]) -> Option<&'a [u8]> {
    let version = text.get(fields.first()?.clone())?;
    scan::is_version(version).then_some(version)
}

impl Parse for EventFormat {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        let Memory { found, learned, key } = &mut *memory;
        self.input.each(batch, selection, cx, found, learned, |text, found, learned| {
            self.read(text, found, learned, key).is_some()
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes::prefix(self.names.prefix())
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        Some(Arc::new(EventFormat { names: self.names.narrowed(demand), ..self.clone() }))
    }
}

#[cfg(test)]
mod tests;
