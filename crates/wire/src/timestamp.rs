//! Reads the time stamps of syslog headers: BSD in its many dialects and ISO 8601. Writing them is
//! [`format`]'s part.

pub mod clock;
pub mod format;

pub use clock::Clock;
pub use format::{StampFormatter, TimeFormat, append_fraction, zone_text};

use record::Civil;

/// A stamp as read: a wall clock reading that may lack its year and its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The year is 0 when the stamp has none.
    pub wall: Civil,
    pub usec: u32,
    /// Seconds east of UTC, when the stamp says so.
    pub offset: Option<i32>,
    /// Bytes the stamp takes, a colon after it included.
    pub len: usize,
    /// The stamp begins with the 15 bytes `Mmm dd hh:mm:ss` in the one exact form RFC 3164 section 4.1.2
    /// gives.
    pub canonical: bool,
}

impl Reading {
    pub fn has_year(&self) -> bool {
        self.wall.year != 0
    }
}

/// Reads any stamp of an RFC 3164 header at the start of `text`.
pub fn parse(text: &[u8]) -> Option<Reading> {
    written(text).filter(is_time)
}

/// The bytes of what is written as a stamp is and means no time, as `Nov 15 07:74:57`.
pub(crate) fn impossible(text: &[u8]) -> Option<usize> {
    written(text).filter(|reading| !is_time(reading)).map(|reading| reading.len)
}

/// Anything that is written as a stamp is, whether or not it is a time.
fn written(text: &[u8]) -> Option<Reading> {
    let mut reading = match text.first()? {
        b'0'..=b'9' => iso(text)?,
        _ => bsd(text)?,
    };
    // Cisco puts a colon after the stamp.
    if text.get(reading.len) == Some(&b':') {
        reading.len += 1;
    }
    Some(reading)
}

/// `Mmm dd hh:mm:ss[.frac]`, `Mmm dd yyyy hh:mm:ss[.frac]` (PIX), `Mmm dd hh:mm:ss yyyy ` (Linksys); the day
/// padded with a blank, a zero or not at all.
pub fn parse_bsd(text: &[u8]) -> Option<Reading> {
    bsd(text).filter(is_time)
}

#[inline]
fn bsd(text: &[u8]) -> Option<Reading> {
    let month = month(*text.first_chunk::<3>()?)?;
    let mut at = 3;
    blank(text, &mut at)?;
    let padded = matches!(text.get(at..at + 2), Some([b' ', b'1'..=b'9'] | [b'1'..=b'3', b'0'..=b'9']));
    if text.get(at) == Some(&b' ') {
        at += 1;
    }
    let mut day = digit(text, at)?;
    at += 1;
    if let Some(second) = digit(text, at) {
        day = day * 10 + second;
        at += 1;
    }
    blank(text, &mut at)?;
    let mut year = 0;
    if let Some(value) = four_digits(text, at) {
        year = value;
        at += 4;
        blank(text, &mut at)?;
    }
    let time_at = at;
    let (hour, min, sec) = time(text, &mut at)?;
    let usec = fraction(text, &mut at);
    if year == 0
        && text.get(at) == Some(&b' ')
        && text.get(at + 5) == Some(&b' ')
        && let Some(value) = four_digits(text, at + 1)
    {
        year = value;
        // The blank behind it belongs to no field; a colon behind that one may begin an address.
        at += 5;
    }
    let wall = Civil { year, month, day, hour, min, sec };
    let exact = MONTHS.get(month as usize - 1).is_some_and(|name| text.starts_with(name));
    let canonical = exact && padded && time_at == 7 && sec < 60;
    Some(Reading { wall, usec, offset: None, len: at, canonical })
}

/// `yyyy-mm-ddThh:mm:ss[.frac][Z|±hh:mm]`; a blank may stand for the T, a comma for the point, and the zone's
/// colon may lack.
pub fn parse_iso(text: &[u8]) -> Option<Reading> {
    iso(text).filter(is_time)
}

