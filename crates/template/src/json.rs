//! Writes JSON: texts with their escapes, values by their types. What is no UTF-8 is printed as syslog-ng prints it, `\\xNN`.

use crate::budget::{RENDERED_BYTES_MAX, is_too_much};
use crate::list::Items;
use crate::sink::push_span;
use crate::value_pairs::{Found, Plan};
use record::ValueType;

/// A text in quotes.
pub(crate) fn string(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(bytes, out);
    out.push(b'"');
}

/// The text without quotes.
#[inline]
pub(crate) fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let clean = plain_len(bytes, 0);
    if clean == bytes.len() {
        out.extend_from_slice(bytes);
    } else {
        escaped_from(bytes, clean, out);
    }
}

fn escaped_from(bytes: &[u8], clean: usize, out: &mut Vec<u8>) {
    let (mut from, mut at) = (0, clean);
    loop {
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
        let Some(byte) = bytes.get(at) else { return };
        match *byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            control @ 0..0x20 => {
                out.extend_from_slice(b"\\u00");
                hex(control, out);
            }
            _ => match character(bytes, at) {
                Some(character) => {
                    out.extend_from_slice(character);
                    at += character.len() - 1;
                }
                None => {
                    out.extend_from_slice(b"\\\\x");
                    hex(*byte, out);
                }
            },
        }
        from = at + 1;
        at = plain_len(bytes, from);
    }
}

