//! `sdata-parser()`: STRUCTURED-DATA of RFC 5424 that stands in a text.

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
use std::sync::Arc;
use wire::sdata;

pub static SDATA_PARSER: Component = Component {
    context: Context::Parser,
    name: "sdata-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[Opt::new(
        "prefix",
        Kind::Text,
        Preset::Text(sdata::PREFIX),
        "Put in front of the name of every value.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "Reads STRUCTURED-DATA, `[id param=\"value\"]`, at the beginning of a text; what follows it is passed over, `-` is none. \
              Another text does not match.",
    example: "sdata-parser(template(\"${.json.sdata}\") prefix(\".sd.\"))",
    cost: Some(Cost::example(
        "The text is checked as a whole, then read once; parameters that nothing reads are passed over.",
    )),
};

#[derive(Clone)]
struct Sdata {
    input: Input,
    names: Names,
    asker: u64,
}

#[derive(Default)]
struct Memory {
    found: Found,
    learned: Learned,
    name: Vec<u8>,
    value: Vec<u8>,
    canonical: Vec<u8>,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings)?;
    let names = Names::all(settings.text("prefix").unwrap_or(sdata::PREFIX));
    Some(Arc::new(Sdata { input, names, asker: new_asker() }))
}

impl Parse for Sdata {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        let Memory { found, learned, name, value, canonical } = &mut *memory;
        self.input.each(batch, selection, cx, found, learned, |text, found, learned| {
            if text.starts_with(b"-") {
                return true;
            }
            // What stands behind the elements does not matter.
            let text = match sdata::check(text, 0, self.names.prefix().len()) {
                Ok(checked) if checked.end == 0 => return false,
                Ok(checked) if checked.exact => text.get(..checked.end).unwrap_or_default(),
                Ok(checked) => {
                    canonical.clear();
                    sdata::canonical(text.get(..checked.end).unwrap_or_default(), canonical);
                    &*canonical
                }
                Err(_) => return false,
            };
            for param in sdata::params(text) {
                name.clear();
                name.extend_from_slice(param.id);
                if !param.name.is_empty() {
                    name.push(b'.');
                    name.extend_from_slice(param.name);
                }
                if let Some(id) = self.names.of(name, learned) {
                    found.text(id, sdata::unescape(param.value, value), ValueType::String);
                }
            }
            true
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
        Some(Arc::new(Sdata { names: self.names.narrowed(demand), ..self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check;

    #[test]
    fn parameters() {
        for (input, expected) in [
            ("[a@1 x=\"1\" y=\"2\\]\"][b]", "p.a@1.x=1|p.a@1.y=2]|p.b="),
            ("-", ""),
            ("- text", ""),
            ("", "no match"),
            ("[a", "no match"),
            ("[a x=\"1\"][b", "no match"),
            ("[a x=\"1\"] text", "p.a.x=1"),
            ("[a x=\"1\"][b y=\"2\"]] [c z=\"3\"]", "p.a.x=1|p.b.y=2"),
            ("[a x=1] text", "p.a.x=1"),
            ("text", "no match"),
        ] {
            check("sdata-parser(prefix(\"p.\"))", input, expected);
        }
        check("sdata-parser()", "[a x=\"1\"]", ".SDATA.a.x=1");
    }
}
