//! A format of strptime, compiled.

/// Digits of `%s` that `date-parser()` takes.
const EPOCH_DIGITS_MAX: usize = 12;

/// One step of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Literal(u8),
    /// Any number of blanks, none included.
    Blank,
    Number(Number),
    Weekday,
    Month,
    AmPm,
    /// `+hhmm`, `+hh:mm`, `+hh`, `Z`, or a name.
    Zone,
    Fraction,
    /// The same, with a dot before it or not at all.
    AnyFraction,
    /// A zone, or nothing.
    AnyZone,
    /// Seconds since 1970, with so many digits at most.
    Epoch(usize),
}

/// What a number means; digits and bounds are in [`Number::bounds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Century,
    Year,
    YearOfCentury,
    Month,
    Day,
    DayOfYear,
    Hour,
    Hour12,
    Minute,
    Second,
    /// The week of the year; the first one begins with the first such weekday, 0 being Sunday.
    Week(u8),
    /// 0 to 6 from Sunday on.
    Weekday,
    /// 1 to 7 from Monday on.
    WeekdayFromMonday,
    /// Read and not used, up to so many digits and this bound: weeks of ISO 8601 and their years.
    Ignored(u8, u16),
}

impl Number {
    /// Most digits, smallest and largest value.
    pub fn bounds(self) -> (u8, u16, u16) {
        match self {
            Number::Century => (2, 0, 99),
            Number::Year => (4, 0, 9999),
            Number::YearOfCentury => (2, 0, 99),
            Number::Month => (2, 1, 12),
            Number::Day => (2, 1, 31),
            Number::DayOfYear => (3, 1, 366),
            Number::Hour => (2, 0, 23),
            Number::Hour12 => (2, 1, 12),
            Number::Minute => (2, 0, 59),
            Number::Second => (2, 0, 61),
            Number::Week(_) => (2, 0, 53),
            Number::Weekday => (1, 0, 6),
            Number::WeekdayFromMonday => (1, 1, 7),
            Number::Ignored(digits, max) => (digits, 0, max),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Format {
    pub items: Vec<Item>,
}

impl Format {
    /// As FilterX reads: a fraction may be missing or have a dot before it, the zone of `%Z` may be
    /// missing, and `%s` takes all digits there are.
    pub fn lenient(text: &str) -> Result<Format, String> {
        let mut format = Format::compile(text)?;
        // Each conversion of a zone made one such item, in order.
        let mut letters = text.split('%').skip(1).filter_map(|part| part.chars().next());
        for item in &mut format.items {
            match item {
                Item::Fraction => *item = Item::AnyFraction,
                Item::Epoch(_) => *item = Item::Epoch(usize::MAX),
                Item::Zone if letters.by_ref().find(|c| matches!(c, 'z' | 'Z')) == Some('Z') => {
                    *item = Item::AnyZone;
                }
                _ => {}
            }
        }
        Ok(format)
    }

    pub fn compile(text: &str) -> Result<Format, String> {
        let mut items = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            match byte {
                b'%' => {
                    let mut letter = bytes.next();
                    // The modifiers ask for other forms of a locale, which are the same here.
                    while matches!(letter, Some(b'E' | b'O')) {
                        letter = bytes.next();
                    }
                    let Some(letter) = letter else {
                        return Err(format!("the format `{text}` ends within a conversion"));
                    };
                    conversion(letter, &mut items)
                        .ok_or_else(|| format!("unknown conversion `%{}` in a format", char::from(letter)))?;
                }
                b if b.is_ascii_whitespace() => items.push(Item::Blank),
                b => items.push(Item::Literal(b)),
            }
        }
        Ok(Format { items })
    }
}

fn conversion(letter: u8, items: &mut Vec<Item>) -> Option<()> {
    let several: &[u8] = match letter {
        b'c' => b"a b d T Y",
        b'D' | b'x' => b"m/d/y",
        b'F' => b"Y-m-d",
        b'R' => b"H:M",
        b'r' => b"I:M:S p",
        b'T' | b'X' => b"H:M:S",
        _ => b"",
    };
    for part in several {
        match part {
            b' ' => items.push(Item::Blank),
            b'-' | b'/' | b':' => items.push(Item::Literal(*part)),
            letter => conversion(*letter, items)?,
        }
    }
    if !several.is_empty() {
        return Some(());
    }
    // As in syslog-ng, blanks may stand before the offset of `%z`.
    if letter == b'z' {
        items.push(Item::Blank);
    }
    items.push(match letter {
        b'%' => Item::Literal(b'%'),
        b'a' | b'A' => Item::Weekday,
        b'b' | b'B' | b'h' => Item::Month,
        b'C' => Item::Number(Number::Century),
        b'd' | b'e' => Item::Number(Number::Day),
        b'f' => Item::Fraction,
        b'g' => Item::Number(Number::Ignored(2, 99)),
        b'G' => Item::Number(Number::Ignored(4, 9999)),
        b'H' | b'k' => Item::Number(Number::Hour),
        b'I' | b'l' => Item::Number(Number::Hour12),
        b'j' => Item::Number(Number::DayOfYear),
        b'M' => Item::Number(Number::Minute),
        b'm' => Item::Number(Number::Month),
        b'n' | b't' => Item::Blank,
        b'p' => Item::AmPm,
        b'S' => Item::Number(Number::Second),
        b's' => Item::Epoch(EPOCH_DIGITS_MAX),
        b'U' => Item::Number(Number::Week(0)),
        b'u' => Item::Number(Number::WeekdayFromMonday),
        b'V' => Item::Number(Number::Ignored(2, 53)),
        b'W' => Item::Number(Number::Week(1)),
        b'w' => Item::Number(Number::Weekday),
        b'Y' => Item::Number(Number::Year),
        b'y' => Item::Number(Number::YearOfCentury),
        // As in syslog-ng, each takes offsets and names.
        b'Z' | b'z' => Item::Zone,
        _ => return None,
    });
    Some(())
}
