//! A point in time with the offset it is shown in.

/// Where the offset of a time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZoneSource {
    /// The text did not say it: the local zone.
    #[default]
    Assumed,
    Parsed,
    Guessed,
    /// Set by the configuration.
    Fixed,
}

impl ZoneSource {
    pub fn name(self) -> &'static str {
        match self {
            ZoneSource::Assumed => "assumed",
            ZoneSource::Parsed => "parsed",
            ZoneSource::Guessed => "guessed",
            ZoneSource::Fixed => "fixed",
        }
    }
}

/// An offset and where it comes from, in the four bytes that a value has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset(i32);

impl Offset {
    /// Seconds east of UTC: within a day.
    pub fn new(seconds: i32, source: ZoneSource) -> Offset {
        Offset(seconds << 2 | source as i32)
    }

    pub fn seconds(self) -> i32 {
        self.0 >> 2
    }

    pub fn source(self) -> ZoneSource {
        match self.0 & 3 {
            0 => ZoneSource::Assumed,
            1 => ZoneSource::Parsed,
            2 => ZoneSource::Guessed,
            _ => ZoneSource::Fixed,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since 1970.
    pub micros: i64,
    /// Seconds east of UTC.
    pub offset: i32,
    pub source: ZoneSource,
}

impl Moment {
    /// Appends `1500000000.123456`.
    pub fn put(self, out: &mut Vec<u8>) {
        if self.micros < 0 {
            out.push(b'-');
        }
        let whole = self.micros.unsigned_abs();
        crate::number::put_unsigned(whole / 1_000_000, out);
        out.push(b'.');
        let mut rest = whole % 1_000_000;
        let mut digits = [b'0'; 6];
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.extend_from_slice(&digits);
    }

    /// Appends `+HH:MM`.
    pub fn put_offset(self, out: &mut Vec<u8>) {
        out.push(if self.offset < 0 { b'-' } else { b'+' });
        let minutes = self.offset.unsigned_abs() / 60;
        for part in [minutes / 60, minutes % 60] {
            out.extend_from_slice(&[b'0' + (part / 10 % 10) as u8, b'0' + (part % 10) as u8]);
            if part == minutes / 60
                && out.last_chunk::<3>().is_some_and(|[sign, _, _]| matches!(sign, b'+' | b'-'))
            {
                out.push(b':');
            }
        }
    }

    /// Reads `1500000000.123456+01:00`, with as few digits of the second as there are; without an
    /// offset it is UTC.
    pub fn read(text: &[u8]) -> Option<Moment> {
        let text = std::str::from_utf8(text).ok()?;
        let zone = text.get(1..)?.find(['+', '-']).map(|at| at + 1);
        let (number, zone) = text.split_at(zone.unwrap_or(text.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let secs: i64 = whole.parse().ok()?;
        let usec: i64 = format!("{fraction:0<6}").get(..6)?.parse().ok()?;
        let micros = secs.checked_mul(1_000_000)?;
        let micros =
            if whole.starts_with('-') { micros.checked_sub(usec)? } else { micros.checked_add(usec)? };
        let offset = match zone.split_at_checked(1) {
            Some((sign, rest)) => {
                let (hours, minutes) = rest.split_once(':')?;
                let number = |text: &str| {
                    let is_number = text.len() <= 2 && text.bytes().all(|b| b.is_ascii_digit());
                    text.parse::<i32>().ok().filter(|_| is_number)
                };
                let secs = number(hours)? * 3600 + number(minutes)? * 60;
                if sign == "-" { -secs } else { secs }
            }
            None => 0,
        };
        (offset.abs() < 86_400).then_some(Moment { micros, offset, source: ZoneSource::Parsed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, micros: i64, offset: i32) {
        let at = Moment::read(text.as_bytes()).expect(text);
        assert_eq!((at.micros, at.offset), (micros, offset), "{text}");
        let mut out = Vec::new();
        at.put(&mut out);
        at.put_offset(&mut out);
        assert_eq!(String::from_utf8_lossy(&out), text);
    }

    #[test]
    fn offsets_keep_where_they_come_from() {
        for source in [ZoneSource::Assumed, ZoneSource::Parsed, ZoneSource::Guessed, ZoneSource::Fixed] {
            for seconds in [0, 1, -1, 86_399, -86_399] {
                let offset = Offset::new(seconds, source);
                assert_eq!((offset.seconds(), offset.source()), (seconds, source));
            }
        }
    }

    #[test]
    fn times_are_printed_and_read_back() {
        check("1500000000.123456+01:00", 1_500_000_000_123_456, 3600);
        check("0.000001-05:30", 1, -19_800);
        check("-1.500000+00:00", -1_500_000, 0);
        assert!(
            Moment::read(b"").is_none()
                && Moment::read(b"x").is_none()
                && Moment::read(b"1.2+99:00").is_none()
                && Moment::read(b"1.2+1:99999999").is_none()
                && Moment::read(b"1.2+1:-5").is_none()
        );
    }
}
