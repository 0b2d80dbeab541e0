//! JSON numbers as values: whole ones saturate at 64 bits, others are printed with six decimals, as syslog-ng
//! does.

use std::io::Write;

/// A number as it stands in the text.
#[derive(Clone, Copy)]
pub struct Number {
    pub end: usize,
    pub whole: bool,
}

/// The number at `at`; `None` when there is none.
#[inline]
pub fn scan(text: &[u8], at: usize) -> Option<Number> {
    let digits = |mut at: usize| {
        while text.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let start = at + usize::from(text.get(at) == Some(&b'-'));
    let mut end = digits(start);
    if end == start {
        return None;
    }
    let mut whole = true;
    if text.get(end) == Some(&b'.') {
        whole = false;
        end = digits(end + 1);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        whole = false;
        let exponent = end + 1 + usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        end = digits(exponent);
        if end == exponent {
            return None;
        }
    }
    Some(Number { end, whole })
}

/// A whole number that is printed the way it is written.
pub fn is_plain(raw: &[u8]) -> bool {
    let digits = raw.strip_prefix(b"-").unwrap_or(raw);
    digits.len() <= 18 && (digits.first() != Some(&b'0') || raw == b"0")
}

/// Appends a whole number within 64 bits.
pub fn put_whole(raw: &[u8], out: &mut Vec<u8>) {
    let negative = raw.first() == Some(&b'-');
    let mut value: i64 = 0;
    for digit in raw.iter().filter(|b| b.is_ascii_digit()) {
        let digit = i64::from(digit - b'0');
        value = value.saturating_mul(10);
        value = if negative { value.saturating_sub(digit) } else { value.saturating_add(digit) };
    }
    put(out, format_args!("{value}"));
}

/// Appends a whole number as JSON, where positive ones may take all 64 bits.
pub fn copy_whole(raw: &[u8], out: &mut Vec<u8>) {
    if raw.first() == Some(&b'-') {
        return put_whole(raw, out);
    }
    let digits = raw.iter().map(|b| u64::from(b.wrapping_sub(b'0')));
    let value = digits.fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(digit));
    put(out, format_args!("{value}"));
}

pub fn put_double(raw: &[u8], out: &mut Vec<u8>) {
    let value = std::str::from_utf8(raw).ok().and_then(|t| t.parse::<f64>().ok()).unwrap_or(f64::NAN);
    put(out, format_args!("{value:.6}"));
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to memory does not fail.
    let _ = out.write_fmt(text);
}
