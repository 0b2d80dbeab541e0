//! Turns readings into points in time: guesses the year, knows the source's zone, and remembers the last
//! hour, because neighbouring messages nearly always share it.

use super::Reading;
use crate::word::{digits8, load8};
use record::{Civil, Stamp, Zone, ZoneCursor};

/// The time knowledge of one parser.
#[derive(Clone, Debug)]
pub struct Clock {
    zone: ZoneCursor,
    guess_zone: bool,
    received: Stamp,
    /// How far that time is from UTC in the source's zone.
    received_offset: i32,
    /// Year and month of the receive time in the source's zone, for the year guess.
    now: (i32, u8),
    bsd: BsdHour,
    day: BsdDay,
    iso: IsoHour,
}

/// The last hour in canonical BSD form: the bytes `Mmm dd h`, `h:__:__ `, and its begin.
#[derive(Clone, Copy, Debug)]
struct BsdHour {
    head: u64,
    tail: u64,
    secs: i64,
    offset: i32,
}

/// The day of that hour: the bytes `Mmm dd ` and its midnight on the wall clock.
#[derive(Clone, Copy, Debug)]
struct BsdDay {
    head: u64,
    wall: i64,
}

/// The last hour in ISO form, the bytes `yyyy-mm-ddThh:` and the seconds they mean in UTC, and the last zone,
/// `±hh:mm` with a blank.
#[derive(Clone, Copy, Debug)]
struct IsoHour {
    head: [u64; 2],
    secs: i64,
    zone: u64,
    offset: i32,
}

/// All bytes of the second word of `Mmm dd hh:mm:ss ` but the digits of minutes and seconds.
const BUT_BSD_TIME: u64 = !(0xffff << 40 | 0xffff << 16);

/// All bytes of the second word of `yyyy-mm-ddThh:mm` but the digits of the minutes.
const BUT_ISO_TIME: u64 = !(0xffff << 48);

/// An hour is remembered when the zone's offset does not change this long before and after: no wall clock
/// reading in it is ambiguous, not even in a zone that crosses the date line.
const STEADY: i64 = 86_400;

/// The seven bytes `Mmm dd ` of the first word.
const DAY: u64 = !(0xff << 56);

/// The seven bytes of a zone and the blank after it.
const ZONE: u64 = !(0xff << 56);

impl BsdHour {
    /// Matches nothing: its tail has bits set that are always masked out.
    const NONE: BsdHour = BsdHour { head: 0, tail: u64::MAX, secs: 0, offset: 0 };
}

impl BsdDay {
    /// Matches nothing: its head has a bit set that is always masked out.
    const NONE: BsdDay = BsdDay { head: u64::MAX, wall: 0 };
}

impl IsoHour {
    /// Matches nothing: its second word and its zone have bits set that are always masked out.
    const NONE: IsoHour = IsoHour { head: [u64::MAX; 2], secs: 0, zone: u64::MAX, offset: 0 };
}

impl Clock {
    /// `zone` is meant by stamps that name none. `guess_zone`: a stamp that another zone would make the
    /// receive time is read in that zone, see [`Stamp::in_zone_of_now`].
    pub fn new(zone: Zone, guess_zone: bool) -> Clock {
        Clock {
            zone: ZoneCursor::new(zone),
            guess_zone,
            received: Stamp::default(),
            received_offset: 0,
            now: (1970, 1),
            bsd: BsdHour::NONE,
            day: BsdDay::NONE,
            iso: IsoHour::NONE,
        }
    }

    /// Sets the receive time of the messages that follow.
    pub fn receive(&mut self, received: Stamp) {
        let offset = self.zone.offset_at(received.secs);
        let civil = Civil::from_seconds(received.secs.saturating_add(i64::from(offset)));
        if self.now != (civil.year, civil.month) {
            self.now = (civil.year, civil.month);
            (self.bsd, self.day) = (BsdHour::NONE, BsdDay::NONE);
        }
        (self.received, self.received_offset) = (received, offset);
    }

    /// The receive time as it was told, in the zone of this machine.
    pub fn received(&self) -> Stamp {
        self.received
    }

    /// The receive time in the source's zone: the stamp of messages whose header has none.
    pub fn received_in_zone(&self) -> Stamp {
        Stamp { offset: self.received_offset, ..self.received }
    }

    /// The point in time a reading means.
    pub fn stamp(&mut self, reading: &Reading) -> Stamp {
        let mut wall = reading.wall;
        if !reading.has_year() {
            wall.year = guess_year(wall.month, self.now);
        }
        let stamp = match reading.offset {
            Some(offset) => Stamp { secs: wall.seconds() - i64::from(offset), usec: reading.usec, offset },
            None => self.zone.resolve(&wall, reading.usec),
        };
        if self.guess_zone {
            // As in syslog-ng, a zone that the stamp names is doubted too.
            return stamp.in_zone_of_now(self.received.secs).unwrap_or(stamp);
        }
        stamp
    }

    /// Whether the bytes of a canonical reading say what `stamp` prints as in the source's zone: not when the
    /// zone was guessed, nor for a day that its month does not have.
    pub fn says(&self, reading: &Reading, stamp: &Stamp) -> bool {
        reading.canonical
            && !self.guess_zone
            && (reading.wall.day < 29
                || Civil::from_seconds(stamp.secs + i64::from(stamp.offset)).day == reading.wall.day)
    }

