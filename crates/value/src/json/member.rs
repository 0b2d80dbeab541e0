//! Members of objects that are of the ordinary kind, and where strings end.

use crate::word::equal;
use crate::{Span, Value};
use memchr::memchr2;

/// A member of an object that nothing is the matter with.
pub(super) struct Member {
    pub key: Span,
    pub value: Value,
    /// Behind its comma.
    pub end: usize,
}

/// The member at `at`, where it is of the ordinary kind, as most are: `"key":"text",`, `"key":12,` or
/// `"key":true,` without blanks, escapes and zeros in front.
#[inline(always)]
pub(super) fn ordinary_member(text: &[u8], at: usize) -> Option<Member> {
    let is = |at: usize, byte: u8| text.get(at) == Some(&byte);
    // First: behind the last member stands no string, and the next quote may be far away.
    if !is(at, b'"') {
        return None;
    }
    let key_end = string_end(text, at + 1);
    let &[b'"', b':', first, ..] = text.get(key_end..)? else { return None };
    let key = Span::between(at + 1, key_end);
    let start = key_end + 2;
    match first {
        b'"' => {
            let end = string_end(text, start + 1);
            let [b'"', b',', ..] = text.get(end..)? else { return None };
            Some(Member { key, value: Value::String(Span::between(start + 1, end)), end: end + 2 })
        }
        b'0'..=b'9' => {
            let (mut number, mut end) = (i64::from(first - b'0'), start + 1);
            while let Some(digit @ b'0'..=b'9') = text.get(end) {
                number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
                end += 1;
            }
            if end - start > 18 || (first == b'0' && end - start > 1) {
                return None;
            }
            is(end, b',').then_some(Member { key, value: Value::Integer(number), end: end + 1 })
        }
        b't' | b'f' | b'n' => {
            let (word, value) = match first {
                b't' => (&b"true,"[..], Value::Boolean(true)),
                b'f' => (&b"false,"[..], Value::Boolean(false)),
                _ => (&b"null,"[..], Value::Null),
            };
            let rest = text.get(start..)?;
            rest.starts_with(word).then_some(Member { key, value, end: start + word.len() })
        }
        _ => None,
    }
}

/// Whether no byte of a text needs an escape beside those that it has.
pub(super) fn is_printable(text: &[u8]) -> bool {
    // Without a branch for each byte, so that many are looked at at once.
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
