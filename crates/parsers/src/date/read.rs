//! Reads a text by a format, and completes what the text does not say.

use super::format::{Format, Item, Number};
use record::{Civil, DAY_NAMES, MONTH_NAMES};

/// What a text says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    pub year: Option<i32>,
    century: Option<i32>,
    year_of_century: Option<i32>,
    month: Option<u8>,
    day: Option<u8>,
    day_of_year: Option<u16>,
    /// The week, and the weekday with which weeks begin.
    week: Option<(u8, u8)>,
    /// From Sunday on.
    weekday: Option<u8>,
    hour: Option<u8>,
    pm: Option<bool>,
    minute: u8,
    second: u8,
    pub usec: u32,
    pub epoch: Option<i64>,
    /// Seconds east of UTC.
    pub offset: Option<i32>,
}

/// Abbreviations that the time zone database does not have as zones, in hours.
const ZONES: [(&[u8], i32); 7] =
    [(b"UT", 0), (b"EDT", -4), (b"CDT", -5), (b"CST", -6), (b"MDT", -6), (b"PDT", -7), (b"PST", -8)];
/// Years of two digits from this one on are of the last century, as in POSIX.
const CENTURY_TURN: i32 = 69;

impl Format {
    /// `None` unless the whole text fits. `named` gives the offset of a zone by its name.
    pub fn read(
        &self,
        text: &[u8],
        now: i64,
        named: &mut dyn FnMut(&[u8], i64) -> Option<i32>,
    ) -> Option<Fields> {
        let (fields, rest) = self.begin(text, now, named)?;
        rest.is_empty().then_some(fields)
    }

    /// The same for the beginning of a text, with what is left of it.
    pub fn begin<'a>(
        &self,
        text: &'a [u8],
        now: i64,
        named: &mut dyn FnMut(&[u8], i64) -> Option<i32>,
    ) -> Option<(Fields, &'a [u8])> {
        let mut fields = Fields::default();
        let mut rest = text;
        for item in &self.items {
            rest = fields.item(*item, rest, now, named)?;
        }
        Some((fields, rest))
    }
}

