//! A point in time with the zone offset it was written in.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970-01-01 UTC, microseconds, and the offset from UTC in seconds of the wall clock it was
/// read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub secs: i64,
    /// 0..=999_999.
    pub usec: u32,
    /// Seconds east of UTC.
    pub offset: i32,
}

impl Stamp {
    /// The present, with the offset given (the caller knows its zone, see [`crate::ZoneCursor`]).
    pub fn now(offset: i32) -> Stamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Stamp { secs: since.as_secs() as i64, usec: since.subsec_micros(), offset }
    }

    /// The same reading of the clock in the zone that makes it `now` (seconds), for a sender that sends at
    /// once but whose zone is not known. `None` when no zone explains the difference: it is a day or more, it
    /// is more than [`GUESS_SLACK`] from a quarter of an hour, or no place has that offset. Such a stamp is
    /// late, and has to stay as it is.
    pub fn in_zone_of_now(self, now: i64) -> Option<Stamp> {
        let late = now.saturating_sub(self.secs);
        if late.unsigned_abs() >= DAY.unsigned_abs() {
            return None;
        }
        let quarters = (late + QUARTER_HOUR / 2).div_euclid(QUARTER_HOUR) * QUARTER_HOUR;
        if (late - quarters).abs() > GUESS_SLACK {
            return None;
        }
        let offset = i64::from(self.offset) - quarters;
        is_in_use(offset).then(|| Stamp { secs: self.secs + quarters, offset: offset as i32, ..self })
    }
}

const DAY: i64 = 86_400;
const QUARTER_HOUR: i64 = 900;
/// Seconds a message may be under way, or its sender's clock be wrong, for its zone to be guessed.
const GUESS_SLACK: i64 = 30;

/// Whether some place has had this offset from UTC since 2000: each whole hour between -12:00 and +14:00, and
/// a few between hours.
fn is_in_use(offset: i64) -> bool {
    /// Hours and minutes.
    const BETWEEN_HOURS: [(i64, i64); 17] = [
        (-9, -30),
        (-4, -30),
        (-3, -30),
        (-2, -30),
        (3, 30),
        (4, 30),
        (5, 30),
        (5, 45),
        (6, 30),
        (8, 30),
        (8, 45),
        (9, 30),
        (9, 45),
        (10, 30),
        (11, 30),
        (12, 45),
        (13, 45),
    ];
    let hours = offset % 3600 == 0 && (-12 * 3600..=14 * 3600).contains(&offset);
    hours || BETWEEN_HOURS.iter().any(|(hours, minutes)| hours * 3600 + minutes * 60 == offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_255_200;

    /// A stamp that is `late` seconds old if its offset is right.
    fn guessed(late: i64, offset: i32) -> Option<(i64, i32)> {
        let stamp = Stamp { secs: NOW - late, usec: 7, offset };
        let new = stamp.in_zone_of_now(NOW)?;
        assert_eq!((new.usec, new.secs + i64::from(new.offset)), (7, stamp.secs + i64::from(offset)));
        Some((NOW - new.secs, new.offset))
    }

    #[test]
    fn a_zone_that_explains_the_difference_is_taken() {
        assert_eq!(guessed(0, 3600), Some((0, 3600)));
        assert_eq!(guessed(3600, 3600), Some((0, 0)));
        assert_eq!(guessed(-3600, 3600), Some((0, 7200)));
        assert_eq!(guessed(8 * 3600 + 30, 0), Some((30, -8 * 3600)));
        assert_eq!(guessed(-(5 * 3600 + 1800 + 29), 0), Some((-29, 5 * 3600 + 1800)));
        assert_eq!(guessed(-14 * 3600, 0), Some((0, 14 * 3600)));
    }

    #[test]
    fn a_late_message_stays_late() {
        for late in
            [31, 60, 25 * 60, 15 * 60 + 31, 3600 - 31, 5 * 3600 + 600, 86_400, 3 * 86_400, i64::MAX / 2]
        {
            assert_eq!((guessed(late, 3600), guessed(-late, 3600)), (None, None), "{late}");
        }
        // A quarter of an hour, but in no place: -00:15, +05:15, -13:00, +15:00.
        for late in [900, -(5 * 3600 + 900), 13 * 3600, -15 * 3600] {
            assert_eq!(guessed(late, 0), None, "{late}");
        }
    }
}
