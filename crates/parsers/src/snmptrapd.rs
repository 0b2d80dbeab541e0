//! `snmptrapd-parser()`: the text snmptrapd logs a trap as.

mod scan;

use crate::build::Build;
use crate::found::{Found, assign};
use crate::input::Input;
use crate::learned::Learned;
use crate::names::Names;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use filter::{FilterContext, new_asker};
use record::{Batch, Civil, Demand, NameId, Record, ValueType, Zone, ZoneCursor};
use scan::{Value, header, pairs};
use std::sync::Arc;

pub static SNMPTRAPD_PARSER: Component = Component {
    context: Context::Parser,
    name: "snmptrapd-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new("prefix", Kind::Text, Preset::Text(".snmp."), "Put in front of the name of every value."),
        Opt::new(
            "set-message-macro",
            Kind::Bool,
            Preset::Bool(true),
            "MESSAGE becomes a line of all names and values; with `no` it is taken away.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Takes apart what snmptrapd writes into its log: a line with time, host and transport, then variables as `SNMPv2-\
              MIB::sysLocation.0 = STRING: \"here\"`, which becomes `.snmp.SNMPv2-MIB_sysLocation.0`. PROGRAM becomes `snmptrapd`, the time of the message that of the trap. Other \
              texts do not match.",
    example: "snmptrapd-parser(prefix(\".trap.\") set-message-macro(no))",
    cost: Some(Cost::example(
        "One pass over the text; variables that nothing reads are not kept. With `set-message-macro(no)` no MESSAGE is made of them.",
    )),
};

#[derive(Clone)]
struct Snmptrapd {
    input: Input,
    names: Names,
    sets_message: bool,
    asker: u64,
}

struct Memory {
    zone: ZoneCursor,
    found: Found,
    learned: Learned,
    key: Vec<u8>,
    value: Vec<u8>,
    message: Vec<u8>,
}

impl Memory {
    fn new() -> Memory {
        Memory {
            zone: ZoneCursor::new(Zone::local()),
            found: Found::default(),
            learned: Learned::default(),
            key: Vec::new(),
            value: Vec::new(),
            message: Vec::new(),
        }
    }
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings)?;
    let names = Names::all(settings.text("prefix").unwrap_or_default());
    let sets_message = settings.bool("set-message-macro").unwrap_or(true);
    Some(Arc::new(Snmptrapd { input, names, sets_message, asker: new_asker() }))
}

impl Snmptrapd {
    /// The time of the trap; the values are left in `memory`.
    fn trap(&self, text: &[u8], memory: &mut Memory, learned: &mut Learned) -> Option<Civil> {
        let Memory { found, key, value, message, .. } = memory;
        found.clear();
        message.clear();
        let (wall, [host, transport], rest) = header(text)?;
        let mut keep = |name: &[u8], found_value: Value| {
            let raw = text.get(found_value.start..found_value.end).unwrap_or_default();
            value.clear();
            match found_value.escaped {
                true => scan::unescape(raw, value),
                false => value.extend_from_slice(raw),
            }
            key.clear();
            scan::name_of_key(name, key);
            if let Some(id) = self.names.of(key, learned) {
                match found_value.escaped {
                    true => found.text(id, value, ValueType::String),
                    false => found.part(id, found_value.start, found_value.end, ValueType::String),
                }
            }
            if self.sets_message {
                scan::put_pair(name, value, message);
            }
        };
        keep(b"hostname", host);
        keep(b"transport_info", transport);
        pairs(text, rest, &mut keep);
        Some(wall)
    }
}

impl Parse for Snmptrapd {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut memory = cx.work.take_state(self.asker, Memory::new);
        let program = batch.append(b"snmptrapd");
        selection.retain(|index| {
            let index = *index as usize;
            let Some(span) = self.input.span(batch, index, cx) else { return false };
            let mut learned = std::mem::take(&mut memory.learned);
            let wall = learned.of(batch, |batch, learned| self.trap(batch.bytes(span), &mut memory, learned));
            memory.learned = learned;
            let Some(wall) = wall else { return false };
            memory.found.store(batch, index, span);
            assign(batch, index, NameId::PROGRAM, program, ValueType::String);
            if self.sets_message {
                let message = batch.append(&memory.message);
                assign(batch, index, NameId::MESSAGE, message, ValueType::String);
            } else {
                batch.unset(index, NameId::MESSAGE);
            }
            if let Some(record) = batch.records.get_mut(index) {
                record.stamp = memory.zone.resolve(&wall, 0);
                record.stamp_text = Record::NO_TEXT;
            }
            true
        });
        cx.work.keep_state(self.asker, memory);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        let names = vec![NameId::MESSAGE, NameId::PROGRAM];
        Writes { names, stamp: true, ..Writes::prefix(self.names.prefix()) }
    }

    fn narrowed(&self, demand: &Demand) -> Option<Arc<dyn Parse>> {
        match demand.everything {
            true => None,
            false => Some(Arc::new(Snmptrapd { names: self.names.narrowed(demand), ..self.clone() })),
        }
    }
}

#[cfg(test)]
mod tests;