impl Fields {
    fn item<'a>(
        &mut self,
        item: Item,
        text: &'a [u8],
        now: i64,
        named: &mut dyn FnMut(&[u8], i64) -> Option<i32>,
    ) -> Option<&'a [u8]> {
        match item {
            Item::Literal(byte) => text.strip_prefix(&[byte]),
            Item::Blank => Some(text.trim_ascii_start()),
            Item::Number(number) => self.number(number, text),
            Item::Weekday => {
                let (weekday, rest) = word(text, &DAY_NAMES)?;
                self.weekday = Some(weekday as u8);
                Some(rest)
            }
            Item::Month => {
                let (month, rest) = word(text, &MONTH_NAMES)?;
                self.month = Some(month as u8 + 1);
                Some(rest)
            }
            Item::AmPm => {
                let (half, rest) = text.split_at_checked(2)?;
                self.pm = Some(half.eq_ignore_ascii_case(b"PM"));
                (self.pm == Some(true) || half.eq_ignore_ascii_case(b"AM")).then_some(rest)
            }
            Item::Zone => self.read_offset(text).or_else(|| {
                let end = text.iter().position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_')));
                let (name, rest) = text.split_at_checked(end.unwrap_or(text.len()))?;
                let known = ZONES.iter().find(|(n, _)| *n == name).map(|(_, hours)| hours * 3600);
                self.offset = Some(known.or_else(|| military(name)).or_else(|| named(name, now))?);
                Some(rest)
            }),
            Item::Fraction => {
                let (digits, rest) = digits(text, usize::MAX)?;
                // Microseconds; what is finer is left out.
                let value = |at: usize| digits.get(at).map_or(0, |b| u32::from(b - b'0'));
                self.usec = (0..6).fold(0, |usec, at| usec * 10 + value(at));
                Some(rest)
            }
            Item::AnyFraction => {
                let dotted =
                    text.strip_prefix(b".").filter(|rest| rest.first().is_some_and(u8::is_ascii_digit));
                self.item(Item::Fraction, dotted.unwrap_or(text), now, named).or(Some(text))
            }
            Item::AnyZone => self.item(Item::Zone, text, now, named).or(Some(text)),
            Item::Epoch(most) => {
                let (digits, rest) = digits(text, most)?;
                let secs: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
                // Microseconds of it have to fit.
                self.epoch = Some(secs).filter(|secs| *secs < i64::MAX / 1_000_000);
                self.epoch.map(|_| rest)
            }
        }
    }

    fn number<'a>(&mut self, number: Number, text: &'a [u8]) -> Option<&'a [u8]> {
        let (most, min, max) = number.bounds();
        // As in syslog-ng, no digit is taken that would leave the range for sure: `930` is 9:30 by `%H%M`.
        let (mut value, mut rest) = (0u16, text);
        for taken in 0..most {
            let [digit @ b'0'..=b'9', after @ ..] = rest else { break };
            if taken > 0 && value * 10 > max {
                break;
            }
            (value, rest) = (value * 10 + u16::from(digit - b'0'), after);
        }
        if rest.len() == text.len() || !(min..=max).contains(&value) {
            return None;
        }
        let small = value as u8;
        match number {
            Number::Century => self.century = Some(i32::from(value)),
            Number::Year => self.year = Some(i32::from(value)),
            Number::YearOfCentury => self.year_of_century = Some(i32::from(value)),
            Number::Month => self.month = Some(small),
            Number::Day => self.day = Some(small),
            Number::DayOfYear => self.day_of_year = Some(value),
            Number::Hour => (self.hour, self.pm) = (Some(small), None),
            Number::Hour12 => self.hour = Some(small),
            Number::Minute => self.minute = small,
            Number::Second => self.second = small,
            Number::Week(begins) => self.week = Some((small, begins)),
            Number::Weekday | Number::WeekdayFromMonday => self.weekday = Some(small % 7),
            Number::Ignored(..) => {}
        }
        Some(rest)
    }

    fn read_offset<'a>(&mut self, text: &'a [u8]) -> Option<&'a [u8]> {
        if let Some(rest) = text.strip_prefix(b"Z") {
            self.offset = Some(0);
            return Some(rest);
        }
        let (sign, rest) = match text.split_first()? {
            (b'+', rest) => (1, rest),
            (b'-', rest) => (-1, rest),
            _ => return None,
        };
        let pair = |text: &'a [u8]| match digits(text, 2)? {
            (two @ [_, _], rest) => Some((i32::from(two[0] - b'0') * 10 + i32::from(two[1] - b'0'), rest)),
            _ => None,
        };
        // `+5:30` is there too.
        let short = || match rest {
            [hour @ b'0'..=b'9', after @ ..] if after.first() == Some(&b':') => {
                Some((i32::from(hour - b'0'), after))
            }
            _ => None,
        };
        let (hours, rest) = pair(rest).or_else(short)?;
        let (minutes, rest) = match rest.strip_prefix(b":") {
            Some(after) => pair(after)?,
            None => pair(rest).unwrap_or((0, rest)),
        };
        self.offset = Some(sign * (hours * 3600 + minutes * 60));
        (hours <= 23 && minutes <= 59).then_some(rest)
    }

    fn said_year(&self) -> Option<i32> {
        match (self.year, self.century, self.year_of_century) {
            (Some(year), _, _) => Some(year),
            (None, Some(century), two) => Some(century * 100 + two.unwrap_or(0)),
            (None, None, Some(two)) => Some(if two >= CENTURY_TURN { 1900 + two } else { 2000 + two }),
            (None, None, None) => None,
        }
    }

    /// Days from the first of the year to a date that is said by its week; without a weekday, to the week's
    /// first day. As in syslog-ng a Sunday stands before the Monday that begins its week.
    fn day_by_week(&self) -> Option<i64> {
        let (Some(year), Some((week, begins))) = (self.said_year(), self.week) else { return None };
        if self.month.is_some() && self.day.is_some() {
            return None;
        }
        let first = Civil { year, month: 1, day: 1, hour: 0, min: 0, sec: 0 }.weekday();
        let first_week = (7 + i64::from(begins) - i64::from(first)) % 7;
        let in_week = i64::from(self.weekday.unwrap_or(begins)) - i64::from(begins);
        Some(first_week + (i64::from(week) - 1) * 7 + in_week)
    }

    /// The wall clock time; a date that is not said is today's, a year the nearest, a time midnight. A day
    /// that its month does not have is counted on into the next.
    pub fn complete(&self, today: &Civil) -> Civil {
        let year = self.said_year();
        let hour = match (self.hour, self.pm) {
            (Some(hour), Some(pm)) => hour % 12 + if pm { 12 } else { 0 },
            (hour, _) => hour.unwrap_or(0),
        };
        let mut wall = Civil {
            year: year.unwrap_or(today.year),
            month: 1,
            day: 1,
            hour,
            min: self.minute,
            sec: self.second,
        };
        if let Some(days) = self.day_of_year.map(|day| i64::from(day) - 1).or_else(|| self.day_by_week()) {
            let first = Civil { hour: 0, min: 0, sec: 0, ..wall };
            let date = Civil::from_seconds(first.seconds() + days * 86_400);
            return Civil { year: date.year, month: date.month, day: date.day, ..wall };
        }
        let said = year.is_some() || self.day.is_some();
        wall.month = self.month.unwrap_or(if said { 1 } else { today.month });
        wall.day = self.day.unwrap_or(if self.month.is_some() || year.is_some() { 1 } else { today.day });
        if year.is_none() {
            match (wall.month, today.month) {
                (12, 1) => wall.year -= 1,
                (1, 12) => wall.year += 1,
                _ => {}
            }
        }
        wall
    }
}

/// A zone of one letter. East is where west should be, as in RFC 822 and in syslog-ng.
fn military(name: &[u8]) -> Option<i32> {
    let hours = match name {
        [letter @ b'A'..=b'I'] => -i32::from(letter - b'A' + 1),
        [letter @ b'K'..=b'M'] => -i32::from(letter - b'A'),
        [letter @ b'N'..=b'Y'] => i32::from(letter - b'N' + 1),
        _ => return None,
    };
    Some(hours * 3600)
}

/// One to `most` digits.
fn digits(text: &[u8], most: usize) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

/// A name in full or its first three letters, in any case.
fn word<'a>(text: &'a [u8], names: &[&str]) -> Option<(usize, &'a [u8])> {
    let begins = |name: &[u8]| text.get(..name.len()).is_some_and(|t| t.eq_ignore_ascii_case(name));
    for (index, name) in names.iter().enumerate() {
        let name = name.as_bytes();
        for form in [name, name.get(..3).unwrap_or(name)] {
            if begins(form) {
                return Some((index, text.get(form.len()..).unwrap_or_default()));
            }
        }
    }
    None
}
