//! `$(format-date)`: a time by strftime's directives. `$(stardate)`: a time as a year with a fraction.

use crate::calendar;
use crate::call::Call;
use crate::date::{Clock, Date, DateKind, digits_of};
use crate::facts::put;
use crate::function::{Build, Function, FunctionInfo, with_args};
use crate::{Cost, Msg, RenderContext, Template, TemplateError};
use record::{Civil, Demand, Stamp, ValueType, Zone};
use std::sync::Arc;

pub(super) const FUNCTIONS: &[FunctionInfo] = &[
    FunctionInfo {
        name: "format-date",
        usage: "[--time-zone ZONE] FORMAT [UNIXTIME]",
        help: "a time by the directives of strftime, %f is the fraction; the message's own time if none is given",
        arity: (1, 2),
        options: &[("--time-zone", true)],
        build: Build::Special(format_date),
        example: (
            "$(format-date --time-zone UTC '%Y-%m-%dT%H:%M:%S.%f' 86400.25)",
            "1970-01-02T00:00:00.250000",
        ),
        cost: Cost::of("formats the time anew for each message; the date macros are copied from a cache"),
    },
    FunctionInfo {
        name: "stardate",
        usage: "[--digits N] UNIXTIME",
        help: "a time as year and fraction of the year, 2 digits if not told",
        arity: (1, 1),
        options: &[("--digits", true)],
        build: Build::Special(stardate),
        example: ("$(stardate 15768000)", "1970.50"),
        cost: Cost::PARSED,
    },
];

struct FormatDate {
    format: Box<str>,
    /// Names the zone and, in the worker's context, the cursor in it.
    zone: Date,
    /// The name `%Z` prints.
    zone_name: Arc<str>,
    time: Option<Box<[Template]>>,
}

fn format_date(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let format = call.literal(0, "the format of $(format-date)")?;
    if let Some(bad) = bad_directive(&format) {
        return Err(call.error(0, format!("`%{bad}` is no directive of $(format-date)")));
    }
    let name = call.option("--time-zone");
    // As in syslog-ng, time-zone() of the destination does not count here.
    let zone = match &name {
        None => None,
        Some(name) => Some(
            Zone::named(name)
                .ok_or_else(|| call.error(0, format!("there is no time zone named `{name}`")))?,
        ),
    };
    let time = if call.count() > 1 { Some(call.templates(1)?) } else { None };
    call.boxed(FormatDate {
        format: format.into(),
        zone: Date::new(DateKind::TzOffset, Clock::Message, 0, zone),
        zone_name: name.unwrap_or_default().into(),
        time,
    })
}

impl Function for FormatDate {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let stamp = match &self.time {
            None => msg.record.stamp,
            Some(time) => match with_args(time, msg, cx, |args, _| unix_time(args.get(0))) {
                // A number has no zone of its own: it is shown in the local one.
                Some((secs, usec)) => Stamp { secs, usec, offset: cx.now().offset },
                None => return ValueType::String,
            },
        };
        let offset = cx.date(&self.zone).offset(&stamp);
        strftime(&self.format, &stamp, offset, &self.zone_name, out);
        ValueType::String
    }

    fn reads(&self, demand: &mut Demand) {
        match &self.time {
            None => demand.stamp = true,
            Some(time) => time.iter().for_each(|time| time.reads(demand)),
        }
    }
}

/// `1234567890` or `1234567890.5`.
fn unix_time(text: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(text).ok()?.trim();
    let (secs, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut usec = 0;
    let mut scale = 100_000;
    for digit in fraction.chars() {
        usec += digit.to_digit(10)? * scale;
        scale /= 10;
    }
    Some((secs.parse().ok()?, usec))
}

const DIRECTIVES: &str = "aAbBcCdDeFfgGhHIjklmMnNpPrRsStTuUVwWxXyYzZ%";

fn bad_directive(format: &str) -> Option<char> {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c == '%' {
            match chars.next() {
                Some(directive) if DIRECTIVES.contains(directive) => {}
                other => return Some(other.unwrap_or(' ')),
            }
        }
    }
    None
}

fn strftime(format: &str, stamp: &Stamp, offset: i32, zone_name: &str, out: &mut Vec<u8>) {
    let civil = Civil::from_seconds(stamp.secs.saturating_add(i64::from(offset)));
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let mut chars = rest[at + 1..].chars();
        if let Some(directive) = chars.next() {
            print_directive(directive, &civil, stamp, offset, zone_name, out);
        }
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}

