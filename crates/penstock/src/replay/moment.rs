//! Moments as people write them: `2h` ago, `@1791756855`, `2026-11-24 08:00`, `2026-11-24T08:00:00Z`.

use record::{Civil, Stamp, Zone, ZoneCursor};
use stdio::CommandError;

/// Microseconds since 1970.
pub fn micros(text: &str) -> Result<i64, CommandError> {
    let now = Stamp::now(0).secs;
    let seconds = ago(text, now).or_else(|| at(text)).or_else(|| civil(text));
    Ok(seconds.and_then(|seconds| seconds.checked_mul(1_000_000)).ok_or_else(|| {
        format!("`{text}` is no time: write 90s, 30m, 2h or 1d for ago, @SECONDS since 1970, or as 2026-11-24 08:00")
    })?)
}

/// As `2026-11-24 08:00:00`, in the zone of this machine.
pub fn shown(micros: i64) -> String {
    let seconds = micros.div_euclid(1_000_000);
    let at = Civil::from_seconds(seconds.saturating_add(i64::from(Zone::local().offset_at(seconds))));
    let Civil { year, month, day, hour, min, sec } = at;
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{min:02}:{sec:02}")
}

fn ago(text: &str, now: i64) -> Option<i64> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return None,
    };
    now.checked_sub(number.parse::<i64>().ok()?.checked_mul(seconds)?)
}

fn at(text: &str) -> Option<i64> {
    text.strip_prefix('@')?.parse().ok()
}

fn civil(text: &str) -> Option<i64> {
    let (text, is_utc) = text.strip_suffix('Z').map_or((text, false), |text| (text, true));
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let mut date = date.splitn(3, '-');
    let mut time = time.splitn(3, ':');
    let part = |of: &mut std::str::SplitN<'_, char>| of.next()?.parse::<u8>().ok();
    let year = date.next()?.parse::<i32>().ok()?;
    let (month, day) = (part(&mut date)?, part(&mut date)?);
    let (hour, min) = (part(&mut time)?, part(&mut time)?);
    let sec = time.next().map_or(Some(0), |sec| sec.parse().ok())?;
    let wall = Civil { year, month, day, hour, min, sec };
    if !wall.is_valid() {
        return None;
    }
    match is_utc {
        true => Some(wall.seconds()),
        false => Some(ZoneCursor::new(Zone::local()).resolve(&wall, 0).secs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let utc = |text: &str| civil(text).expect(text);
        assert_eq!((utc("1970-01-02T00:00:01Z"), utc("1970-01-01 01:00Z")), (86_401, 3600));
        assert_eq!(micros("@5"), Ok(5_000_000));
        assert_eq!((ago("2h", 10_000), ago("90s", 100), ago("1d", 86_400)), (Some(2800), Some(10), Some(0)));
        for wrong in [
            "",
            "h",
            "2w",
            "@x",
            "2026-13-01 00:00",
            "2026-01-01 25:00",
            "soon",
            "2026-11",
            "ü",
            "9999999999999999999d",
        ] {
            assert!(micros(wrong).is_err(), "{wrong}");
        }
        let now = Stamp::now(0).secs;
        assert_eq!(micros(&shown(now * 1_000_000)), Ok(now * 1_000_000));
    }
}
