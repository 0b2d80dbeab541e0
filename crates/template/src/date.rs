//! Times as text: every date macro, formatted once per hour and zone and copied from there; another second of
//! the hour only changes its digits.

use crate::sink::{Sink, push_padded};
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

    /// Whether it prints seconds since 1970 and nothing else.
    pub fn is_unix(&self) -> bool {
        matches!(&*self.parts, [Part::Kind(DateKind::Unix)])
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

    /// Formats a time and says where in the text its minutes and seconds stand; `None` when that is not
    /// known.
    fn format(&self, stamp: &Stamp, offset: i32, out: &mut Vec<u8>) -> Option<Places> {
        let civil = Civil::from_seconds(stamp.secs.saturating_add(i64::from(offset)));
        let mut places = Some(Places::default());
        for part in &*self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Kind(kind) => {
                    places = places.and_then(|places| places.with(*kind, out.len()));
                    // Writing to a vector cannot fail.
                    let _ = calendar::write(*kind, &civil, stamp.secs, offset, out);
                }
            }
        }
        places
    }

    /// Bytes behind the place of the fraction: the offset of an ISO stamp.
    fn tail(&self) -> usize {
        if matches!(&*self.parts, [Part::Kind(DateKind::Iso)]) { 6 } else { 0 }
    }
}

/// Where the two digits of the minute and of the second stand in a text; [`NOWHERE`] when they do not.
#[derive(Clone, Copy, Debug)]
struct Places {
    min: u8,
    sec: u8,
}

const NOWHERE: u8 = u8::MAX;

impl Default for Places {
    fn default() -> Places {
        Places { min: NOWHERE, sec: NOWHERE }
    }
}

impl Places {
    /// These and those of a macro printed at `at`; `None` when a minute or second would stand twice, or is
    /// not two digits.
    fn with(self, kind: DateKind, at: usize) -> Option<Places> {
        let (min, sec) = match kind {
            DateKind::Bsd => (Some(10), Some(13)),
            DateKind::Full => (Some(15), Some(18)),
            DateKind::Iso => (Some(14), Some(17)),
            DateKind::Min => (Some(0), None),
            DateKind::Sec => (None, Some(0)),
            DateKind::Unix => return None,
            _ => (None, None),
        };
        let place = |old: u8, new: Option<usize>| match new {
            None => Some(old),
            Some(new) if old == NOWHERE && at + new + 2 <= TEXT_BYTES => Some((at + new) as u8),
            Some(_) => None,
        };
        Some(Places { min: place(self.min, min)?, sec: place(self.sec, sec)? })
    }
}

/// Texts kept per macro: messages of several senders whose clocks differ a little do not push each other out.
const TEXTS: usize = 4;
/// Longer texts are formatted each time.
pub(crate) const TEXT_BYTES: usize = 48;

/// The text of one second, which can be made that of any other of the `size` seconds from `start` on.
#[derive(Clone, Copy, Debug)]
struct Known {
    secs: i64,
    start: i64,
    size: u32,
    offset: i32,
    /// 0: not filled.
    len: u8,
    places: Places,
    text: [u8; TEXT_BYTES],
}

const UNFILLED: Known = Known {
    secs: 0,
    start: 0,
    size: 0,
    offset: 0,
    len: 0,
    places: Places { min: NOWHERE, sec: NOWHERE },
    text: [0; TEXT_BYTES],
};

impl Known {
    #[inline(always)]
    fn is(&self, stamp: &Stamp, offset: i32) -> bool {
        self.secs == stamp.secs && self.offset == offset && self.len != 0
    }

    /// Makes the text that of another second, formatting it if need be. False when it cannot be kept; it is
    /// in `scratch` then.
    #[inline(never)]
    fn change(&mut self, date: &Date, stamp: &Stamp, offset: i32, scratch: &mut Vec<u8>) -> bool {
        let in_hour = stamp.secs.wrapping_sub(self.start) as u64;
        if in_hour >= u64::from(self.size) || self.offset != offset {
            return fill(self, date, stamp, offset, scratch);
        }
        self.secs = stamp.secs;
        self.put(self.places.min, in_hour as u32 / 60);
        self.put(self.places.sec, in_hour as u32 % 60);
        true
    }

