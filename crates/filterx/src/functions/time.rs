//! Times: read from texts, printed, moved between zones, and those of the message.

mod print;

use super::convert::first;
use super::strings::text_argument;
use crate::compile::Arguments;
use crate::function::{Build, Form, Function, Parameter};
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use crate::types::Types;
use parsers::scanners::date::{Fields, Format};
use record::{Civil, Record, Stamp};
use std::sync::OnceLock;
use value::{Moment, Value, ZoneSource};

const TIME: Parameter = Parameter::value("time", Types::DATETIME);
const ZONE: Parameter = Parameter::value("zone", Types::STRING);
const STAMP: Parameter = Parameter::named("stamp", Form::Text, "\"stamp\"");

pub const FUNCTIONS: &[Function] = &[
    Function {
        name: "strptime",
        parameters: &[Parameter::value("text", Types::STRING), Parameter::text("format").many()],
        returns: Types::DATETIME.or(Types::NULL),
        help: "The time that a text says by the first format that fits: the directives of strptime(3), `%f` for a fraction of a second. What is left of the \
               text is not looked at. Null where no format fits.",
        examples: &[
            (
                "strptime(\"2024-01-02 03:04:05 +0100\", \"%Y-%m-%d %H:%M:%S %z\")",
                "datetime(1704161045.000000)",
            ),
            ("strptime(\"junk\", \"%Y\")", "null"),
            ("strptime(\"1500000000.25\", \"%Y-\", \"%s%f\")", "datetime(1500000000.250000)"),
        ],
        build: Build::Made(strptime),
    },
    Function {
        name: "isodate",
        parameters: &[Parameter::value("text", Types::STRING)],
        returns: Types::DATETIME,
        help: "The time that a text in the form of ISO 8601 says: a fraction and the zone may be left out, then it is local time.",
        examples: &[
            ("isodate(\"2024-01-02T03:04:05Z\")", "datetime(1704164645.000000)"),
            ("isodate(\"junk\")", "error: Failed to parse a time in ISO format: \"junk\""),
        ],
        build: Build::Plain(|run, args| {
            let span = text_argument(run, args, 0)?;
            let text = run.batch.bytes(span).to_vec();
            match read_iso(run, &text) {
                Some(at) => Ok(Value::from(at)),
                None => run.fail(Failure::Value("Failed to parse a time in ISO format", first(args))),
            }
        }),
    },
    Function {
        name: "strftime",
        parameters: &[Parameter::text("format"), TIME],
        returns: Types::STRING.or(Types::NULL),
        help: "The time as a text, by the directives of strftime(3), in the zone it has; `%f` is the fraction, `%3f` its first three digits.",
        examples: &[(
            "strftime(\"%Y-%m-%d %H:%M:%S.%3f %z %Z\", datetime(\"2024-01-02T03:04:05.678+05:30\"))",
            "\"2024-01-02 03:04:05.678 +0530 +05:30\"",
        )],
        build: Build::Made(|args| {
            let format = args.text(0, "");
            let time = args.value(1)?;
            args.made(Strftime { format: format?, time })
        }),
    },
    Function {
        name: "format_isodate",
        parameters: &[TIME],
        returns: Types::STRING,
        help: "The time in the form of ISO 8601, with microseconds and the offset it has.",
        examples: &[(
            "format_isodate(datetime(\"2024-01-02T03:04:05.678+05:30\"))",
            "\"2024-01-02T03:04:05.678000+05:30\"",
        )],
        build: Build::Plain(|run, args| {
            let at = moment(run, args)?;
            run.made(|_, out| {
                put_iso(at, out);
                Ok(())
            })
        }),
    },
    Function {
        name: "set_timezone",
        parameters: &[TIME, ZONE],
        returns: Types::DATETIME,
        help: "The same time, shown in another zone of the time zone database.",
        examples: &[(
            "format_isodate(set_timezone(datetime(\"2024-01-02T03:04:05Z\"), \"CET\"))",
            "\"2024-01-02T04:04:05.000000+01:00\"",
        )],
        build: Build::Plain(|run, args| {
            let at = moment(run, args)?;
            let offset = in_zone(run, args, |zone| zone.offset_at(at.micros.div_euclid(1_000_000)))?;
            Ok(Value::from(Moment { offset, source: ZoneSource::Fixed, ..at }))
        }),
    },
    Function {
        name: "fix_timezone",
        parameters: &[TIME, ZONE],
        returns: Types::DATETIME,
        help: "The time at which clocks in another zone show what this one shows: for texts that lack their zone.",
        examples: &[(
            "format_isodate(fix_timezone(datetime(\"2024-01-02T03:04:05Z\"), \"CET\"))",
            "\"2024-01-02T03:04:05.000000+01:00\"",
        )],
        build: Build::Plain(|run, args| {
            let at = moment(run, args)?;
            let wall = at.micros.saturating_add(i64::from(at.offset) * 1_000_000);
            let usec = wall.rem_euclid(1_000_000) as u32;
            let civil = Civil::from_seconds(wall.div_euclid(1_000_000));
            let stamp = in_zone(run, args, |zone| zone.resolve(&civil, usec))?;
            Ok(Value::from(of_stamp(stamp, ZoneSource::Fixed)))
        }),
    },
    Function {
        name: "guess_timezone",
        parameters: &[TIME],
        returns: Types::DATETIME,
        help: "The time in the zone in which its clock would show the present, where there is one; else the time as it is.",
        examples: &[("guess_timezone(datetime(\"2001-01-02T03:04:05Z\"))", "datetime(978404645.000000)")],
        build: Build::Plain(|run, args| {
            let at = moment(run, args)?;
            let now = run.cx.render.now().secs;
            let guessed = stamp_of(at).in_zone_of_now(now);
            Ok(Value::from(guessed.map_or(at, |stamp| of_stamp(stamp, ZoneSource::Guessed))))
        }),
    },
    Function {
        name: "get_timezone_source",
        parameters: &[TIME],
        returns: Types::STRING,
        help: "Where the zone of a time comes from: `parsed`, `fixed` by a function, `guessed`, or `assumed` where the text did not say it.",
        examples: &[
            ("get_timezone_source(datetime(\"2024-01-02T03:04:05\"))", "\"assumed\""),
            ("get_timezone_source(datetime(\"2024-01-02T03:04:05Z\"))", "\"parsed\""),
        ],
        build: Build::Plain(|run, args| {
            let at = moment(run, args)?;
            run.string(at.source.name().as_bytes())
        }),
    },
    Function {
        name: "get_timestamp",
        parameters: &[STAMP],
        returns: Types::DATETIME,
        help: "The time of the message, or with `stamp=\"recvd\"` that of its receipt.",
        examples: &[
            ("get_timestamp()", "datetime(1795251600.123456)"),
            ("get_timestamp(stamp=\"recvd\")", "datetime(1795251602.000005)"),
        ],
        build: Build::Made(|args| {
            let received = is_received(args, 0)?;
            args.compiler.uses.reads.stamp |= !received;
            args.made(GetStamp { received })
        }),
    },
    Function {
        name: "set_timestamp",
        parameters: &[TIME, STAMP],
        returns: Types::BOOLEAN,
        help: "Sets the time of the message, or with `stamp=\"recvd\"` that of its receipt. Templates see it behind the block.",
        examples: &[("set_timestamp(datetime(1.5)); get_timestamp()", "datetime(1.500000)")],
        build: Build::Made(|args| {
            let time = args.value(0);
            let received = is_received(args, 1)?;
            args.made(SetStamp { time: time?, received })
        }),
    },
];

