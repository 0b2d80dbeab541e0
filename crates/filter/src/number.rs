//! Numbers of type-aware comparisons: whole where they are whole, else floating point; what is no number
//! equals nothing.

use record::{ValueType, datetime_seconds};
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    pub const NAN: Number = Number::Double(f64::NAN);

    /// `None` when one of them is no number.
    pub fn compare(self, other: Number) -> Option<Ordering> {
        match (self, other) {
            (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
            (a, b) => a.double().partial_cmp(&b.double()),
        }
    }

    fn double(self) -> f64 {
        match self {
            Number::Int(n) => n as f64,
            Number::Double(d) => d,
        }
    }

    /// What a value of a type is as a number.
    pub fn of(bytes: &[u8], kind: ValueType) -> Number {
        match kind {
            ValueType::Null => Number::Int(0),
            ValueType::Boolean => match bytes.first() {
                Some(b'T' | b't' | b'1') => Number::Int(1),
                // What is no truth value is false.
                _ => Number::Int(0),
            },
            ValueType::DateTime => milliseconds(bytes),
            ValueType::Json | ValueType::List | ValueType::Bytes | ValueType::Protobuf => Number::NAN,
            ValueType::String | ValueType::Int | ValueType::Double => {
                Number::parse(bytes).unwrap_or(Number::NAN)
            }
        }
    }

    /// Decimal or 0x hexadecimal whole numbers, decimal fractions, `inf` and `infinity`; blanks before them
    /// are skipped, nothing may follow.
    pub fn parse(bytes: &[u8]) -> Option<Number> {
        let text = std::str::from_utf8(bytes.trim_ascii_start()).ok()?;
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            let value = i64::from_str_radix(hex.strip_prefix(['+', '-']).map_or(hex, |_| ""), 16).ok()?;
            return Some(Number::Int(if negative { -value } else { value }));
        }
        if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            let infinite = digits.eq_ignore_ascii_case("inf") || digits.eq_ignore_ascii_case("infinity");
            return infinite.then_some(Number::Double(if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }));
        }
        match text.parse::<i64>() {
            Ok(n) => Some(Number::Int(n)),
            Err(_) => text.parse::<f64>().ok().map(Number::Double),
        }
    }

    /// The whole number at the beginning of a text, 0 without one, as the comparisons before version 4.0 read
    /// it.
    pub fn leading(bytes: &[u8]) -> Number {
        let bytes = bytes.trim_ascii_start();
        let (negative, digits) = match bytes.first() {
            Some(b'-') => (true, &bytes[1..]),
            Some(b'+') => (false, &bytes[1..]),
            _ => (false, bytes),
        };
        let mut value = 0i64;
        for b in digits.iter().take_while(|b| b.is_ascii_digit()) {
            value = value.saturating_mul(10).saturating_add(i64::from(b - b'0'));
        }
        Number::Int(if negative { -value } else { value })
    }
}

/// A datetime's text is seconds since 1970 with a fraction, and may have an offset behind them.
fn milliseconds(bytes: &[u8]) -> Number {
    match Number::parse(datetime_seconds(bytes)) {
        Some(Number::Int(secs)) => Number::Int(secs.saturating_mul(1000)),
        Some(Number::Double(secs)) => Number::Double((secs * 1000.0).trunc()),
        None => Number::Int(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_as_numbers() {
        for (text, expected) in [
            ("5", Some(Number::Int(5))),
            ("-5", Some(Number::Int(-5))),
            ("+07", Some(Number::Int(7))),
            ("  1.5", Some(Number::Double(1.5))),
            ("0x10", Some(Number::Int(16))),
            ("-0x10", Some(Number::Int(-16))),
            ("1e3", Some(Number::Double(1000.0))),
            (".5", Some(Number::Double(0.5))),
            ("", None),
            ("5 ", None),
            ("5a", None),
            ("nan", None),
            ("inf", Some(Number::Double(f64::INFINITY))),
            ("-Infinity", Some(Number::Double(f64::NEG_INFINITY))),
            ("info", None),
            ("-", None),
            ("0x", None),
            ("--5", None),
        ] {
            assert_eq!(Number::parse(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn leading_numbers() {
        for (text, expected) in
            [("12abc", 12), (" -3", -3), ("abc", 0), ("", 0), ("99999999999999999999", i64::MAX)]
        {
            assert_eq!(Number::leading(text.as_bytes()), Number::Int(expected), "{text:?}");
        }
    }

    #[test]
    fn types_as_numbers() {
        assert_eq!(Number::of(b"true", ValueType::Boolean), Number::Int(1));
        assert_eq!(Number::of(b"1.5", ValueType::DateTime), Number::Double(1500.0));
        assert_eq!(Number::of(b"1.5+01:00", ValueType::DateTime), Number::Double(1500.0));
        assert_eq!(Number::of(b"2-05:30", ValueType::DateTime), Number::Int(2000));
        assert_eq!(Number::of(b"1.5 +01:00", ValueType::DateTime), Number::Int(0));
        assert_eq!(Number::of(b"", ValueType::Null), Number::Int(0));
        assert_eq!(Number::of(b"1", ValueType::List).compare(Number::Int(1)), None);
    }
}
