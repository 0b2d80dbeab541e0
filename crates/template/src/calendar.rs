//! Parts of a time as text: names of months and days, weeks, offsets.

use crate::date::DateKind;
use record::{Civil, DAY_NAMES, MONTH_NAMES};
use std::io::Write;

pub(crate) fn month_name(civil: &Civil) -> &'static str {
    MONTH_NAMES.get(usize::from(civil.month).wrapping_sub(1)).copied().unwrap_or("???")
}

pub(crate) fn day_name(civil: &Civil) -> &'static str {
    DAY_NAMES.get(usize::from(civil.weekday())).copied().unwrap_or("???")
}

/// Writes one part of a time. What depends on more than the second writes nothing: the caller prints it.
pub(crate) fn write(
    kind: DateKind,
    c: &Civil,
    secs: i64,
    offset: i32,
    out: &mut dyn Write,
) -> std::io::Result<()> {
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
