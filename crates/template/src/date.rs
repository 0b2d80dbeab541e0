//! Times as text: every date macro, formatted once per second and zone and copied from there.

use crate::sink::Sink;
use crate::{TsFormat, calendar};
use record::{Civil, Stamp, Zone, ZoneCursor};
use std::sync::{Arc, Mutex};
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

impl From<TsFormat> for DateKind {
    fn from(format: TsFormat) -> DateKind {
        match format {
            TsFormat::Bsd => DateKind::Bsd,
            TsFormat::Iso => DateKind::Iso,
            TsFormat::Full => DateKind::Full,
            TsFormat::Unix => DateKind::Unix,
        }
    }
}

impl DateKind {
    /// Whether frac-digits() adds to it.
    fn has_fraction(self) -> bool {
        matches!(self, DateKind::Bsd | DateKind::Full | DateKind::Iso | DateKind::Unix)
    }
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

/// A part of what is formatted together.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Kind(DateKind),
    Text(Box<[u8]>),
}

/// A date macro of a template, or several with the text between them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Date {
    parts: Arc<[Part]>,
    pub clock: Clock,
    /// 0 where frac-digits() adds nothing.
    frac_digits: u8,
    /// `None`: the zone stored with the time.
    pub zone: Option<Zone>,
    /// Index of its cache in a worker's context. Equal ones share it, so reloads do not add any.
    pub slot: u32,
}

impl Date {
    pub fn new(kind: DateKind, clock: Clock, frac_digits: u8, zone: Option<Zone>) -> Date {
        let frac_digits = if kind.has_fraction() { frac_digits.min(FRAC_DIGITS_MAX) } else { 0 };
        Date { parts: Arc::new([Part::Kind(kind)]), clock, frac_digits, zone, slot: 0 }.with_slot()
    }

    fn with_slot(mut self) -> Date {
        static SLOTS: Mutex<Vec<Date>> = Mutex::new(Vec::new());
        let mut slots = SLOTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.slot = slots.len() as u32;
        let same = |other: &&Date| **other == Date { slot: other.slot, ..self.clone() };
        if let Some(known) = slots.iter().find(same) {
            return known.clone();
        }
        slots.push(self.clone());
        self
    }

    /// This, `text`, and the next macro as one, if the second decides all of it.
    pub fn followed_by(&self, text: &[u8], next: &Date) -> Option<Date> {
        let one = |date: &Date| date.frac_digits == 0 && date.direct().is_none();
        if !one(self) || !one(next) || self.clock != next.clock || self.zone != next.zone {
            return None;
        }
        let between = (!text.is_empty()).then(|| Part::Text(text.into()));
        let parts = self.parts.iter().cloned().chain(between).chain(next.parts.iter().cloned()).collect();
        Some(Date { parts, ..self.clone() }.with_slot())
    }

    /// The digits of a macro that is not decided by the second.
    #[inline]
    fn direct(&self) -> Option<u8> {
        match &*self.parts {
            [Part::Kind(DateKind::Msec)] => Some(3),
            [Part::Kind(DateKind::Usec)] => Some(6),
            _ => None,
        }
    }

    fn format(&self, stamp: &Stamp, offset: i32, out: &mut Vec<u8>) {
        let civil = Civil::from_seconds(stamp.secs.saturating_add(i64::from(offset)));
        for part in &*self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                // Writing to a vector cannot fail.
                Part::Kind(kind) => {
                    let _ = calendar::write(*kind, &civil, stamp.secs, offset, out);
                }
            }
        }
    }

    /// Bytes behind the place of the fraction: the offset of an ISO stamp.
    fn tail(&self) -> usize {
        if matches!(&*self.parts, [Part::Kind(DateKind::Iso)]) { 6 } else { 0 }
    }
}

/// Seconds kept per macro: messages of several senders whose clocks differ a little do not push each other out.
const SECONDS: usize = 4;
/// Longer texts are formatted each time.
pub(crate) const TEXT_BYTES: usize = 48;

#[derive(Clone, Copy, Debug)]
struct Second {
    secs: i64,
    offset: i32,
    /// 0: not filled.
    len: u8,
    text: [u8; TEXT_BYTES],
}

const UNFILLED: Second = Second { secs: 0, offset: 0, len: 0, text: [0; TEXT_BYTES] };

/// What a worker remembers for one date macro.
#[derive(Clone, Debug)]
pub(crate) struct DateCache {
    cursor: Option<ZoneCursor>,
    seconds: [Second; SECONDS],
    /// A text while it is made.
    scratch: Vec<u8>,
}

impl DateCache {
    pub fn new(date: &Date) -> DateCache {
        let cursor = date.zone.clone().map(ZoneCursor::new);
        DateCache { cursor, seconds: [UNFILLED; SECONDS], scratch: Vec::new() }
    }

    /// The offset from UTC in which a time is printed.
    #[inline]
    pub fn offset(&mut self, stamp: &Stamp) -> i32 {
        match &mut self.cursor {
            None => stamp.offset,
            Some(cursor) => cursor.offset_at(stamp.secs),
        }
    }

    /// A time's text, with how much of the buffer it is; `None` when the second does not decide it.
    #[inline(always)]
    pub fn text(&mut self, date: &Date, stamp: &Stamp) -> Option<(&[u8; TEXT_BYTES], usize)> {
        if date.frac_digits != 0 {
            return None;
        }
        let offset = self.offset(stamp);
        let second = &mut self.seconds[(stamp.secs & (SECONDS as i64 - 1)) as usize];
        let known = second.len != 0 && second.secs == stamp.secs && second.offset == offset;
        if !known && !fill(second, date, stamp, offset, &mut self.scratch) {
            return None;
        }
        Some((&second.text, second.len as usize))
    }

    #[inline]
    pub fn write(&mut self, date: &Date, stamp: &Stamp, sink: &mut Sink<'_>) {
        let offset = self.offset(stamp);
        let second = &mut self.seconds[(stamp.secs & (SECONDS as i64 - 1)) as usize];
        if (second.len == 0 || second.secs != stamp.secs || second.offset != offset)
            && !fill(second, date, stamp, offset, &mut self.scratch)
        {
            sink.out().extend_from_slice(&self.scratch);
        } else if date.frac_digits == 0 {
            sink.padded(&second.text, second.len as usize);
        } else {
            let text = second.text.get(..second.len as usize).unwrap_or_default();
            let (before, after) =
                text.split_at_checked(text.len().saturating_sub(date.tail())).unwrap_or_default();
            let out = sink.out();
            out.extend_from_slice(before);
            append_fraction(out, stamp.usec, date.frac_digits);
            out.extend_from_slice(after);
        }
    }
}

/// Formats a second. False when the text in `scratch` cannot be kept: it is too long, or more than the second decides it.
#[cold]
fn fill(second: &mut Second, date: &Date, stamp: &Stamp, offset: i32, scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    if let Some(digits) = date.direct() {
        digits_of(stamp.usec, digits, scratch);
        return false;
    }
    date.format(stamp, offset, scratch);
    // An empty text cannot be told from none, and there is none.
    let Some(room) = second.text.get_mut(..scratch.len()) else {
        return false;
    };
    room.copy_from_slice(scratch);
    (second.len, second.secs, second.offset) = (scratch.len() as u8, stamp.secs, offset);
    true
}

/// The first digits of a fraction, without the point.
pub(crate) fn digits_of(usec: u32, digits: u8, out: &mut Vec<u8>) {
    let point = out.len();
    append_fraction(out, usec.min(999_999), digits);
    out.drain(point..(point + 1).min(out.len()));
}
