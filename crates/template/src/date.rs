//! Times as text: every date macro, formatted once per second and zone and copied from there.

use record::{Civil, Stamp, Zone, ZoneCursor};
use std::io::Write;
use std::sync::Mutex;
use wire::timestamp::format::{FRAC_DIGITS_MAX, append_fraction};

/// What of a time is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateKind {
    Bsd,
    Full,
    Iso,
    Unix,
    Year,
    Month,
    Day,
    Hour,
    Min,
    Sec,
    Msec,
    Usec,
    Hour12,
    Ampm,
    MonthAbbrev,
    MonthName,
    MonthWeek,
    WeekDayAbbrev,
    WeekDayName,
    WeekDay,
    Week,
    IsoWeek,
    YearDay,
    TzOffset,
}

/// Which time is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The message's own stamp: no prefix or `S_`.
    Message,
    /// `R_`.
    Received,
    /// `C_`, and `P_` because nothing stamps a message as processed.
    Now,
}

/// A date macro of a template.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Date {
    pub kind: DateKind,
    pub clock: Clock,
    pub frac_digits: u8,
    /// `None`: the zone stored with the time.
    pub zone: Option<Zone>,
    /// Index of its cache in a worker's context. Equal macros share one, so reloads do not add any.
    pub slot: u32,
}

impl Date {
    pub fn new(kind: DateKind, clock: Clock, frac_digits: u8, zone: Option<Zone>) -> Date {
        static SLOTS: Mutex<Vec<Date>> = Mutex::new(Vec::new());
        let frac_digits = frac_digits.min(FRAC_DIGITS_MAX);
        let mut date = Date { kind, clock, frac_digits, zone, slot: 0 };
        let mut slots = SLOTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let same = |other: &&Date| {
            other.kind == kind
                && other.frac_digits == frac_digits
                && other.zone == date.zone
                && other.clock == clock
        };
        if let Some(known) = slots.iter().find(same) {
            return known.clone();
        }
        date.slot = slots.len() as u32;
        slots.push(date.clone());
        date
    }
}

/// Seconds kept per macro: messages of several senders whose clocks differ a little do not push each other out.
const LINES: usize = 4;
const LINE_BYTES: usize = 40;

#[derive(Clone, Copy, Debug)]
struct Line {
    secs: i64,
    offset: i32,
    /// 0: not filled.
    len: u8,
    /// Where the fraction goes.
    frac_at: u8,
    text: [u8; LINE_BYTES],
}

const NO_LINE: Line = Line { secs: 0, offset: 0, len: 0, frac_at: 0, text: [0; LINE_BYTES] };

/// What a worker remembers for one date macro.
#[derive(Clone, Debug)]
pub(crate) struct DateCache {
    cursor: Option<ZoneCursor>,
    lines: [Line; LINES],
}

impl DateCache {
    pub fn new(date: &Date) -> DateCache {
        DateCache { cursor: date.zone.clone().map(ZoneCursor::new), lines: [NO_LINE; LINES] }
    }

    /// The offset from UTC in which a time is printed.
    #[inline]
    pub fn offset(&mut self, stamp: &Stamp) -> i32 {
        match &mut self.cursor {
            None => stamp.offset,
            Some(cursor) => cursor.offset_at(stamp.secs),
        }
    }

    #[inline]
    pub fn write(&mut self, date: &Date, stamp: &Stamp, out: &mut Vec<u8>) {
        let offset = self.offset(stamp);
        let line = &mut self.lines[(stamp.secs & (LINES as i64 - 1)) as usize];
        if line.len == 0 || line.secs != stamp.secs || line.offset != offset {
            if matches!(date.kind, DateKind::Msec | DateKind::Usec) {
                let digits = if date.kind == DateKind::Msec { 3 } else { 6 };
                digits_of(stamp.usec, digits, out);
                return;
            }
            fill(line, date.kind, stamp.secs, offset);
        }
        let text = line.text.get(..line.len as usize).unwrap_or_default();
        if date.frac_digits == 0 || !has_fraction(date.kind) {
            out.extend_from_slice(text);
            return;
        }
        let (before, after) = text.split_at_checked(line.frac_at as usize).unwrap_or_default();
        out.extend_from_slice(before);
        append_fraction(out, stamp.usec, date.frac_digits);
        out.extend_from_slice(after);
    }
}

/// The first digits of a fraction, without the point.
pub(crate) fn digits_of(usec: u32, digits: u8, out: &mut Vec<u8>) {
    let point = out.len();
    append_fraction(out, usec.min(999_999), digits);
    out.remove(point);
}

fn has_fraction(kind: DateKind) -> bool {
    matches!(kind, DateKind::Bsd | DateKind::Full | DateKind::Iso | DateKind::Unix)
}

