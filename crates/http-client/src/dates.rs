//! Dates of HTTP, RFC 9110 section 5.6.7, in the one form that is still to be sent.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`.
pub fn seconds(text: &str) -> Option<i64> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = words.as_slice() else { return None };
    let (day, year): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    let month = MONTHS.iter().position(|name| name == month)? as i64 + 1;
    let clock: Vec<i64> = time.split(':').map_while(|part| part.parse().ok()).collect();
    let [hours, minutes, seconds] = clock.as_slice() else { return None };
    if !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    // Days of the years that begin in March, so that the leap day is the last one.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719_468;
    (0..24).contains(hours).then_some(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
}

/// The other way round.
pub fn imf_fixdate(at: SystemTime) -> String {
    let seconds = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    // Eras of 400 years, from the 1st of March of the year 0 on.
    let z = days + 719_468;
    let (era, day) = (z / 146_097, z % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12);
    let year = era * 400 + year + u64::from(month < 2);
    // The 1st of January 1970 was a Thursday.
    let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"].get(days as usize % 7).unwrap_or(&"");
    let name = MONTHS.get(month as usize).unwrap_or(&"");
    let (hours, minutes, seconds) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{weekday}, {day:02} {name} {year:04} {hours:02}:{minutes:02}:{seconds:02} GMT")
}

/// How long from `now` on: `Retry-After` in seconds or as a date.
pub fn retry_after(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = u64::try_from(seconds(text)?).ok()?;
    Some((UNIX_EPOCH + Duration::from_secs(at)).duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777 - 60);
        let check = |text, expected: Option<u64>| {
            assert_eq!(retry_after(text, now), expected.map(Duration::from_secs), "{text}");
        };
        check("120", Some(120));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(60));
        check("Sat, 05 Nov 1994 08:49:37 GMT", Some(0));
        check("Tue, 29 Feb 2000 00:00:00 GMT", Some(951_782_400 - 784_111_777 + 60));
        check("soon", None);
        check("Sun, 06 Nov 1994 99:49:37 GMT", None);
    }

    #[test]
    fn dates_are_written_as_they_are_read() {
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(imf_fixdate(at(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(imf_fixdate(at(951_782_400)), "Tue, 29 Feb 2000 00:00:00 GMT");
        for days in 0..80_000 {
            let text = imf_fixdate(at(days * 86_400 + 3661));
            assert_eq!(seconds(&text), Some(days as i64 * 86_400 + 3661), "{text}");
        }
    }
}