fn print_directive(d: char, c: &Civil, stamp: &Stamp, offset: i32, zone_name: &str, out: &mut Vec<u8>) {
    let again = |format: &str, out: &mut Vec<u8>| strftime(format, stamp, offset, zone_name, out);
    match d {
        'a' => out.extend_from_slice(&calendar::day_name(c).as_bytes()[..3]),
        'A' => out.extend_from_slice(calendar::day_name(c).as_bytes()),
        'b' | 'h' => out.extend_from_slice(&calendar::month_name(c).as_bytes()[..3]),
        'B' => out.extend_from_slice(calendar::month_name(c).as_bytes()),
        'c' => again("%a %b %e %H:%M:%S %Y", out),
        'C' => put(out, format_args!("{:02}", c.year.div_euclid(100))),
        'd' => put(out, format_args!("{:02}", c.day)),
        'D' | 'x' => again("%m/%d/%y", out),
        'e' => put(out, format_args!("{:2}", c.day)),
        'F' => again("%Y-%m-%d", out),
        'f' => digits_of(stamp.usec, 6, out),
        'g' => put(out, format_args!("{:02}", calendar::iso_week(c).0.rem_euclid(100))),
        'G' => put(out, format_args!("{:04}", calendar::iso_week(c).0)),
        'H' => put(out, format_args!("{:02}", c.hour)),
        'I' => put(out, format_args!("{:02}", calendar::hour12(c))),
        'j' => put(out, format_args!("{:03}", c.day_of_year())),
        'k' => put(out, format_args!("{:2}", c.hour)),
        'l' => put(out, format_args!("{:2}", calendar::hour12(c))),
        'm' => put(out, format_args!("{:02}", c.month)),
        'M' => put(out, format_args!("{:02}", c.min)),
        'n' => out.push(b'\n'),
        'N' => {
            digits_of(stamp.usec, 6, out);
            out.extend_from_slice(b"000");
        }
        'p' => out.extend_from_slice(calendar::ampm(c).as_bytes()),
        'P' => out.extend_from_slice(calendar::ampm(c).to_ascii_lowercase().as_bytes()),
        'r' => again("%I:%M:%S %p", out),
        'R' => again("%H:%M", out),
        's' => put(out, format_args!("{}", stamp.secs)),
        'S' => put(out, format_args!("{:02}", c.sec)),
        't' => out.push(b'\t'),
        'T' | 'X' => again("%H:%M:%S", out),
        'u' => put(out, format_args!("{}", (c.weekday() + 6) % 7 + 1)),
        'U' => put(out, format_args!("{:02}", calendar::sunday_week(c))),
        'V' => put(out, format_args!("{:02}", calendar::iso_week(c).1)),
        'w' => put(out, format_args!("{}", c.weekday())),
        'W' => put(out, format_args!("{:02}", calendar::week(c))),
        'y' => put(out, format_args!("{:02}", c.year.rem_euclid(100))),
        'Y' => put(out, format_args!("{:04}", c.year)),
        'z' => offset_text(offset, false, out),
        'Z' if zone_name.is_empty() => offset_text(offset, true, out),
        'Z' => out.extend_from_slice(zone_name.as_bytes()),
        other => put(out, format_args!("{other}")),
    }
}

fn offset_text(offset: i32, colon: bool, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = calendar::zone_offset(offset, colon, out);
}

struct Stardate {
    digits: usize,
    time: Box<[Template]>,
}

fn stardate(call: &mut Call<'_>) -> Result<Box<dyn Function>, TemplateError> {
    let digits = match call.option("--digits") {
        None => 2,
        Some(text) => match text.parse() {
            Ok(digits @ 0..=9) => digits,
            _ => {
                return Err(
                    call.error(0, format!("the digits of $(stardate) have to be 0 to 9, not `{text}`"))
                );
            }
        },
    };
    call.boxed(Stardate { digits, time: call.templates(0)? })
}

impl Function for Stardate {
    fn call(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        let Some((secs, _)) = with_args(&self.time, msg, cx, |args, _| unix_time(args.get(0))) else {
            return ValueType::String;
        };
        let local = secs.saturating_add(i64::from(cx.now().offset));
        let civil = Civil::from_seconds(local);
        let start = |year| Civil { year, month: 1, day: 1, hour: 0, min: 0, sec: 0 }.seconds();
        let (first, next) = (start(civil.year), start(civil.year.saturating_add(1)));
        let parts = 10u64.pow(self.digits as u32);
        let fraction =
            (local.saturating_sub(first).max(0) as u128 * u128::from(parts)) / (next - first).max(1) as u128;
        put(out, format_args!("{}", civil.year));
        if self.digits > 0 {
            put(out, format_args!(".{:0width$}", fraction, width = self.digits));
        }
        ValueType::Double
    }

    fn reads(&self, demand: &mut Demand) {
        self.time.iter().for_each(|time| time.reads(demand));
    }
}
