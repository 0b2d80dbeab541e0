//! Numbers as texts: printed, and read by the rules of the language.

/// Appends a whole number in decimal.
pub fn put_integer(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    put_unsigned(value.unsigned_abs(), out);
}

pub(crate) fn put_unsigned(mut value: u64, out: &mut Vec<u8>) {
    if value < 10 {
        return out.push(b'0' + value as u8);
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends the shortest text that reads back as the same double, with `.0` where it would look like a whole
/// number.
pub fn put_double(value: f64, out: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to memory does not fail.
    let _ = match value {
        v if v.is_nan() => out.write_all(b"NaN"),
        v if v.is_infinite() => out.write_all(if v > 0.0 { b"Infinity" } else { b"-Infinity" }),
        v => write!(out, "{v:?}"),
    };
}

/// A whole number as C's strtoll reads it: blanks, a sign, decimal digits, and nothing behind them. Beyond 64
/// bits it is the nearest there is.
pub fn integer_of(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut value: i64 = 0;
    for digit in digits {
        let digit = i64::from(digit - b'0');
        value = value.saturating_mul(10);
        value = if negative { value.saturating_sub(digit) } else { value.saturating_add(digit) };
    }
    Some(value)
}

/// A double as C's strtod reads it, whole: blanks before it, exponents, hexadecimal, `inf` and `nan`.
pub fn double_of(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?.trim_ascii_start();
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => (-1.0, text.get(1..)?),
        b'+' => (1.0, text.get(1..)?),
        _ => (1.0, text),
    };
    if let Some(hex) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        return hexadecimal(hex).map(|value| sign * value);
    }
    if !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') {
        return None;
    }
    rest.parse::<f64>().ok().map(|value| sign * value)
}

/// `1f.8p3`, behind its `0x`.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(value * 2f64.powi(exponent.checked_sub(places)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        for (text, value) in [
            ("42", Some(42)),
            (" 42", Some(42)),
            ("-7", Some(-7)),
            ("99999999999999999999", Some(i64::MAX)),
            ("-99999999999999999999", Some(i64::MIN)),
            ("42 ", None),
            ("4.5", None),
            ("0x10", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(integer_of(text.as_bytes()), value, "{text}");
        }
    }

    #[test]
    fn doubles() {
        for (text, value) in [("1.5", 1.5), (" -2", -2.0), ("0x10", 16.0), ("1e3", 1000.0), ("0x1.8p1", 3.0)]
        {
            assert_eq!(double_of(text.as_bytes()), Some(value), "{text}");
        }
        assert!(double_of(b"inf").is_some_and(f64::is_infinite));
        assert!(double_of(b"abc").is_none() && double_of(b"1.5 ").is_none() && double_of(b"--1").is_none());
    }

    #[test]
    fn printed() {
        for (value, text) in
            [(7.0, "7.0"), (0.1 + 0.2, "0.30000000000000004"), (-1.5, "-1.5"), (3.25, "3.25")]
        {
            let mut out = Vec::new();
            put_double(value, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), text);
        }
    }
}
