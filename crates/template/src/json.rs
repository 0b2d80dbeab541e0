//! Writes JSON: texts with their escapes, values by their types. What is no UTF-8 is printed as syslog-ng
//! prints it, `\\xNN`.

use crate::budget::RENDERED_BYTES_MAX;
use crate::list::Items;
use crate::value_pairs::{Found, Item, Plan};
use crate::writer::{SHORT_BYTES, Writer, padded};
use record::ValueType;
use wire::{Chunked, Chunks, json_marks, with_chunks};

/// Room that is made for values at first: at most so much, and always some for escapes.
const VALUES_BYTES_MAX: usize = 1 << 16;
const ESCAPES_BYTES: usize = 128;

/// A text in quotes.
pub(crate) fn string(bytes: &[u8], out: &mut Vec<u8>) {
    let mut to = Writer::new(out, bytes.len() + 2 * SHORT_BYTES);
    to.byte(b'"');
    with_chunks(Escaped { bytes, around: bytes, to: &mut to });
    to.byte(b'"');
    let len = to.len();
    to.finish(len);
}

/// A text without its quotes. `around` begins with it, and may go on behind its end.
struct Escaped<'a, 't, 'o> {
    bytes: &'a [u8],
    around: &'a [u8],
    to: &'t mut Writer<'o>,
}

impl Chunked for Escaped<'_, '_, '_> {
    type Made = ();

    #[inline(always)]
    fn run<C: Chunks>(self) {
        escaped::<C>(self.bytes, self.around, self.to);
    }
}

#[inline(always)]
fn escaped<C: Chunks>(bytes: &[u8], around: &[u8], to: &mut Writer<'_>) {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let copied = plain_chunks::<C>(rest, to.room_for(rest.len()));
        to.written(copied);
        at += copied;
        // What follows is printed otherwise, or less than a chunk.
        let (rest, behind) = (bytes.get(at..).unwrap_or_default(), around.get(at..).unwrap_or_default());
        if rest.is_empty() {
            return;
        }
        let left = rest.len().min(SHORT_BYTES);
        let chunk = behind.first_chunk().copied().unwrap_or_else(|| padded(rest));
        let marks = C::json_marks(&chunk) & first_bits(left);
        let plain = if marks == 0 { left } else { marks.trailing_zeros() as usize };
        to.chunk(&chunk, plain);
        at += plain;
        if marks != 0 {
            match bytes.get(at) {
                Some(byte @ (b'"' | b'\\')) => {
                    to.two(b'\\', *byte);
                    at += 1;
                }
                _ => at += marked(bytes.get(at..).unwrap_or_default(), to),
            }
        }
    }
}

/// Copies what the text begins with, up to what is not printed as it is or to the end of its whole chunks,
/// and says how many bytes that was.
#[inline(always)]
fn plain_chunks<C: Chunks>(bytes: &[u8], room: &mut [u8]) -> usize {
    let mut copied = 0;
    let (chunks, places) = (bytes.as_chunks::<SHORT_BYTES>().0, room.as_chunks_mut::<SHORT_BYTES>().0);
    for (chunk, place) in chunks.iter().zip(places) {
        *place = *chunk;
        let marks = C::json_marks(chunk);
        if marks != 0 {
            return copied + marks.trailing_zeros() as usize;
        }
        copied += SHORT_BYTES;
    }
    copied
}

/// Bits for so many bytes.
#[inline(always)]
fn first_bits(count: usize) -> u32 {
    ((1u64 << count.min(SHORT_BYTES)) - 1) as u32
}

/// Writes what the text begins with and is not printed as it is, and says how many bytes of it that was.
#[inline(never)]
fn marked(bytes: &[u8], to: &mut Writer<'_>) -> usize {
    let Some(byte) = bytes.first() else { return 0 };
    match *byte {
        b'\n' => to.two(b'\\', b'n'),
        b'\r' => to.two(b'\\', b'r'),
        b'\t' => to.two(b'\\', b't'),
        0x08 => to.two(b'\\', b'b'),
        0x0c => to.two(b'\\', b'f'),
        control @ 0..0x20 => to.bytes(&[b'\\', b'u', b'0', b'0', digit(control >> 4), digit(control)]),
        0x80.. => {
            let len = bytes.iter().take_while(|byte| !byte.is_ascii()).count();
            let all = bytes.get(..len).unwrap_or_default();
            for chunk in all.utf8_chunks() {
                to.bytes(chunk.valid().as_bytes());
                for byte in chunk.invalid() {
                    to.bytes(&[b'\\', b'\\', b'x', digit(byte >> 4), digit(*byte)]);
                }
            }
            return len;
        }
        other => to.byte(other),
    }
    1
}

/// The hexadecimal digit of the lower half.
fn digit(half: u8) -> u8 {
    b"0123456789abcdef"[usize::from(half & 15)]
}

/// Whether JSON prints a text as it is.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks();
    chunks.iter().all(|chunk| json_marks(chunk) == 0)
        && json_marks(&padded(rest)) & first_bits(rest.len()) == 0
}

/// Why there is no object.
pub(crate) enum NoObject {
    /// A value is not of its type.
    WrongType,
    TooLarge,
}

