//! What texts say that stand for times and truths, in columns that have types.

use record::{Civil, datetime_seconds};
use wire::timestamp::parse_iso;

const MICROSECONDS: i64 = 1_000_000;
const DAY: i64 = 86_400;

pub fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

/// Since 1970: a number of them, a time of ISO 8601 (one without a zone is of UTC), or a message's datetime.
pub fn microseconds(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number);
    }
    let Some(reading) = parse_iso(text.as_bytes()).filter(|reading| reading.len == text.len()) else {
        return of_datetime(text);
    };
    let seconds = reading.wall.seconds() - i64::from(reading.offset.unwrap_or(0));
    seconds.checked_mul(MICROSECONDS)?.checked_add(i64::from(reading.usec))
}

/// What FilterX writes for a datetime: `1500000000.250000+01:00`.
fn of_datetime(text: &str) -> Option<i64> {
    let seconds = std::str::from_utf8(datetime_seconds(text.as_bytes())).ok()?;
    let (whole, fraction) = seconds.split_once('.')?;
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(6);
    let fraction = digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    let micros = whole.parse::<i64>().ok()?.checked_mul(MICROSECONDS)?;
    if whole.starts_with('-') { micros.checked_sub(fraction) } else { micros.checked_add(fraction) }
}

/// Since 1970: a number of them, or a date.
pub fn days(text: &str) -> Option<i32> {
    if let Ok(number) = text.parse::<i32>() {
        return Some(number);
    }
    let mut parts = text.splitn(3, '-').map(|part| part.parse::<u16>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let date = Civil { year: i32::from(year), month, day, hour: 0, min: 0, sec: 0 };
    let seconds = date.is_valid().then(|| date.seconds())?;
    i32::try_from(seconds.div_euclid(DAY)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_dates() {
        assert_eq!(microseconds("1970-01-02T01:00:00.5+01:00"), Some(86_400_500_000));
        assert_eq!(microseconds("1970-01-02 00:00:00Z"), Some(86_400_000_000));
        assert_eq!((microseconds("17"), microseconds("tomorrow")), (Some(17), None));
        assert_eq!(microseconds("1500000000.250000+01:00"), Some(1_500_000_000_250_000));
        assert_eq!(microseconds("-1.5-05:30"), Some(-1_500_000));
        assert_eq!(
            (microseconds("1.5 s"), microseconds("1.+01:00"), microseconds("1+01:00")),
            (None, None, None)
        );
        assert_eq!((days("1970-02-01"), days("31"), days("1970-02-30")), (Some(31), Some(31), None));
        assert_eq!((truth("Yes"), truth("0"), truth("maybe")), (Some(true), Some(false), None));
    }
}