pub(crate) fn hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend([DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// The character of more than one byte that begins here.
pub(crate) fn character(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let len = match bytes.get(at)? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    bytes.get(at..at + len).filter(|c| std::str::from_utf8(c).is_ok())
}

const LOW: u64 = 0x0101_0101_0101_0101;
const TOP: u64 = LOW << 7;

/// The top bits of the bytes that are not copied as they are; above the lowest there may be some too many.
#[inline(always)]
fn marks(word: u64) -> u64 {
    let quote = (word ^ (LOW * 0x22)).wrapping_sub(LOW);
    let backslash = (word ^ (LOW * 0x5c)).wrapping_sub(LOW);
    (word.wrapping_sub(LOW * 0x20) | quote | backslash | word) & TOP
}

/// Where the bytes from `at` on end that are copied as they are.
#[inline]
fn plain_len(bytes: &[u8], mut at: usize) -> usize {
    let len = bytes.len();
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let marks = marks(u64::from_le_bytes(*eight));
        if marks != 0 {
            return at + (marks.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    // The last bytes, moved to the front of a word that ends with bytes that are no mark.
    let rest = len.saturating_sub(at) as u32;
    if rest > 0
        && let Some(eight) = bytes.last_chunk::<8>()
    {
        let word = u64::from_le_bytes(*eight) >> (64 - 8 * rest) | (LOW * 0x61) << (8 * rest);
        let marks = marks(word);
        return if marks == 0 { len } else { at + (marks.trailing_zeros() / 8) as usize };
    }
    let special = |b: &u8| *b < 0x20 || *b >= 0x80 || matches!(b, b'"' | b'\\');
    at + bytes.get(at..).unwrap_or_default().iter().position(special).unwrap_or(len.saturating_sub(at))
}

/// Why there is no object.
pub(crate) enum NoObject {
    /// A value is not of its type.
    WrongType,
    TooLarge,
}

/// Appends an object; nothing when a value is not of its type and `lenient` does not make it a text, or when the values are larger than
/// any text that is printed. `text` is the text of the batch, where most values stand.
pub(crate) fn object(
    plan: &Plan,
    found: &[Found<'_>],
    text: &[u8],
    lenient: bool,
    out: &mut Vec<u8>,
) -> Result<(), NoObject> {
    let start = out.len();
    let values: usize = found.iter().map(|f| f.bytes.len() + 2).sum();
    let room = plan.text.len() + values + 64;
    if room > RENDERED_BYTES_MAX || out.try_reserve(room).is_err() {
        return Err(NoObject::TooLarge);
    }
    for ((from, to), value) in plan.values(found) {
        push_span(out, &plan.text, from, to);
        if value.kind == ValueType::String {
            quoted(value.bytes, text, out);
        } else if !typed(value, out) {
            if !lenient {
                out.truncate(start);
                return Err(NoObject::WrongType);
            }
            string(value.bytes, out);
        }
        if is_too_much(out, start) {
            out.truncate(start);
            return Err(NoObject::TooLarge);
        }
    }
    push_span(out, &plan.text, plan.tail.0 as usize, plan.tail.1 as usize);
    Ok(())
}

/// A text that mostly stands in a longer one, so that it can be copied in a fixed size.
#[inline(always)]
fn quoted(bytes: &[u8], text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let clean = plain_len(bytes, 0);
    let start = (bytes.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    if clean != bytes.len() {
        escaped_from(bytes, clean, out);
    } else if start > text.len() || push_span(out, text, start, start + clean).is_none() {
        out.extend_from_slice(bytes);
    }
    out.push(b'"');
}

fn typed(value: Found<'_>, out: &mut Vec<u8>) -> bool {
    let bytes = value.bytes;
    match value.kind {
        ValueType::String | ValueType::DateTime => string(bytes, out),
        ValueType::Null => out.extend_from_slice(b"null"),
        ValueType::Json if bytes.trim_ascii().is_empty() => out.extend_from_slice(b"null"),
        ValueType::Json => out.extend_from_slice(bytes),
        ValueType::Boolean => match bytes.first() {
            Some(b'T' | b't' | b'1') => out.extend_from_slice(b"true"),
            Some(b'F' | b'f' | b'0') => out.extend_from_slice(b"false"),
            _ => return false,
        },
        ValueType::Int if is_int(bytes) => out.extend_from_slice(bytes),
        ValueType::Double if is_int(bytes) && bytes.len() <= EXACT_DIGITS => out.extend_from_slice(bytes),
        ValueType::Int => match text(bytes).and_then(|t| t.parse::<i64>().ok()) {
            Some(number) => crate::facts::put(out, format_args!("{number}")),
            None => return false,
        },
        ValueType::Double => {
            match text(bytes).and_then(|t| t.parse::<f64>().ok()) {
                Some(number) if number.is_finite() => double(number, out),
                // JSON has no such number.
                Some(_) => string(bytes, out),
                None => return false,
            }
        }
        ValueType::List => list(bytes, out),
        ValueType::Bytes | ValueType::Protobuf => {
            out.push(b'"');
            crate::functions::base64([bytes], out);
            out.push(b'"');
        }
    }
    true
}

/// Whole numbers of up to so many digits are printed by [`double`] the way they are written.
const EXACT_DIGITS: usize = 15;

/// A finite number with the 17 digits that tell any two apart, less the zeros at the end: C's `%.17g`, as syslog-ng prints doubles.
fn double(number: f64, out: &mut Vec<u8>) {
    let start = out.len();
    crate::facts::put(out, format_args!("{number:.16e}"));
    let printed = out.get(start..).unwrap_or_default();
    let mark = printed.iter().position(|b| *b == b'e').unwrap_or(printed.len());
    let exponent = printed.get(mark + 1..).and_then(text).and_then(|t| t.parse::<i32>().ok()).unwrap_or(0);
    if (-4..17).contains(&exponent) {
        out.truncate(start);
        crate::facts::put(out, format_args!("{number:.digits$}", digits = (16 - exponent) as usize));
        without_zeros(start, out);
    } else {
        out.truncate(start + mark);
        without_zeros(start, out);
        let sign = if exponent < 0 { '-' } else { '+' };
        crate::facts::put(out, format_args!("e{sign}{:02}", exponent.unsigned_abs()));
    }
}

/// Takes zeros behind the point off the end, and a point that ends there.
fn without_zeros(start: usize, out: &mut Vec<u8>) {
    let printed = out.get(start..).unwrap_or_default();
    if !printed.contains(&b'.') {
        return;
    }
    let zeros = printed.iter().rev().take_while(|b| **b == b'0').count();
    let kept = out.len() - zeros;
    out.truncate(kept);
    if out.last() == Some(&b'.') {
        out.pop();
    }
}

/// Whether a value can be written as its type.
pub(crate) fn fits(kind: ValueType, bytes: &[u8]) -> bool {
    match kind {
        ValueType::Boolean => matches!(bytes.first(), Some(b'T' | b't' | b'1' | b'F' | b'f' | b'0')),
        ValueType::Int => is_int(bytes) || text(bytes).is_some_and(|t| t.parse::<i64>().is_ok()),
        ValueType::Double => text(bytes).is_some_and(|t| t.parse::<f64>().is_ok()),
        _ => true,
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().map(str::trim)
}

fn list(bytes: &[u8], out: &mut Vec<u8>) {
    let mut items = Items::of(bytes);
    let mut item = Vec::new();
    let mut first = true;
    out.push(b'[');
    while items.next_into(&mut item) {
        if !std::mem::replace(&mut first, false) {
            out.push(b',');
        }
        string(&item, out);
    }
    out.push(b']');
}

/// A whole number as JSON writes it, of at most 18 digits.
pub(crate) fn is_int(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    matches!(digits, [b'0'] | [b'1'..=b'9', ..])
        && digits.len() <= 18
        && digits.iter().all(u8::is_ascii_digit)
}

/// A number as JSON writes it.
pub(crate) fn is_number(bytes: &[u8]) -> bool {
    let digits = |rest: &[u8]| rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut rest = bytes.strip_prefix(b"-").unwrap_or(bytes);
    let whole = digits(rest);
    if whole == 0 || whole > 1 && rest.first() == Some(&b'0') {
        return false;
    }
    rest = rest.get(whole..).unwrap_or_default();
    if let Some(after) = rest.strip_prefix(b".") {
        let count = digits(after);
        rest = after.get(count..).unwrap_or_default();
        if count == 0 {
            return false;
        }
    }
    if let [b'e' | b'E', after @ ..] = rest {
        let after = after.strip_prefix(b"-").or(after.strip_prefix(b"+")).unwrap_or(after);
        let count = digits(after);
        return count > 0 && count == after.len();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::double;

    #[test]
    fn doubles_as_c_prints_them() {
        for (number, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (-3.15, "-3.1499999999999999"),
            (0.1, "0.10000000000000001"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (5e-324, "4.9406564584124654e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (2.5e-5, "2.5000000000000001e-05"),
        ] {
            let mut out = b"x".to_vec();
            double(number, &mut out);
            assert_eq!(String::from_utf8_lossy(&out[1..]), expected);
        }
    }
}
