//! Header and pairs of the two event formats, as places in a text.

use memchr::{memchr, memchr_iter};
use std::ops::Range;

/// Splits `N` fields off, each ended by a bar that no backslash stands before. Returns them and where the
/// rest begins.
pub fn header<const N: usize>(text: &[u8], mut at: usize) -> Option<([Range<usize>; N], usize)> {
    let mut fields = [const { 0..0 }; N];
    for field in &mut fields {
        let rest = text.get(at..)?;
        let end = at + memchr_iter(b'|', rest).find(|bar| !is_escaped(rest, *bar))?;
        *field = at..end;
        at = end + 1;
    }
    Some((fields, at))
}

/// Digits and dots, at least one.
pub fn is_version(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

/// CEF: `key=value key=value`. A value goes on until the blank before the next key; an equals sign in it that
/// is not escaped belongs to it unless a blank and a key stand before.
pub fn pairs(text: &[u8], start: usize, mut found: impl FnMut(Range<usize>, Range<usize>)) {
    let mut open: Option<(Range<usize>, usize)> = None;
    let rest = text.get(start..).unwrap_or_default();
    for equals in memchr_iter(b'=', rest) {
        let end = start + equals;
        let Some(key) = key_before(text, start, end) else { continue };
        if let Some((name, value)) = open.replace((key.clone(), end + 1)) {
            found(name, trimmed(text, value, key.start));
        }
    }
    if let Some((name, value)) = open {
        found(name, trimmed(text, value, text.len()));
    }
}

/// LEEF: `key=value` between delimiters, nothing is escaped. Pieces without an equals sign are passed over.
pub fn delimited(text: &[u8], start: usize, by: u8, mut found: impl FnMut(Range<usize>, Range<usize>)) {
    let mut at = start;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let len = memchr(by, rest).unwrap_or(rest.len());
        if let Some(equals) = memchr(b'=', rest.get(..len).unwrap_or_default()) {
            let key = rest.get(..equals).unwrap_or_default();
            let blanks = key.len() - key.trim_ascii_start().len();
            if blanks < equals {
                found(at + blanks..at + equals, at + equals + 1..at + len);
            }
        }
        at += len + 1;
    }
}

/// The delimiter that LEEF 2 names: a character, or its code as `x09` or `0x09`; a tab when the field is
/// empty.
pub fn delimiter(field: &[u8]) -> Option<u8> {
    match field {
        [] => Some(b'\t'),
        [one] => Some(*one),
        _ => {
            let digits = field.strip_prefix(b"0x").or_else(|| field.strip_prefix(b"x"))?;
            let code = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            code.is_ascii().then_some(code)
        }
    }
}

/// Resolves `\|`, `\=`, `\\`, and `\n` and `\r`; other backslashes stay.
pub fn unescape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(at) = memchr(b'\\', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let (byte, used) = match rest.get(at + 1) {
            Some(b'n') => (b'\n', 2),
            Some(b'r') => (b'\r', 2),
            Some(byte @ (b'|' | b'=' | b'\\')) => (*byte, 2),
            _ => (b'\\', 1),
        };
        out.push(byte);
        rest = rest.get(at + used..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// An odd number of backslashes stands before.
fn is_escaped(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1
}

/// The key that ends at an equals sign: it begins the text or follows a blank.
fn key_before(text: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let before = text.get(start..end)?;
    let is_key =
        |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'.' | b'-' | b'[' | b']' | b':');
    let len = before.iter().rev().take_while(is_key).count();
    let begins = len == before.len() || before.get(before.len() - len - 1) == Some(&b' ');
    (len > 0 && begins).then_some(end - len..end)
}

fn trimmed(text: &[u8], start: usize, end: usize) -> Range<usize> {
    let value = text.get(start..end).unwrap_or_default();
    start..start + value.trim_ascii_end().len()
}
