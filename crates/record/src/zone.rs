//! Time zones: names or fixed offsets, with a cursor that makes the common case an addition.

use crate::civil::Civil;
use crate::stamp::Stamp;
use std::sync::Arc;

/// A time zone: a fixed offset (`+02:00`) or rules from the system's database (`Europe/Budapest`, local).
#[derive(Clone, Debug)]
pub enum Zone {
    Fixed(i32),
    Rules(Arc<jiff::tz::TimeZone>),
}

impl PartialEq for Zone {
    fn eq(&self, other: &Zone) -> bool {
        match (self, other) {
            (Zone::Fixed(a), Zone::Fixed(b)) => a == b,
            (Zone::Rules(a), Zone::Rules(b)) => Arc::ptr_eq(a, b) || a == b,
            _ => false,
        }
    }
}

impl Zone {
    pub const UTC: Zone = Zone::Fixed(0);

    /// The zone of this machine (`TZ`, else `/etc/localtime`).
    pub fn local() -> Zone {
        Zone::Rules(Arc::new(jiff::tz::TimeZone::system()))
    }

    /// A name of the time zone database, `UTC`, or an offset `+hh:mm`, `-hh:mm`, `+hhmm`. `None` when there
    /// is no such zone.
    pub fn named(text: &str) -> Option<Zone> {
        if let Some(offset) = parse_offset(text) {
            return Some(Zone::Fixed(offset));
        }
        if text == "UTC" || text == "GMT" || text == "Z" {
            return Some(Zone::UTC);
        }
        jiff::tz::TimeZone::get(text).ok().map(|tz| Zone::Rules(Arc::new(tz)))
    }

    /// Seconds east of UTC at a moment.
    pub fn offset_at(&self, secs: i64) -> i32 {
        match self {
            Zone::Fixed(offset) => *offset,
            Zone::Rules(tz) => match jiff::Timestamp::from_second(secs) {
                Ok(at) => tz.to_offset(at).seconds(),
                Err(_) => 0,
            },
        }
    }
}

impl Zone {
    /// The offset that the zone has under an abbreviation, such as CEST, now or after its next change.
    pub fn abbreviated(&self, name: &[u8], now: i64) -> Option<i32> {
        let Zone::Rules(tz) = self else { return None };
        let at = jiff::Timestamp::from_second(now).ok()?;
        let is_it = |abbreviation: &str| abbreviation.as_bytes().eq_ignore_ascii_case(name);
        let info = tz.to_offset_info(at);
        if is_it(info.abbreviation()) {
            return Some(info.offset().seconds());
        }
        let next = tz.following(at).next().filter(|next| is_it(next.abbreviation()));
        next.map(|next| next.offset().seconds())
    }
}

fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes() {
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let digit = |b: u8| b.is_ascii_digit().then(|| i32::from(b - b'0'));
    let (h, m) = match rest {
        [a, b, b':', c, d] | [a, b, c, d] => (digit(*a)? * 10 + digit(*b)?, digit(*c)? * 10 + digit(*d)?),
        [a, b] => (digit(*a)? * 10 + digit(*b)?, 0),
        _ => return None,
    };
    (h <= 23 && m <= 59).then_some(sign * (h * 3600 + m * 60))
}

/// Every change of offset in the time zone database falls on a multiple of 15 minutes UTC since 1972, so an
/// offset holds for its bucket.
const BUCKET_S: i64 = 900;

/// A zone with the last answer remembered. Cheap to keep per worker or per connection; not shared.
#[derive(Clone, Debug)]
pub struct ZoneCursor {
    zone: Zone,
    bucket: i64,
    offset: i32,
    /// Wall clock seconds that all have one offset, and that.
    calm: (i64, i64, i32),
}

/// Where the offset is the same a day before and a day after a wall clock reading, it is that for readings so
/// near to it.
const CALM_S: i64 = 21_600;
const DAY_S: i64 = 86_400;

