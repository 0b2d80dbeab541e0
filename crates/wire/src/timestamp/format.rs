//! Writes time stamps in the four forms of `ts-format()`, remembering the last second.

use super::MONTHS;
use record::{Civil, Stamp};

/// The forms of `ts-format()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimeFormat {
    /// `Mmm dd hh:mm:ss`
    #[default]
    Bsd,
    /// `yyyy-mm-ddThh:mm:ss+hh:mm`, RFC 3339; UTC is `+00:00`.
    Iso,
    /// `yyyy Mmm dd hh:mm:ss`
    Full,
    /// Seconds since 1970.
    Unix,
}

impl TimeFormat {
    /// The form of a name `ts-format()` takes.
    pub fn named(name: &str) -> Option<TimeFormat> {
        Some(match name {
            "rfc3164" | "bsd" => TimeFormat::Bsd,
            "rfc3339" | "iso" => TimeFormat::Iso,
            "full" => TimeFormat::Full,
            "unix" | "utc" => TimeFormat::Unix,
            _ => return None,
        })
    }
}

/// Digits after the point: a stamp has six, the rest are zeros.
pub const FRAC_DIGITS_MAX: u8 = 9;

/// Writes stamps in one form. Keeps the text of the last second, so most stamps cost one copy.
#[derive(Clone, Debug)]
pub struct StampFormatter {
    format: TimeFormat,
    frac_digits: u8,
    secs: i64,
    offset: i32,
    text: [u8; TEXT_MAX],
    /// The text is `text[..head]`, a fraction, `text[head..end]`.
    head: usize,
    end: usize,
}

/// Room for a year of up to eleven characters, a time and a zone.
const TEXT_MAX: usize = 48;

impl StampFormatter {
    /// `frac_digits` above [`FRAC_DIGITS_MAX`] count as that.
    pub fn new(format: TimeFormat, frac_digits: u8) -> StampFormatter {
        let mut formatter = StampFormatter {
            format,
            frac_digits: frac_digits.min(FRAC_DIGITS_MAX),
            secs: 0,
            offset: 0,
            text: [0; TEXT_MAX],
            head: 0,
            end: 0,
        };
        formatter.fill(0, 0);
        formatter
    }

    /// Appends the stamp as a clock `offset` seconds east of UTC shows it.
    #[inline]
    pub fn append(&mut self, out: &mut Vec<u8>, stamp: &Stamp, offset: i32) {
        if self.secs != stamp.secs || self.offset != offset {
            self.fill(stamp.secs, offset);
        }
        if self.frac_digits == 0 {
            out.extend_from_slice(self.text.get(..self.end).unwrap_or_default());
            return;
        }
        out.extend_from_slice(self.text.get(..self.head).unwrap_or_default());
        append_fraction(out, stamp.usec, self.frac_digits);
        out.extend_from_slice(self.text.get(self.head..self.end).unwrap_or_default());
    }

    #[inline(never)]
    fn fill(&mut self, secs: i64, offset: i32) {
        (self.secs, self.offset) = (secs, offset);
        let civil = Civil::from_seconds(secs.saturating_add(i64::from(offset)));
        let mut text = Text { bytes: &mut self.text, len: 0 };
        match self.format {
            TimeFormat::Unix => text.number(secs, 1),
            TimeFormat::Bsd => text.bsd(&civil),
            TimeFormat::Full => {
                text.number(i64::from(civil.year), 4);
                text.push(b" ");
                text.bsd(&civil);
            }
            TimeFormat::Iso => {
                text.number(i64::from(civil.year), 4);
                text.push(b"-");
                text.number(i64::from(civil.month), 2);
                text.push(b"-");
                text.number(i64::from(civil.day), 2);
                text.push(b"T");
                text.time(&civil);
            }
        }
        self.head = text.len;
        if self.format == TimeFormat::Iso {
            text.push(&zone_text(offset));
        }
        self.end = text.len;
    }
}

/// `.` and the first `digits` digits of the fraction; nothing for no digits.
pub fn append_fraction(out: &mut Vec<u8>, usec: u32, digits: u8) {
    if digits == 0 {
        return;
    }
    let mut text = *b".000000000";
    let mut rest = usec;
    for at in (1..=6).rev() {
        text[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(text.get(..=usize::from(digits.min(FRAC_DIGITS_MAX))).unwrap_or_default());
}

/// `±hh:mm`; UTC is `+00:00`.
pub fn zone_text(offset: i32) -> [u8; 6] {
    let minutes = offset.unsigned_abs() / 60;
    let digit = |value: u32| b'0' + (value % 10) as u8;
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let sign = if offset < 0 { b'-' } else { b'+' };
    [sign, digit(hours / 10), digit(hours), b':', digit(minutes / 10), digit(minutes)]
}

/// Writes into a fixed buffer; what does not fit is left out (it always fits, see [`TEXT_MAX`]).
struct Text<'a> {
    bytes: &'a mut [u8; TEXT_MAX],
    len: usize,
}

impl Text<'_> {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    fn number(&mut self, value: i64, width: usize) {
        let mut digits = [b'0'; 20];
        let (mut rest, mut at) = (value.unsigned_abs(), digits.len());
        while rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        if value < 0 {
            self.push(b"-");
        }
        let at = at.min(digits.len() - width);
        self.push(digits.get(at..).unwrap_or_default());
    }

    fn bsd(&mut self, civil: &Civil) {
        self.push(MONTHS.get(usize::from(civil.month).wrapping_sub(1)).unwrap_or(b"???"));
        self.push(if civil.day < 10 { b"  " } else { b" " });
        self.number(i64::from(civil.day), 1);
        self.push(b" ");
        self.time(civil);
    }

    fn time(&mut self, civil: &Civil) {
        self.number(i64::from(civil.hour), 2);
        self.push(b":");
        self.number(i64::from(civil.min), 2);
        self.push(b":");
        self.number(i64::from(civil.sec), 2);
    }
}