    /// The stamp of 16 bytes `Mmm dd hh:mm:ss ` in canonical form; `None` when they are anything else.
    #[inline(always)]
    pub(crate) fn canonical(&mut self, text: &[u8; 16]) -> Option<Stamp> {
        let (head, tail) = (load8(text, 0)?, load8(text, 8)?);
        if head != self.bsd.head || tail & BUT_BSD_TIME != self.bsd.tail {
            self.learn(text, head, tail)?;
        }
        let secs = self.bsd.secs + sixty(tail >> 16)? * 60 + sixty(tail >> 40)?;
        Some(Stamp { secs, usec: 0, offset: self.bsd.offset })
    }

    /// Fills the memory with the hour these bytes name.
    #[inline(never)]
    fn learn(&mut self, text: &[u8; 16], head: u64, tail: u64) -> Option<()> {
        if head & DAY == self.day.head && self.same_day(text).is_some() {
            (self.bsd.head, self.bsd.tail) = (head, tail & BUT_BSD_TIME);
            return Some(());
        }
        let reading = super::parse_bsd(text)?;
        if reading.len != 15 || text[15] != b' ' || self.guess_zone {
            return None;
        }
        let reading = Reading { wall: Civil { min: 0, sec: 0, ..reading.wall }, ..reading };
        let stamp = self.stamp(&reading);
        if !self.says(&reading, &stamp) || !self.is_steady(&stamp) {
            return None;
        }
        self.bsd = BsdHour { head, tail: tail & BUT_BSD_TIME, secs: stamp.secs, offset: stamp.offset };
        let in_day = i64::from(reading.wall.hour) * 3600;
        self.day = BsdDay { head: head & DAY, wall: stamp.secs + i64::from(stamp.offset) - in_day };
        Some(())
    }

    /// Another hour of the day that is known, as long as the zone's offset does not change around it.
    fn same_day(&mut self, text: &[u8; 16]) -> Option<()> {
        let hour = super::two_digits(text, 7)?;
        if hour > 23 || text[9] != b':' || text[12] != b':' || text[15] != b' ' {
            return None;
        }
        let offset = self.bsd.offset;
        let secs = self.day.wall + i64::from(hour) * 3600 - i64::from(offset);
        self.is_steady(&Stamp { secs, usec: 0, offset }).then(|| self.bsd.secs = secs)
    }

    fn is_steady(&mut self, hour: &Stamp) -> bool {
        [hour.secs - STEADY, hour.secs + STEADY].iter().all(|secs| self.zone.offset_at(*secs) == hour.offset)
    }

    /// An ISO stamp with a zone and a blank after it: RFC 5424 section 6.2.3. The bytes it takes, without the
    /// blank.
    #[inline(always)]
    pub(crate) fn iso(&mut self, text: &[u8]) -> Option<(Stamp, usize)> {
        let head = text.first_chunk::<20>()?;
        let (day, hour) = (load8(head, 0)?, load8(head, 8)?);
        if [day, hour & BUT_ISO_TIME] != self.iso.head {
            self.learn_iso(text, [day, hour & BUT_ISO_TIME])?;
        }
        let wall = self.iso.secs + sixty(hour >> 48)? * 60 + sixty(load8(head, 12)? >> 40)?;
        if head[16] != b':' {
            return None;
        }
        let mut at = 19;
        let mut usec = 0;
        if head[19] == b'.' {
            let (digits, value) = digits8(load8(text, 20)?);
            if digits == 0 || digits == 8 {
                return None;
            }
            usec = (value / 100) as u32;
            at = 20 + digits;
        }
        let zone = load8(text, at)?;
        let offset = if zone & 0xffff == u64::from_le_bytes(*b"Z \0\0\0\0\0\0") {
            at += 1;
            0
        } else {
            if zone & ZONE != self.iso.zone {
                self.learn_zone(text, at, zone)?;
            }
            at += 6;
            self.iso.offset
        };
        Some((Stamp { secs: wall - i64::from(offset), usec, offset }, at))
    }

    #[inline(never)]
    fn learn_iso(&mut self, text: &[u8], head: [u64; 2]) -> Option<()> {
        if self.guess_zone {
            return None;
        }
        let wall = Civil { min: 0, sec: 0, ..super::parse_iso(text)?.wall };
        (self.iso.head, self.iso.secs) = (head, wall.seconds());
        Some(())
    }

    #[inline(never)]
    fn learn_zone(&mut self, text: &[u8], at: usize, zone: u64) -> Option<()> {
        let mut end = at;
        let offset = super::zone(text, &mut end)?;
        if end != at + 6 || text.get(end) != Some(&b' ') {
            return None;
        }
        (self.iso.zone, self.iso.offset) = (zone & ZONE, offset);
        Some(())
    }
}

/// The value of two digits, the first one lowest; `None` for others and from 60 on.
#[inline(always)]
fn sixty(digits: u64) -> Option<i64> {
    let tens = (digits & 0xff).wrapping_sub(u64::from(b'0'));
    let ones = (digits >> 8 & 0xff).wrapping_sub(u64::from(b'0'));
    (tens <= 5 && ones <= 9).then(|| (tens * 10 + ones) as i64)
}

/// The year of a stamp without one: this year, but around New Year the one that makes the stamp close to
/// `now` (year, month).
fn guess_year(month: u8, now: (i32, u8)) -> i32 {
    match (month, now) {
        (12, (year, 1)) => year - 1,
        (1, (year, 12)) => year + 1,
        (_, (year, _)) => year,
    }
}