#[cold]
fn fill(line: &mut Line, kind: DateKind, secs: i64, offset: i32) {
    let mut text: &mut [u8] = &mut line.text;
    let room = text.len();
    let civil = Civil::from_seconds(secs.saturating_add(i64::from(offset)));
    // Cannot fail: the longest form, ISO with the longest year of an i32, has 37 bytes.
    let _ = format(kind, &civil, secs, offset, &mut text);
    line.len = (room - text.len()) as u8;
    line.frac_at = if kind == DateKind::Iso { line.len.saturating_sub(6) } else { line.len };
    (line.secs, line.offset) = (secs, offset);
}

pub(crate) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(crate) const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

pub(crate) fn month_name(civil: &Civil) -> &'static str {
    MONTHS.get(usize::from(civil.month).wrapping_sub(1)).copied().unwrap_or("???")
}

pub(crate) fn day_name(civil: &Civil) -> &'static str {
    DAYS.get(usize::from(civil.weekday())).copied().unwrap_or("???")
}

fn format(kind: DateKind, c: &Civil, secs: i64, offset: i32, out: &mut dyn Write) -> std::io::Result<()> {
    let month = &month_name(c)[..3];
    match kind {
        DateKind::Bsd => write!(out, "{month} {:2} {:02}:{:02}:{:02}", c.day, c.hour, c.min, c.sec),
        DateKind::Full => {
            write!(out, "{:04} {month} {:2} {:02}:{:02}:{:02}", c.year, c.day, c.hour, c.min, c.sec)
        }
        DateKind::Iso => {
            write!(out, "{:04}-{:02}-{:02}T", c.year, c.month, c.day)?;
            write!(out, "{:02}:{:02}:{:02}", c.hour, c.min, c.sec)?;
            zone_offset(offset, true, out)
        }
        DateKind::Unix => write!(out, "{secs}"),
        DateKind::Year => write!(out, "{:04}", c.year),
        DateKind::Month => write!(out, "{:02}", c.month),
        DateKind::Day => write!(out, "{:02}", c.day),
        DateKind::Hour => write!(out, "{:02}", c.hour),
        DateKind::Min => write!(out, "{:02}", c.min),
        DateKind::Sec => write!(out, "{:02}", c.sec),
        DateKind::Hour12 => write!(out, "{:02}", hour12(c)),
        DateKind::Ampm => write!(out, "{}", ampm(c)),
        DateKind::MonthAbbrev => write!(out, "{month}"),
        DateKind::MonthName => write!(out, "{}", month_name(c)),
        DateKind::MonthWeek => write!(out, "{}", (u16::from(c.day) + 6 - monday_based(c)) / 7),
        DateKind::WeekDayAbbrev => write!(out, "{}", &day_name(c)[..3]),
        DateKind::WeekDayName => write!(out, "{}", day_name(c)),
        DateKind::WeekDay => write!(out, "{}", c.weekday() + 1),
        DateKind::Week => write!(out, "{:02}", week(c)),
        DateKind::IsoWeek => write!(out, "{:02}", iso_week(c).1),
        DateKind::YearDay => write!(out, "{:03}", c.day_of_year()),
        DateKind::TzOffset => zone_offset(offset, true, out),
        // Depend on more than the second: printed by the caller.
        DateKind::Msec | DateKind::Usec => Ok(()),
    }
}

pub(crate) fn zone_offset(offset: i32, colon: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let minutes = offset.unsigned_abs() / 60 % 6000;
    let sign = if offset < 0 { '-' } else { '+' };
    let colon = if colon { ":" } else { "" };
    write!(out, "{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
}

pub(crate) fn hour12(c: &Civil) -> u8 {
    (c.hour + 11) % 12 + 1
}

pub(crate) fn ampm(c: &Civil) -> &'static str {
    if c.hour < 12 { "AM" } else { "PM" }
}

/// 0 = Monday .. 6 = Sunday.
fn monday_based(c: &Civil) -> u16 {
    (u16::from(c.weekday()) + 6) % 7
}

/// Week of the year; days before the first Monday are in week 0.
pub(crate) fn week(c: &Civil) -> u16 {
    (c.day_of_year() + 6 - monday_based(c)) / 7
}

/// Week of the year; days before the first Sunday are in week 0.
pub(crate) fn sunday_week(c: &Civil) -> u16 {
    (c.day_of_year() + 6 - u16::from(c.weekday())) / 7
}

/// Year and week of ISO 8601.
pub(crate) fn iso_week(c: &Civil) -> (i32, u16) {
    // The week belongs to the year its Thursday is in.
    let midnight = Civil { hour: 0, min: 0, sec: 0, ..*c }.seconds();
    let thursday = Civil::from_seconds(midnight + (3 - i64::from(monday_based(c))) * 86_400);
    (thursday.year, (thursday.day_of_year() - 1) / 7 + 1)
}
