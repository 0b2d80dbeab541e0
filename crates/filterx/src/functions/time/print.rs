//! Times by the directives of strftime.

use record::{Civil, DAY_NAMES, MONTH_NAMES};
use std::io::Write;
use value::{Moment, put_integer};

/// Appends a time by a format; false when a directive is not known.
pub fn put(format: &[u8], at: Moment, out: &mut Vec<u8>) -> bool {
    let mut rest = format;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            out.push(*byte);
            continue;
        }
        let flag = rest.first().copied().filter(|b| matches!(b, b'-' | b'_' | b'0'));
        rest = rest.get(usize::from(flag.is_some())..).unwrap_or_default();
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count().min(3);
        let width = rest.get(..digits).unwrap_or_default();
        let width = width.iter().fold(0usize, |n, b| n * 10 + usize::from(b - b'0'));
        let Some((letter, after)) = rest.get(digits..).and_then(<[u8]>::split_first) else { return false };
        rest = after;
        let written = Written { flag, width: width.min(256) };
        if out.len() > 1024 || directive(*letter, written, at, out).is_none() {
            return false;
        }
    }
    true
}

/// How a number is to be written.
#[derive(Clone, Copy)]
struct Written {
    flag: Option<u8>,
    width: usize,
}

impl Written {
    fn number(self, value: i64, width: usize, fill: u8, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        put_integer(value, &mut text);
        let fill = match self.flag {
            Some(b'_') => b' ',
            Some(b'0') => b'0',
            _ => fill,
        };
        let width = match self.flag {
            Some(b'-') => 0,
            _ => {
                if self.width > 0 {
                    self.width
                } else {
                    width
                }
            }
        };
        out.extend(std::iter::repeat_n(fill, width.saturating_sub(text.len())));
        out.extend_from_slice(&text);
    }
}

fn directive(letter: u8, written: Written, at: Moment, out: &mut Vec<u8>) -> Option<()> {
    let secs = at.micros.div_euclid(1_000_000);
    let wall = Civil::from_seconds(secs + i64::from(at.offset));
    let several: &[u8] = match letter {
        b'c' => b"%a %b %e %H:%M:%S %Y",
        b'D' | b'x' => b"%m/%d/%y",
        b'F' => b"%Y-%m-%d",
        b'R' => b"%H:%M",
        b'r' => b"%I:%M:%S %p",
        b'T' | b'X' => b"%H:%M:%S",
        _ => b"",
    };
    if !several.is_empty() {
        return put(several, at, out).then_some(());
    }
    let day = DAY_NAMES.get(usize::from(wall.weekday())).copied().unwrap_or_default();
    let month = MONTH_NAMES.get(usize::from(wall.month).wrapping_sub(1)).copied().unwrap_or_default();
    let short = |name: &str| name.get(..3).unwrap_or_default().as_bytes().to_vec();
    let half = if wall.hour.is_multiple_of(12) { 12 } else { wall.hour % 12 };
    let year = i64::from(wall.year);
    let (iso_year, iso_week) = iso_week(&wall);
    let zero = |value: i64, width: usize, out: &mut Vec<u8>| written.number(value, width, b'0', out);
    match letter {
        b'%' => out.push(b'%'),
        b'n' => out.push(b'\n'),
        b't' => out.push(b'\t'),
        b'a' => out.extend(short(day)),
        b'A' => out.extend_from_slice(day.as_bytes()),
        b'b' | b'h' => out.extend(short(month)),
        b'B' => out.extend_from_slice(month.as_bytes()),
        b'C' => zero(year.div_euclid(100), 2, out),
        b'd' => zero(i64::from(wall.day), 2, out),
        b'e' => written.number(i64::from(wall.day), 2, b' ', out),
        b'g' => zero(iso_year.rem_euclid(100), 2, out),
        b'G' => zero(iso_year, 4, out),
        b'H' => zero(i64::from(wall.hour), 2, out),
        b'I' => zero(i64::from(half), 2, out),
        b'j' => zero(i64::from(wall.day_of_year()), 3, out),
        b'M' => zero(i64::from(wall.min), 2, out),
        b'm' => zero(i64::from(wall.month), 2, out),
        b'p' => out.extend_from_slice(if wall.hour < 12 { b"AM" } else { b"PM" }),
        b'S' => zero(i64::from(wall.sec), 2, out),
        b's' => zero(secs, 1, out),
        b'u' => zero(i64::from((wall.weekday() + 6) % 7 + 1), 1, out),
        b'w' => zero(i64::from(wall.weekday()), 1, out),
        b'U' => zero((i64::from(wall.day_of_year()) + 6 - i64::from(wall.weekday())) / 7, 2, out),
        b'W' => zero((i64::from(wall.day_of_year()) + 6 - i64::from((wall.weekday() + 6) % 7)) / 7, 2, out),
        b'V' => zero(iso_week, 2, out),
        b'Y' => zero(year, 4, out),
        b'y' => zero(year.rem_euclid(100), 2, out),
        b'f' => {
            let fraction = format!("{:06}", at.micros.rem_euclid(1_000_000));
            let digits = if written.width > 0 { written.width.min(6) } else { 6 };
            out.extend_from_slice(fraction.get(..digits)?.as_bytes());
        }
        b'z' => {
            let minutes = at.offset.unsigned_abs() / 60;
            let sign = if at.offset < 0 { '-' } else { '+' };
            // Writing to memory does not fail.
            let _ = write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60);
        }
        b'Z' => at.put_offset(out),
        _ => return None,
    }
    Some(())
}

/// Year and week of ISO 8601: weeks begin on Monday, the first has the year's first Thursday.
fn iso_week(wall: &Civil) -> (i64, i64) {
    let day = i64::from(wall.day_of_year());
    let weekday = i64::from((wall.weekday() + 6) % 7);
    let week = (day - weekday + 9) / 7;
    let year = i64::from(wall.year);
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    // The weekday of the first of January, Monday 0.
    let first = |year: i64| {
        let days = (Civil { year: year as i32, month: 1, day: 1, hour: 0, min: 0, sec: 0 }).weekday();
        i64::from((days + 6) % 7)
    };
    let weeks = |year: i64| if first(year) == 3 || first(year) == 2 && is_leap(year) { 53 } else { 52 };
    if week < 1 {
        (year - 1, weeks(year - 1))
    } else if week > weeks(year) {
        (year + 1, 1)
    } else {
        (year, week)
    }
}