fn is_received(args: &mut Arguments<'_, '_>, at: usize) -> Option<bool> {
    match args.string(at, "stamp")?.as_str() {
        "stamp" => Some(false),
        "recvd" => Some(true),
        other => {
            let text = format!("there is no time `{other}` of a message");
            args.wrong(at, text, "it is \"stamp\" or \"recvd\"");
            None
        }
    }
}

fn moment(run: &mut Run<'_>, args: &[Value]) -> Result<Moment, Halt> {
    match first(args).moment() {
        Some(at) => Ok(at),
        None => run.fail(Failure::Type("Argument must be datetime typed", first(args).type_name())),
    }
}

/// Asks the zone whose name is the second argument.
fn in_zone<T>(
    run: &mut Run<'_>,
    args: &[Value],
    ask: impl FnOnce(&mut record::ZoneCursor) -> T,
) -> Result<T, Halt> {
    let span = text_argument(run, args, 1)?;
    let name = run.batch.bytes(span).to_vec();
    // Offsets are no names of the database.
    let is_name = name.first().is_some_and(u8::is_ascii_alphabetic);
    match run.cx.work.zone(&name).filter(|_| is_name) {
        Some(zone) => Ok(ask(zone)),
        None => run.fail(Failure::Value("There is no such time zone", Value::String(span))),
    }
}

fn stamp_of(at: Moment) -> Stamp {
    let secs = at.micros.div_euclid(1_000_000);
    Stamp { secs, usec: at.micros.rem_euclid(1_000_000) as u32, offset: at.offset }
}

fn of_stamp(stamp: Stamp, source: ZoneSource) -> Moment {
    let micros = stamp.secs.saturating_mul(1_000_000).saturating_add(i64::from(stamp.usec));
    Moment { micros, offset: stamp.offset, source }
}

