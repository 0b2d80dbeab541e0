//! JSON strings: where they end, what they stand for, and how they are written again.

use crate::marks::{Any, Marks};
use std::fmt::Write;

/// A string between its quotes.
#[derive(Clone, Copy)]
pub struct Str {
    start: u32,
    end: u32,
    pub escaped: bool,
}

impl Str {
    /// Small enough for registers: a batch's text is bounded to 4 GiB.
    #[inline(always)]
    pub fn new(start: usize, end: usize, escaped: bool) -> Str {
        Str { start: start as u32, end: end as u32, escaped }
    }

    #[inline(always)]
    pub fn start(self) -> usize {
        self.start as usize
    }

    #[inline(always)]
    pub fn end(self) -> usize {
        self.end as usize
    }

    #[inline(always)]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start()..self.end()).unwrap_or_default()
    }
}

/// What ends or interrupts a string.
pub const ENDS: Any<2> = Any(*b"\"\\");

/// The string that begins behind the quote at `at - 1`; `None` when it has no end or a wrong escape.
#[inline(always)]
pub fn scan(text: &[u8], at: usize, marks: &mut Marks<Any<2>>) -> Option<Str> {
    let end = marks.next(text, at);
    match text.get(end)? {
        b'"' => Some(Str::new(at, end, false)),
        _ => scan_escaped(text, at, end, marks),
    }
}

fn scan_escaped(text: &[u8], start: usize, mut at: usize, marks: &mut Marks<Any<2>>) -> Option<Str> {
    loop {
        match text.get(at)? {
            b'"' => return Some(Str::new(start, at, true)),
            _ => at = marks.next(text, at + escape_len(text, at)?),
        }
    }
}

/// The same for a string in single quotes.
#[cold]
pub fn scan_single(text: &[u8], start: usize) -> Option<Str> {
    let mut at = start;
    loop {
        at += memchr::memchr2(b'\'', b'\\', text.get(at..)?)?;
        match text.get(at)? {
            b'\'' => {
                let escaped = text.get(start..at)?.contains(&b'\\');
                return Some(Str::new(start, at, escaped));
            }
            _ => at += escape_len(text, at)?,
        }
    }
}

/// Length of the escape at `at`.
fn escape_len(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at + 1)? {
        b'"' | b'\'' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => hex(text.get(at + 2..at + 6)?).map(|_| 6),
        _ => None,
    }
}

/// Whether every backslash begins a good escape.
#[cold]
pub fn check_escapes(text: &[u8]) -> Option<()> {
    let mut at = 0;
    while let Some(hit) = memchr::memchr(b'\\', text.get(at..)?) {
        at += hit;
        at += escape_len(text, at)?;
    }
    Some(())
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

/// Appends what a string with good escapes stands for. A zero ends it, as it does in syslog-ng.
pub fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        let (before, from) = rest.split_at(place);
        out.extend_from_slice(before);
        let mut len = 2;
        match from.get(1) {
            Some(b'b') => out.push(0x08),
            Some(b'f') => out.push(0x0c),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(b'u') => {
                let (code, used) = code_point(from);
                if code == '\0' {
                    return;
                }
                let mut bytes = [0; 4];
                out.extend_from_slice(code.encode_utf8(&mut bytes).as_bytes());
                len = used;
            }
            Some(other) => out.push(*other),
            None => return,
        }
        rest = from.get(len..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

/// The character of `\uXXXX` and what it takes; half of a pair is U+FFFD.
fn code_point(from: &[u8]) -> (char, usize) {
    let unit = |at: usize| from.get(at..at + 4).and_then(hex);
    let Some(first) = unit(2) else { return (char::REPLACEMENT_CHARACTER, 2) };
    if (0xd800..0xdc00).contains(&first)
        && from.get(6..8) == Some(b"\\u")
        && let Some(second) = unit(8).filter(|s| (0xdc00..0xe000).contains(s))
    {
        let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// Appends a string as JSON, slashes escaped as syslog-ng's library does.
pub fn put(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'/' => out.extend_from_slice(b"\\/"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                let mut escape = String::with_capacity(6);
                // Writing to memory does not fail.
                let _ = write!(escape, "\\u{byte:04x}");
                out.extend_from_slice(escape.as_bytes());
            }
            _ => out.push(*byte),
        }
    }
    out.push(b'"');
}
