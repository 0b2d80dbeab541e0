//! Values of members that are of the ordinary kind, and where strings end.

use crate::word::equal;
use crate::{Span, Value};
use memchr::memchr2;

/// The value of a member at `at`, where it is of the ordinary kind, as most are: `"text"`, `12` or `true`
/// without blanks, escapes and zeros in front, with a comma or the end of the object behind it. Then also the
/// place behind that comma, or of that end.
#[inline(always)]
pub(super) fn ordinary_value(text: &[u8], at: usize) -> Option<(Value, usize)> {
    let behind = |end: usize| match text.get(end) {
        Some(b',') => Some(end + 1),
        Some(b'}') => Some(end),
        _ => None,
    };
    match *text.get(at)? {
        b'"' => {
            let end = string_end(text, at + 1);
            (text.get(end) == Some(&b'"')).then_some(())?;
            Some((Value::String(Span::between(at + 1, end)), behind(end + 1)?))
        }
        first @ b'0'..=b'9' => {
            let (mut number, mut end) = (i64::from(first - b'0'), at + 1);
            while let Some(digit @ b'0'..=b'9') = text.get(end) {
                number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
                end += 1;
            }
            if end - at > 18 || (first == b'0' && end - at > 1) {
                return None;
            }
            Some((Value::Integer(number), behind(end)?))
        }
        first @ (b't' | b'f' | b'n') => {
            let (word, value) = match first {
                b't' => (&b"true"[..], Value::Boolean(true)),
                b'f' => (&b"false"[..], Value::Boolean(false)),
                _ => (&b"null"[..], Value::Null),
            };
            text.get(at..)?.starts_with(word).then_some(())?;
            Some((value, behind(at + word.len())?))
        }
        _ => None,
    }
}

/// Whether no byte of a text needs an escape beside those that it has.
pub(super) fn is_printable(text: &[u8]) -> bool {
    // Without a branch for each byte, so that many are looked at at once; most texts are ASCII.
    if text.iter().fold(true, |all, byte| all & (byte.wrapping_sub(0x20) < 0x5f)) {
        return true;
    }
    let (all, controls) = text.iter().fold((0u8, false), |(all, controls), byte| {
        (all | byte, controls | (*byte < 0x20) | (*byte == 0x7f))
    });
    !controls && (all < 0x80 || std::str::from_utf8(text).is_ok())
}

/// The first quote or backslash at `at` or behind it; the end of the text where there is none.
#[inline(always)]
pub(super) fn string_end(text: &[u8], mut at: usize) -> usize {
    let near = at + 32;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let hits = equal(word, b'"') | equal(word, b'\\');
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
        if at == near {
            return far_end(text, at);
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|b| matches!(b, b'"' | b'\\')).unwrap_or(rest.len())
}

/// The same in a long string.
#[inline(never)]
fn far_end(text: &[u8], at: usize) -> usize {
    memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()).map_or(text.len(), |hit| at + hit)
}