    fn put(&mut self, place: u8, value: u32) {
        if let Some(digits) = self.text.get_mut(place as usize..).and_then(|t| t.first_chunk_mut::<2>()) {
            *digits = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        }
    }
}

/// What a worker remembers for one date macro.
#[derive(Clone, Debug)]
pub(crate) struct DateCache {
    cursor: Option<ZoneCursor>,
    known: [Known; TEXTS],
    /// A text while it is made.
    scratch: Vec<u8>,
}

impl DateCache {
    pub fn new(date: &Date) -> DateCache {
        let cursor = date.zone.clone().map(ZoneCursor::new);
        DateCache { cursor, known: [UNFILLED; TEXTS], scratch: Vec::new() }
    }

    /// The offset from UTC in which a time is printed.
    #[inline]
    pub fn offset(&mut self, stamp: &Stamp) -> i32 {
        match &mut self.cursor {
            None => stamp.offset,
            Some(cursor) => cursor.offset_at(stamp.secs),
        }
    }

    /// Appends a time's text; false, with nothing appended, when more than the second decides it or it is too
    /// long.
    #[inline(always)]
    pub fn append(&mut self, date: &Date, stamp: &Stamp, out: &mut Vec<u8>) -> bool {
        if date.frac_digits != 0 {
            return false;
        }
        let offset = self.offset(stamp);
        let known = &mut self.known[slot(stamp)];
        if !known.is(stamp, offset) && !known.change(date, stamp, offset, &mut self.scratch) {
            return false;
        }
        push_padded(out, &known.text, known.len as usize);
        true
    }

    #[inline]
    pub fn write(&mut self, date: &Date, stamp: &Stamp, sink: &mut Sink<'_>) {
        let out = sink.out();
        let offset = self.offset(stamp);
        let known = &mut self.known[slot(stamp)];
        if !known.is(stamp, offset) && !known.change(date, stamp, offset, &mut self.scratch) {
            out.extend_from_slice(&self.scratch);
            return;
        }
        if date.frac_digits == 0 {
            push_padded(out, &known.text, known.len as usize);
            return;
        }
        let text = known.text.get(..known.len as usize).unwrap_or_default();
        let (before, after) =
            text.split_at_checked(text.len().saturating_sub(date.tail())).unwrap_or_default();
        out.extend_from_slice(before);
        append_fraction(out, stamp.usec, date.frac_digits);
        out.extend_from_slice(after);
    }
}

#[inline(always)]
fn slot(stamp: &Stamp) -> usize {
    (stamp.secs & (TEXTS as i64 - 1)) as usize
}

/// Formats a time. False when the text in `scratch` cannot be kept: it is too long, or more than the second
/// decides it.
#[cold]
fn fill(known: &mut Known, date: &Date, stamp: &Stamp, offset: i32, scratch: &mut Vec<u8>) -> bool {
    scratch.clear();
    if let Some(digits) = date.direct() {
        digits_of(stamp.usec, digits, scratch);
        return false;
    }
    let places = date.format(stamp, offset, scratch);
    // An empty text cannot be told from none, and there is none.
    let Some(room) = known.text.get_mut(..scratch.len()) else {
        return false;
    };
    room.copy_from_slice(scratch);
    let in_hour = stamp.secs.saturating_add(i64::from(offset)).rem_euclid(3600);
    (known.start, known.size) = match places {
        Some(_) => (stamp.secs.saturating_sub(in_hour), 3600),
        None => (stamp.secs, 1),
    };
    (known.len, known.secs, known.offset) = (scratch.len() as u8, stamp.secs, offset);
    known.places = places.unwrap_or_default();
    true
}

/// The first digits of a fraction, without the point.
pub(crate) fn digits_of(usec: u32, digits: u8, out: &mut Vec<u8>) {
    let point = out.len();
    append_fraction(out, usec.min(999_999), digits);
    out.drain(point..(point + 1).min(out.len()));
}

#[cfg(test)]
mod tests;