impl ZoneCursor {
    pub fn new(zone: Zone) -> ZoneCursor {
        let offset = zone.offset_at(0);
        ZoneCursor { zone, bucket: 0, offset, calm: (0, -1, 0) }
    }

    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Seconds east of UTC at a moment.
    #[inline]
    pub fn offset_at(&mut self, secs: i64) -> i32 {
        let bucket = secs.div_euclid(BUCKET_S);
        if bucket != self.bucket {
            self.offset = self.zone.offset_at(secs);
            self.bucket = bucket;
        }
        self.offset
    }

    /// The moment a wall clock reading stands for. A reading that occurs twice means the earlier one; one
    /// that a clock change skips is read with the offset from before the change.
    #[inline]
    pub fn resolve(&mut self, wall: &Civil, usec: u32) -> Stamp {
        let wall_secs = wall.seconds();
        if !(self.calm.0..=self.calm.1).contains(&wall_secs) {
            self.calm = self.calm_at(wall_secs);
        }
        let offset = self.calm.2;
        Stamp { secs: wall_secs - i64::from(offset), usec, offset }
    }

    #[inline(never)]
    fn calm_at(&self, wall_secs: i64) -> (i64, i64, i32) {
        let [before, after] = [-DAY_S, DAY_S].map(|days| self.zone.offset_at(wall_secs.saturating_add(days)));
        if before == after {
            return (wall_secs.saturating_sub(CALM_S), wall_secs.saturating_add(CALM_S), before);
        }
        let holds = |offset: &i32| self.zone.offset_at(wall_secs - i64::from(*offset)) == *offset;
        let offset = [before, after].into_iter().find(holds).unwrap_or(before);
        let bucket = wall_secs.div_euclid(BUCKET_S) * BUCKET_S;
        (bucket, bucket + BUCKET_S - 1, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_names() {
        assert_eq!(Zone::named("+02:00"), Some(Zone::Fixed(7200)));
        assert_eq!(Zone::named("-0330"), Some(Zone::Fixed(-12_600)));
        assert_eq!(Zone::named("No/Such"), None);
        assert_eq!(Zone::named("+99:00"), None);
    }

    #[test]
    fn abbreviations_of_both_halves_of_the_year() {
        let zone = Zone::named("Europe/Budapest").expect("zone database");
        let (january, july) = (1_768_000_000, 1_783_000_000);
        for now in [january, july] {
            assert_eq!(zone.abbreviated(b"CET", now), Some(3600), "{now}");
            assert_eq!(zone.abbreviated(b"cest", now), Some(7200), "{now}");
            assert_eq!(zone.abbreviated(b"EST", now), None, "{now}");
        }
        assert_eq!(Zone::UTC.abbreviated(b"UTC", july), None);
    }

    #[test]
    fn resolves_across_a_clock_change() {
        let mut cursor = ZoneCursor::new(Zone::named("Europe/Budapest").expect("zone database"));
        let wall = |month, day, hour| Civil { year: 2026, month, day, hour, min: 0, sec: 0 };
        assert_eq!(cursor.resolve(&wall(7, 1, 12), 0).offset, 7200);
        assert_eq!(cursor.resolve(&wall(12, 1, 12), 0).offset, 3600);
        for hour in [0, 1, 3, 4] {
            let at = cursor.resolve(&wall(3, 29, hour), 0);
            assert_eq!(at.offset, if hour < 2 { 3600 } else { 7200 }, "hour {hour}");
        }
        // Whatever was read before: of an hour that is there twice the first, of one that is not there what
        // it would have been.
        for month in [1, 7] {
            for (day, expected) in [((10, 25), 7200), ((3, 29), 3600)] {
                cursor.resolve(&wall(month, 1, 12), 0);
                assert_eq!(
                    cursor.offset_at(wall(month, 1, 12).seconds()),
                    if month == 1 { 3600 } else { 7200 }
                );
                let at = cursor.resolve(&wall(day.0, day.1, 2), 0);
                assert_eq!(at.offset, expected, "{day:?} after month {month}");
            }
        }
    }
}
