//! `date-parser()`: the time of a message, read by formats of strptime.

pub(crate) mod format;
pub(crate) mod read;

use crate::build::Build;
use crate::input::Input;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use diag::Diagnostic;
use filter::{FilterContext, new_asker};
use format::Format;
use read::Fields;
use record::{Batch, Civil, Demand, NameId, Record, Stamp, ValueType, Zone, ZoneCursor};
use std::io::Write;
use std::sync::Arc;

const TIME_STAMPS: &[Word] = &[
    Word::new("stamp", "The time in the message."),
    Word::new("recvd", "The time of receipt, of the macros that begin with `R_`."),
];

const FLAGS: &[Word] = &[Word::new(
    "guess-timezone",
    "A time that one zone would make the time of receipt, give or take 30 s, is read in that zone; others are left alone.",
)];

pub static DATE_PARSER: Component = Component {
    context: Context::Parser,
    name: "date-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new(
            "format",
            Kind::TextList,
            Preset::Described("`%FT%T%z`"),
            "Formats as of strptime(3), `%f` for a fraction; the first that fits the whole text counts.",
        ),
        Opt::new(
            "time-zone",
            Kind::Zone,
            Preset::Global("recv-time-zone"),
            "The zone of a time that names none; the machine's own if it is set nowhere.",
        ),
        Opt::new("time-stamp", Kind::Choice(TIME_STAMPS), Preset::Text("stamp"), "Which time is set."),
        Opt::new("value", Kind::Text, Preset::None, "The name of a value that gets the time instead."),
        Opt::new("flags", Kind::Flags(FLAGS), Preset::None, "See below."),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads a date and time out of a text and makes it the time of the message. A text that fits no format does not match. \
              Without a year, the nearest one is taken.",
    example: "date-parser(format(\"%d/%b/%Y:%H:%M:%S %z\", \"%s\") template(\"${.apache.timestamp}\"))",
    cost: Some(Cost::bench(
        "The format is compiled once; the zone's rules are asked only when the hour changes.",
        "date",
    )),
};

struct DateParser {
    input: Input,
    formats: Vec<Format>,
    zone: Zone,
    guess: bool,
    target: Target,
    asker: u64,
}

/// What gets the time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Message,
    Receipt,
    Value(NameId),
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let mut formats = Vec::new();
    let texts = settings.list("format");
    for text in texts {
        match Format::compile(&text.text) {
            Ok(format) => formats.push(format),
            Err(error) => b.wrong(error, Some(text.span), "see the manual page for the formats there are"),
        }
    }
    if formats.len() != texts.len() {
        return None;
    }
    if formats.is_empty() {
        formats.extend(Format::compile("%FT%T%z"));
    }
    let is_receipt = settings.choice("time-stamp") == Some("recvd");
    let target = match settings.text("value") {
        Some(name) => Target::Value(b.name(name, settings.span("value").unwrap_or(b.span))?),
        None if is_receipt => Target::Receipt,
        None => Target::Message,
    };
    if matches!(target, Target::Value(_))
        && settings.is_set("time-stamp")
        && let Some(at) = settings.span("time-stamp")
    {
        let finding = Diagnostic::warning("A0102", "time-stamp() has no effect beside value()", at);
        b.diags.push(finding.help("the time goes to that value alone: leave one of them out"));
    }
    let zone = settings.zone("time-zone").cloned().unwrap_or_else(Zone::local);
    let guess = settings.flag("flags", "guess-timezone");
    Some(Arc::new(DateParser { input: input?, formats, zone, guess, target, asker: new_asker() }))
}

struct Zones {
    /// That of `time-zone()`.
    said: ZoneCursor,
    local: ZoneCursor,
}

impl DateParser {
    fn stamp(&self, fields: &Fields, now: Stamp, zones: &mut Zones) -> Stamp {
        let Zones { said: zone, local } = zones;
        if let Some(secs) = fields.epoch {
            // Seconds since 1970 are in no zone: they are shown in that of this machine.
            let offset = fields.offset.unwrap_or_else(|| local.offset_at(secs));
            return Stamp { secs, usec: fields.usec, offset };
        }
        let offset = fields.offset.unwrap_or_else(|| zone.offset_at(now.secs));
        let today = Civil::from_seconds(now.secs + i64::from(offset));
        let wall = fields.complete(&today);
        if let Some(offset) = fields.offset {
            return Stamp { secs: wall.seconds() - i64::from(offset), usec: fields.usec, offset };
        }
        zone.resolve(&wall, fields.usec)
    }

    fn read(&self, text: &[u8], cx: &mut FilterContext, zones: &mut Zones) -> Option<Stamp> {
        let now = cx.render.now();
        let local = zones.local.zone();
        let mut named = |name: &[u8], secs: i64| {
            let known = cx.work.zone(name).map(|z| z.offset_at(secs));
            known.or_else(|| local.abbreviated(name, secs))
        };
        let fields = self.formats.iter().find_map(|format| format.read(text, now.secs, &mut named))?;
        let stamp = self.stamp(&fields, now, zones);
        let guessed = self.guess.then(|| stamp.in_zone_of_now(now.secs)).flatten();
        Some(guessed.unwrap_or(stamp))
    }
}

impl Parse for DateParser {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let mut zones = cx.work.take_state(self.asker, || Zones {
            said: ZoneCursor::new(self.zone.clone()),
            local: ZoneCursor::new(Zone::local()),
        });
        let mut out = cx.work.text();
        selection.retain(|index| {
            let index = *index as usize;
            let Some(span) = self.input.span(batch, index, cx) else { return false };
            let Some(stamp) = self.read(batch.bytes(span), cx, &mut zones) else { return false };
            match self.target {
                Target::Value(name) => {
                    out.clear();
                    // Writing to memory does not fail.
                    let _ = write!(out, "{}.{:06}", stamp.secs, stamp.usec);
                    batch.set(index, name, &out, ValueType::DateTime);
                }
                Target::Receipt => batch.set_received(index, stamp),
                Target::Message => {
                    if let Some(record) = batch.records.get_mut(index) {
                        record.stamp = stamp;
                        record.stamp_text = Record::NO_TEXT;
                    }
                }
            }
            true
        });
        cx.work.keep_text(out);
        cx.work.keep_state(self.asker, zones);
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
    }

    fn writes(&self) -> Writes {
        let names = match self.target {
            Target::Value(name) => vec![name],
            _ => Vec::new(),
        };
        Writes { names, stamp: self.target == Target::Message, ..Writes::default() }
    }
}

#[cfg(test)]
mod tests;
