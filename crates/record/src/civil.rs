//! Calendar arithmetic on the proleptic Gregorian calendar, without zones and without allocation.

/// A wall clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    pub year: i32,
    /// 1..=12.
    pub month: u8,
    /// 1..=31.
    pub day: u8,
    pub hour: u8,
    pub min: u8,
    /// 0..=60 (a leap second is accepted and counted as the following second).
    pub sec: u8,
}

/// English names of the months, January first.
pub const MONTH_NAMES: [&str; 12] = [
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

/// English names of the days, Sunday first as [`Civil::weekday`] counts them.
pub const DAY_NAMES: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days since 1970-01-01 of a date (Howard Hinnant's algorithm).
pub fn days_of(year: i32, month: u8, day: u8) -> i64 {
    let y = i64::from(year) - i64::from(month <= 2);
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let mp = (i64::from(month) + 9) % 12;
    let doy = (153 * mp + 2) / 5 + i64::from(day) - 1;
    let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    era * 146_097 + doe - 719_468
}

impl Civil {
    /// Seconds since 1970-01-01 as if this reading were UTC.
    pub fn seconds(&self) -> i64 {
        days_of(self.year, self.month, self.day) * 86_400
            + i64::from(self.hour) * 3600
            + i64::from(self.min) * 60
            + i64::from(self.sec)
    }

    /// The reading of a clock `secs` seconds after 1970-01-01 00:00.
    pub fn from_seconds(secs: i64) -> Civil {
        let days = secs.div_euclid(86_400);
        let rest = secs.rem_euclid(86_400);
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        Civil {
            year: (yoe + era * 400 + i64::from(month <= 2)) as i32,
            month: month as u8,
            day: (doy - (153 * mp + 2) / 5 + 1) as u8,
            hour: (rest / 3600) as u8,
            min: (rest / 60 % 60) as u8,
            sec: (rest % 60) as u8,
        }
    }

    /// 0 = Sunday .. 6 = Saturday.
    pub fn weekday(&self) -> u8 {
        (days_of(self.year, self.month, self.day) + 4).rem_euclid(7) as u8
    }

    /// 1..=366.
    pub fn day_of_year(&self) -> u16 {
        (days_of(self.year, self.month, self.day) - days_of(self.year, 1, 1) + 1) as u16
    }

    /// Whether month, day and time are in range for the calendar.
    pub fn is_valid(&self) -> bool {
        const DAYS: [u8; 13] = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        (1..=12).contains(&self.month)
            && self.day >= 1
            && DAYS.get(self.month as usize).is_some_and(|d| self.day <= *d)
            && (self.month != 2 || self.day < 29 || leap)
            && self.hour < 24
            && self.min < 60
            && self.sec <= 60
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_over_four_centuries() {
        for day in (-150_000i64..150_000).step_by(37) {
            let secs = day * 86_400 + (day * 7).rem_euclid(86_400);
            let civil = Civil::from_seconds(secs);
            assert!(civil.is_valid(), "{civil:?}");
            assert_eq!(civil.seconds(), secs);
        }
    }

    #[test]
    fn known_days() {
        let d = Civil { year: 2026, month: 11, day: 21, hour: 0, min: 0, sec: 0 };
        assert_eq!((d.weekday(), d.day_of_year(), d.seconds()), (6, 325, 1_795_219_200));
        assert!(!Civil { year: 2025, month: 2, day: 29, ..d }.is_valid());
        assert!(Civil { year: 2024, month: 2, day: 29, ..d }.is_valid());
    }
}
