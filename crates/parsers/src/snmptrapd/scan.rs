//! The form of the text: a header line, then variables with a type in front of their values, separated by
//! tabs.

use record::Civil;

/// A value between quotes or up to a tab.
#[derive(Clone, Copy)]
pub struct Value {
    pub start: usize,
    pub end: usize,
    /// It has backslashes in it.
    pub escaped: bool,
}

impl Value {
    fn plain(start: usize, end: usize) -> Value {
        Value { start, end, escaped: false }
    }
}

/// Time, host and transport, and where the variables begin, of `2017-05-10 12:46:14 host [UDP: ...]:` and a
/// line's end.
pub fn header(text: &[u8]) -> Option<(Civil, [Value; 2], usize)> {
    let stamp = text.get(..19)?;
    let form = |(byte, form): (&u8, &u8)| if *form == b'd' { byte.is_ascii_digit() } else { byte == form };
    if !stamp.iter().zip(b"dddd-dd-dd dd:dd:dd").all(form) {
        return None;
    }
    let number = |from: usize, digits: usize| {
        let digits = stamp.get(from..from + digits).unwrap_or_default();
        digits.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0'))
    };
    let small = |from: usize| number(from, 2) as u8;
    let wall = Civil {
        year: i32::from(number(0, 4)),
        month: small(5),
        day: small(8),
        hour: small(11),
        min: small(14),
        sec: small(17),
    };
    if !wall.is_valid() {
        return None;
    }
    let line_end = memchr::memchr(b'\n', text)?;
    let host = blanks(text, 19);
    if host == 19 {
        return None;
    }
    let host_end = host + text.get(host..line_end)?.iter().position(|b| *b == b' ')?;
    let open = blanks(text, host_end);
    let line = text.get(open..line_end)?.trim_ascii_end();
    let transport = line.strip_prefix(b"[")?.strip_suffix(b"]:")?;
    let rest = line_end + 1;
    if text.get(rest..)?.trim_ascii().is_empty() {
        return None;
    }
    let transport = Value::plain(open + 1, open + 1 + transport.len());
    Some((wall, [Value::plain(host, host_end), transport], rest))
}

fn blanks(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ')) {
        at += 1;
    }
    at
}

fn is_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-')
}

/// Gives every variable to `keep`. A key is the word in front of a `=`.
pub fn pairs(text: &[u8], from: usize, mut keep: impl FnMut(&[u8], Value)) {
    let mut at = from;
    while let Some(equals) = find(text, at, b'=') {
        let key = key_before(text, at, equals);
        let (value, next) = value(text, equals + 1);
        at = next;
        if let Some(key) = key {
            keep(key, value);
        }
    }
}

fn find(text: &[u8], at: usize, byte: u8) -> Option<usize> {
    memchr::memchr(byte, text.get(at..)?).map(|found| at + found)
}

fn key_before(text: &[u8], from: usize, equals: usize) -> Option<&[u8]> {
    let before = text.get(from..equals)?.trim_ascii_end();
    let start = before.iter().rposition(|b| !is_key(*b)).map_or(0, |place| place + 1);
    before.get(start..).filter(|key| !key.is_empty())
}

/// The value behind a `=`, and where to go on.
fn value(text: &[u8], at: usize) -> (Value, usize) {
    let mut start = blanks(text, at);
    let word = text.get(start..).unwrap_or_default();
    // A type is what ends with the first colon, without blanks; `::` is in the middle of a name.
    let colon = word.iter().position(|b| matches!(b, b':' | b' ' | b'\t' | b'\n'));
    if let Some(colon) = colon
        && word.first() != Some(&b'"')
        && word.get(colon) == Some(&b':')
        && word.get(colon + 1) != Some(&b':')
    {
        start = blanks(text, start + colon + 1);
    }
    if text.get(start) == Some(&b'"')
        && let Some((value, next)) = quoted(text, start)
    {
        let behind = text.get(next..).unwrap_or_default().iter().find(|b| !matches!(b, b' ' | b'\t'));
        return (value, if behind == Some(&b'\n') { text.len() } else { next });
    }
    let rest = text.get(start..).unwrap_or_default();
    let mut end = start + rest.iter().position(|b| matches!(b, b'\t' | b'\n')).unwrap_or(rest.len());
    // A key may come without a tab before it.
    if let Some(equals) = memchr::memchr(b'=', text.get(start..end).unwrap_or_default()) {
        match key_before(text, start, start + equals) {
            Some(key) => {
                let before = text.get(start..start + equals).unwrap_or_default().trim_ascii_end();
                end = start + before.len() - key.len();
            }
            None => end = start + equals,
        }
    }
    if text.get(end) == Some(&b'\n') {
        // What comes behind the line is not looked at.
        return (Value::plain(start, end), text.len());
    }
    let value = text.get(start..end).unwrap_or_default().trim_ascii_end();
    (Value::plain(start, start + value.len()), end)
}

/// `None` where the quote is never closed: then it is part of the value.
fn quoted(text: &[u8], quote: usize) -> Option<(Value, usize)> {
    let mut at = quote + 1;
    let mut escaped = false;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&b'"') {
            return Some((Value { start: quote + 1, end: at, escaped }, at + 1));
        }
        escaped = true;
        at += 2;
    }
}

pub fn unescape(raw: &[u8], out: &mut Vec<u8>) {
    let mut bytes = raw.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b'r') => out.push(b'\r'),
                Some(b't') => out.push(b'\t'),
                Some(b'b') => out.push(8),
                Some(b'f') => out.push(12),
                Some(other) => out.push(*other),
                None => {}
            },
            byte => out.push(*byte),
        }
    }
}

/// `SNMPv2-MIB::x` is named `SNMPv2-MIB_x`.
pub fn name_of_key(key: &[u8], out: &mut Vec<u8>) {
    let mut before = 0;
    for byte in key {
        match byte {
            b':' if before == b':' => {}
            b':' => out.push(b'_'),
            byte => out.push(*byte),
        }
        before = *byte;
    }
}

/// Appends `key='value'`, with a comma between pairs.
pub fn put_pair(key: &[u8], value: &[u8], out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(key);
    out.extend_from_slice(b"='");
    for chunk in value.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\r' => out.extend_from_slice(b"\\r"),
                b'\t' => out.extend_from_slice(b"\\t"),
                8 => out.extend_from_slice(b"\\b"),
                12 => out.extend_from_slice(b"\\f"),
                b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
                0..32 => hex(b"\\u00", byte, out),
                byte => out.push(byte),
            }
        }
        chunk.invalid().iter().for_each(|byte| hex(b"\\\\x", *byte, out));
    }
    out.push(b'\'');
}

/// `lead` and the byte in two digits.
fn hex(lead: &[u8], byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(lead);
    out.extend([byte >> 4, byte & 15].map(|digit| DIGITS.get(usize::from(digit)).copied().unwrap_or(b'0')));
}