/// Appends an object; nothing when a value is not of its type and `lenient` does not make it a text, or when
/// the values are larger than any text that is printed. `text` is the text of the batch, where most values
/// stand.
pub(crate) fn object(
    plan: &Plan,
    found: &[Found<'_>],
    text: &[u8],
    lenient: bool,
    out: &mut Vec<u8>,
) -> Result<(), NoObject> {
    let start = out.len();
    let values: usize = found.iter().map(|value| value.bytes.len()).sum();
    let mut to = Writer::new(out, plan.around_bytes + values.min(VALUES_BYTES_MAX) + ESCAPES_BYTES);
    let result = with_chunks(Members { plan, found, text, lenient, to: &mut to });
    let len = if result.is_ok() { to.len() } else { start };
    to.finish(len);
    result
}

/// The members of an object, as [`object`] has them.
struct Members<'a, 'f, 't, 'o> {
    plan: &'a Plan,
    found: &'a [Found<'f>],
    text: &'a [u8],
    lenient: bool,
    to: &'t mut Writer<'o>,
}

impl Chunked for Members<'_, '_, '_, '_> {
    type Made = Result<(), NoObject>;

    #[inline(always)]
    fn run<C: Chunks>(self) -> Result<(), NoObject> {
        let Members { plan, found, text, lenient, to } = self;
        let start = to.len();
        let mut items = plan.items();
        loop {
            let (rest, written) = short_texts::<C>(items, found, text, to.room());
            to.written(written);
            let Some((item, rest)) = rest.split_first() else { break };
            items = rest;
            let (from, end) = (item.lead.0 as usize, item.lead.1 as usize);
            let value = found.get(item.source as usize).unwrap_or(const { &Found::NOTHING });
            if to.len() - start + value.bytes.len() > RENDERED_BYTES_MAX {
                return Err(NoObject::TooLarge);
            }
            // A lead begins with the quote behind the last value, which is written with that, and ends with
            // the one before the next, which others than texts do not have.
            let is_text = value.kind == ValueType::String;
            to.part(&plan.text, from + 1, end - usize::from(!is_text));
            if is_text {
                escaped::<C>(value.bytes, around(value.bytes, text), to);
                to.byte(b'"');
            } else if !other(value, to) {
                if !lenient {
                    return Err(NoObject::WrongType);
                }
                to.with(|out| string(value.bytes, out));
            }
        }
        if to.len() - start > RENDERED_BYTES_MAX {
            return Err(NoObject::TooLarge);
        }
        to.part(&plan.text, plan.tail.0 as usize + 1, plan.tail.1 as usize);
        Ok(())
    }
}

/// Writes members whose values are short texts that are printed as they are, with short leads, as long as
/// there is room. Returns those that are left, and how many bytes it wrote. Most members are such, so here
/// nothing is looked at twice.
#[inline(always)]
fn short_texts<'p, C: Chunks>(
    mut items: &'p [Item],
    found: &[Found<'_>],
    text: &[u8],
    room: &mut [u8],
) -> (&'p [Item], usize) {
    let mut at = 0;
    while let [item, rest @ ..] = items {
        let Some(value) = found.get(item.source as usize) else { break };
        let (front_len, len) = (item.front_len as usize, value.bytes.len());
        let Some(to) = room.get_mut(at..).and_then(<[u8]>::first_chunk_mut::<MEMBER_BYTES>) else { break };
        if value.kind != ValueType::String || front_len > SHORT_BYTES || len > SHORT_BYTES {
            break;
        }
        let chunk = match around(value.bytes, text).first_chunk() {
            Some(chunk) => *chunk,
            None => elsewhere(value.bytes),
        };
        if C::json_marks(&chunk) & first_bits(len) != 0 {
            break;
        }
        if let Some(place) = to.first_chunk_mut() {
            *place = item.front;
        }
        if let Some(place) = to.get_mut(front_len..).and_then(<[u8]>::first_chunk_mut) {
            *place = chunk;
        }
        if let Some(place) = to.get_mut(front_len + len) {
            *place = b'"';
        }
        at += front_len + len + 1;
        items = rest;
    }
    (items, at)
}

/// What a short member takes, with what is written behind its parts.
const MEMBER_BYTES: usize = 2 * SHORT_BYTES + 1;

/// A short text that does not stand in a longer one.
#[inline(never)]
fn elsewhere(bytes: &[u8]) -> [u8; SHORT_BYTES] {
    padded(bytes)
}

/// What begins with these bytes and goes on behind them, where they stand in the text, so that they can be
/// copied in a fixed size.
#[inline(always)]
fn around<'a>(bytes: &'a [u8], text: &'a [u8]) -> &'a [u8] {
    let start = (bytes.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize);
    text.get(start..).unwrap_or(bytes)
}

/// A value that is no text; false where it is not of its type.
#[inline(never)]
fn other(value: &Found<'_>, to: &mut Writer<'_>) -> bool {
    if value.kind == ValueType::Int && is_int(value.bytes) {
        to.bytes(value.bytes);
        return true;
    }
    to.with(|out| typed(value, out))
}

fn typed(value: &Found<'_>, out: &mut Vec<u8>) -> bool {
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

/// A finite number with the 17 digits that tell any two apart, less the zeros at the end: C's `%.17g`, as
/// syslog-ng prints doubles.
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
