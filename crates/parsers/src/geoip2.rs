//! `geoip2()`: what a MaxMind database knows of an address.

mod walk;

use crate::build::Build;
use crate::found::Found;
use crate::input::Input;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use filter::{FilterContext, new_asker};
use maxminddb::{PathElement, Reader};
use record::{Batch, Demand, NameId, name_of};
use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use walk::Leaf;

/// Where distributions put the free database.
const DATABASES: [&str; 3] = [
    "/usr/share/GeoIP/GeoLite2-City.mmdb",
    "/usr/local/share/GeoIP/GeoLite2-City.mmdb",
    "/var/lib/GeoIP/GeoLite2-City.mmdb",
];

pub static GEOIP2: Component = Component {
    context: Context::Parser,
    name: "geoip2",
    aliases: &[],
    positional: &[Positional {
        name: "address",
        kind: Kind::Template,
        required: false,
        help: "The address to look up: a template. template() is the same.",
    }],
    groups: &[&PARSER],
    own: &[
        Opt::new(
            "prefix",
            Kind::Text,
            Preset::Text(".geoip2"),
            "Put in front of every name, with a dot between them.",
        ),
        Opt::new(
            "database",
            Kind::Path,
            Preset::Described("`GeoLite2-City.mmdb` in `/usr/share/GeoIP` and the like"),
            "The file, in MaxMind's format. It is read into memory with the configuration.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Looks an address up in a MaxMind database: `.geoip2.country.iso_code`, `.geoip2.location.latitude` ... Items of \
              arrays are numbered from 0. A text that is no address, or one that is not in the database, passes as it is. Only \
              values that something reads are taken out of the database.",
    example: "geoip2(\"${SOURCEIP}\" prefix(\".geo\") database(\"/usr/share/GeoIP/GeoLite2-City.mmdb\"))",
    cost: Some(Cost::example(
        "One walk through the tree in memory, a step for each bit of the address at most. Only values that something reads are decoded; where everything is read, a worker keeps what it made of a record for the next message.",
    )),
};

#[derive(Clone)]
struct Geoip2 {
    input: Input,
    reader: Arc<Reader<Vec<u8>>>,
    /// With the dot.
    prefix: Box<str>,
    /// Everything, or only these.
    wanted: Option<Arc<[Wanted]>>,
    asker: u64,
}

struct Wanted {
    name: NameId,
    path: Vec<PathElement<'static>>,
}

#[derive(Default)]
struct Memory {
    found: Found,
    path: Vec<u8>,
    /// What was found before, by the place of the record: making all values of one allocates.
    records: HashMap<usize, Found>,
}

/// Records a worker remembers; a table that is full starts anew.
const RECORDS_MAX: usize = 1 << 12;

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let address = settings.template("address").cloned();
    let input = match address {
        Some(text) => {
            let _ = settings.template("template");
            b.template(&text).map(|t| Input::of(&t))
        }
        None => b.input(settings),
    };
    let prefix = settings.text("prefix").unwrap_or_default();
    let prefix = match prefix.strip_suffix('.').unwrap_or(prefix) {
        "" => String::new(),
        prefix => format!("{prefix}."),
    };
    let input = input?;
    let at = settings.span("database").unwrap_or(b.span);
    let path = match settings.text("database") {
        Some(path) => path,
        None => match DATABASES.iter().find(|path| Path::new(path).exists()) {
            Some(path) => path,
            None => {
                b.wrong(
                    "geoip2() found no database",
                    None,
                    "as database(\"/usr/share/GeoIP/GeoLite2-City.mmdb\")",
                );
                return None;
            }
        },
    };
    let reader = match b.env.read_file(path).map(Reader::from_source) {
        Ok(Ok(reader)) => Arc::new(reader),
        Ok(Err(error)) => {
            b.diags.error("A0107", format!("`{path}` is no MaxMind database: {error}"), at);
            return None;
        }
        Err(error) => {
            let finding = diag::Diagnostic::error("A0107", format!("cannot read `{path}`: {error}"), at);
            b.diags.push(finding.help("put the database there, or correct the path"));
            return None;
        }
    };
    Some(Arc::new(Geoip2 { input, reader, prefix: prefix.into(), wanted: None, asker: new_asker() }))
}

impl Geoip2 {
    /// What is known of an address, in the memory returned.
    fn look_up<'m>(&self, text: &[u8], memory: &'m mut Memory) -> Option<&'m Found> {
        let address = str::from_utf8(text).ok()?.parse::<IpAddr>().ok()?;
        // Where the database is broken there is no value.
        let result = self.reader.lookup(address).ok()?;
        let Memory { found, path, records } = memory;
        let Some(wanted) = &self.wanted else {
            let offset = result.offset()?;
            if records.len() >= RECORDS_MAX {
                records.clear();
            }
            return Some(records.entry(offset).or_insert_with(|| {
                let mut found = Found::default();
                path.clear();
                path.extend_from_slice(self.prefix.as_bytes());
                if let Ok(Some(leaf)) = result.decode::<Leaf<'_>>() {
                    leaf.keep_all(path, &mut found);
                }
                found
            }));
        };
        found.clear();
        for Wanted { name, path } in &**wanted {
            if let Ok(Some(leaf)) = result.decode_path::<Leaf<'_>>(path) {
                leaf.keep(*name, found);
            }
        }
        Some(found)
    }
}

impl Parse for Geoip2 {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        if self.wanted.as_ref().is_some_and(|w| w.is_empty()) {
            return;
        }
        let mut memory = cx.work.take_state(self.asker, Memory::default);
        for index in selection.iter().map(|i| *i as usize) {
            let Some(span) = self.input.span(batch, index, cx) else { continue };
            if let Some(found) = self.look_up(batch.bytes(span), &mut memory) {
                found.store(batch, index, span);
            }
        }
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        Writes::prefix(&self.prefix)
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        let keys = crate::names::wanted(&self.prefix, demand)?;
        let wanted = keys.into_iter().filter_map(|(_, name)| {
            let key = name_of(name).strip_prefix(&*self.prefix)?;
            let step = |step: &'static str| match step.parse() {
                Ok(index) => PathElement::Index(index),
                Err(_) => PathElement::Key(step),
            };
            Some(Wanted { name, path: key.split('.').map(step).collect() })
        });
        Some(Arc::new(Geoip2 { wanted: Some(wanted.collect()), ..self.clone() }))
    }
}

#[cfg(test)]
pub mod tests;