/// As format_isodate() does.
pub(super) fn put_iso(at: Moment, out: &mut Vec<u8>) {
    print::put(b"%Y-%m-%dT%H:%M:%S.%f%Z", at, out);
}

/// A time as isodate() reads it; the whole text has to be one.
pub(super) fn read_iso(run: &mut Run<'_>, text: &[u8]) -> Option<Moment> {
    static FORMAT: OnceLock<Option<Format>> = OnceLock::new();
    let format = FORMAT.get_or_init(|| Format::lenient("%Y-%m-%dT%H:%M:%S%f%Z").ok()).as_ref()?;
    let (fields, rest) = read(run, format, text)?;
    rest.is_empty().then(|| complete(run, &fields))
}

fn read<'t>(run: &mut Run<'_>, format: &Format, text: &'t [u8]) -> Option<(Fields, &'t [u8])> {
    let now = run.cx.render.now().secs;
    let work = &mut run.cx.work;
    format.begin(text, now, &mut |name, secs| work.zone(name).map(|zone| zone.offset_at(secs)))
}

/// The moment; what the text does not say is taken from the present, in the local zone.
fn complete(run: &mut Run<'_>, fields: &Fields) -> Moment {
    let now = run.cx.render.now();
    let source = if fields.offset.is_some() { ZoneSource::Parsed } else { ZoneSource::Assumed };
    let mut zone = run.cx.work.take_state(LOCAL, || record::ZoneCursor::new(record::Zone::local()));
    let stamp = match (fields.epoch, fields.offset) {
        (Some(secs), offset) => {
            let offset = offset.unwrap_or_else(|| zone.offset_at(secs));
            Stamp { secs, usec: fields.usec, offset }
        }
        (None, offset) => {
            let here = offset.unwrap_or_else(|| zone.offset_at(now.secs));
            let wall = fields.complete(&Civil::from_seconds(now.secs + i64::from(here)));
            match offset {
                Some(offset) => Stamp { secs: wall.seconds() - i64::from(offset), usec: fields.usec, offset },
                None => zone.resolve(&wall, fields.usec),
            }
        }
    };
    run.cx.work.keep_state(LOCAL, zone);
    of_stamp(stamp, source)
}

/// Under this number workers keep the local zone: no asker has it.
const LOCAL: u64 = u64::MAX;

struct Strptime {
    text: Expr,
    formats: Vec<Format>,
}

fn strptime(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let text = args.value(0);
    let mut formats = Vec::new();
    for written in args.all(1) {
        let literal = args.compiler.literal_text(&written);
        let Some(literal) = literal.and_then(|text| String::from_utf8(text).ok()) else {
            let text = "a format of strptime() has to be a fixed text";
            args.compiler.wrong("Y0104", text, written.at);
            return None;
        };
        match Format::lenient(&literal) {
            Ok(format) => formats.push(format),
            Err(error) => args.compiler.wrong("Y0103", error, written.at),
        }
    }
    args.made(Strptime { text: text?, formats })
}

impl Operation for Strptime {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.text)?;
        let span = text_argument(run, &[value], 0)?;
        let mut buffer = run.cx.work.text();
        buffer.extend_from_slice(run.batch.bytes(span));
        let found =
            self.formats.iter().find_map(|format| read(run, format, &buffer).map(|(fields, _)| fields));
        run.cx.work.keep_text(buffer);
        Ok(found.map_or(Value::Null, |fields| Value::from(complete(run, &fields))))
    }
}

struct Strftime {
    format: Vec<u8>,
    time: Expr,
}

impl Operation for Strftime {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.time)?;
        let at = moment(run, &[value])?;
        let mut out = run.cx.work.text();
        let known = print::put(&self.format, at, &mut out);
        let fits = known && !out.is_empty() && out.len() <= 255;
        let result = if fits { run.string(&out) } else { Ok(Value::Null) };
        run.cx.work.keep_text(out);
        result
    }
}

struct GetStamp {
    received: bool,
}

impl Operation for GetStamp {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let Some(record) = run.batch.records.get(run.index) else { return Ok(Value::Null) };
        let stamp = if self.received { run.batch.received_at(record) } else { record.stamp };
        Ok(Value::from(of_stamp(stamp, ZoneSource::Parsed)))
    }
}

struct SetStamp {
    time: Expr,
    received: bool,
}

impl Operation for SetStamp {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let value = run.eval(&self.time)?;
        let stamp = stamp_of(moment(run, &[value])?);
        if self.received {
            run.batch.set_received(run.index, stamp);
        } else if let Some(record) = run.batch.records.get_mut(run.index) {
            record.stamp = stamp;
            record.stamp_text = Record::NO_TEXT;
        }
        Ok(Value::Boolean(true))
    }
}