#[inline]
fn iso(text: &[u8]) -> Option<Reading> {
    let year = four_digits(text, 0)?;
    let month = two_digits(text, 5)?;
    let day = two_digits(text, 8)?;
    if text.get(4) != Some(&b'-')
        || text.get(7) != Some(&b'-')
        || !matches!(text.get(10), Some(b'T' | b't' | b' '))
    {
        return None;
    }
    let mut at = 11;
    let (hour, min, sec) = time(text, &mut at)?;
    let usec = fraction(text, &mut at);
    let offset = zone(text, &mut at);
    // A reading without a year is one of a stamp that has none: this one is no time.
    let month = if year == 0 { 0 } else { month };
    let wall = Civil { year, month, day, hour, min, sec };
    Some(Reading { wall, usec, offset, len: at, canonical: false })
}

/// Whether each part is in its range. A day its month does not have means one of the next month, as
/// everywhere in C programs.
fn is_time(reading: &Reading) -> bool {
    let wall = &reading.wall;
    (1..=12).contains(&wall.month)
        && (1..=31).contains(&wall.day)
        && wall.hour < 24
        && wall.min < 60
        && wall.sec <= 60
}

/// `Z`, `±hh:mm` or `±hhmm`: seconds east of UTC.
#[inline]
pub(crate) fn zone(text: &[u8], at: &mut usize) -> Option<i32> {
    let sign = match text.get(*at)? {
        b'Z' | b'z' => {
            *at += 1;
            return Some(0);
        }
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = two_digits(text, *at + 1)?;
    let colon = usize::from(text.get(*at + 3) == Some(&b':'));
    let minutes = two_digits(text, *at + 3 + colon)?;
    if hours > 23 || minutes > 59 {
        return None;
    }
    *at += 5 + colon;
    Some(sign * (i32::from(hours) * 3600 + i32::from(minutes) * 60))
}

/// The digits after a point or a comma: microseconds, further digits are passed over. A point without digits
/// is taken too.
#[inline]
pub(crate) fn fraction(text: &[u8], at: &mut usize) -> u32 {
    if !matches!(text.get(*at), Some(b'.' | b',')) {
        return 0;
    }
    *at += 1;
    let (mut usec, mut unit) = (0, 100_000);
    while let Some(value) = digit(text, *at) {
        usec += u32::from(value) * unit;
        unit /= 10;
        *at += 1;
    }
    usec
}

#[inline]
fn time(text: &[u8], at: &mut usize) -> Option<(u8, u8, u8)> {
    let (hour, min, sec) = (two_digits(text, *at)?, two_digits(text, *at + 3)?, two_digits(text, *at + 6)?);
    if text.get(*at + 2) != Some(&b':') || text.get(*at + 5) != Some(&b':') {
        return None;
    }
    *at += 8;
    Some((hour, min, sec))
}

#[inline]
fn blank(text: &[u8], at: &mut usize) -> Option<()> {
    (text.get(*at) == Some(&b' ')).then(|| *at += 1)
}

#[inline]
fn digit(text: &[u8], at: usize) -> Option<u8> {
    text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|value| *value <= 9)
}

#[inline]
fn two_digits(text: &[u8], at: usize) -> Option<u8> {
    Some(digit(text, at)? * 10 + digit(text, at + 1)?)
}

#[inline]
fn four_digits(text: &[u8], at: usize) -> Option<i32> {
    Some(i32::from(two_digits(text, at)?) * 100 + i32::from(two_digits(text, at + 2)?))
}

pub(crate) const MONTHS: [[u8; 3]; 12] = [
    *b"Jan", *b"Feb", *b"Mar", *b"Apr", *b"May", *b"Jun", *b"Jul", *b"Aug", *b"Sep", *b"Oct", *b"Nov",
    *b"Dec",
];

/// Three letters as a number, the same in any case.
const fn folded([first, second, third]: [u8; 3]) -> u32 {
    u32::from_le_bytes([first | 0x20, second | 0x20, third | 0x20, 0])
}

/// 1..=12 of an English month's three letters, in any case.
pub fn month(name: [u8; 3]) -> Option<u8> {
    let name = folded(name);
    let index = MONTHS.iter().position(|month| folded(*month) == name)?;
    Some(index as u8 + 1)
}

#[cfg(test)]
mod tests;
