//! What the parsers inside patterns match: each has one answer at one place, so a search never tries lengths.

mod address;
mod host;

use pattern::{Cache, Pattern, Slots};
use std::sync::Arc;

/// What a parser does.
#[derive(Clone, Debug)]
pub enum Scan {
    /// All the rest, at least a byte.
    Any,
    Number,
    Float,
    Set(Box<Set>),
    OptionalSet(Box<Set>),
    /// Up to a text, which is consumed but not kept; the empty text stands for the end of the message.
    Until(Box<[u8]>),
    /// Up to the end of a line, which is not consumed.
    Line,
    Quoted(u8, u8),
    Ipv4,
    Ipv6,
    IpAny,
    Hostname,
    /// The bytes are taken off both ends.
    Email(Box<[u8]>),
    /// Up to this many octets with colons.
    Octets(usize),
    Pcre(Arc<Pattern>),
}

/// What matched, in bytes from the place of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// All that was consumed.
    pub len: usize,
    /// The value.
    pub start: usize,
    pub end: usize,
}

impl Hit {
    #[inline]
    pub fn all(len: usize) -> Hit {
        Hit { len, start: 0, end: len }
    }
}

/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set([bool; 256]);

impl Set {
    pub fn of(bytes: &[u8]) -> Set {
        let mut set = Set([false; 256]);
        bytes.iter().for_each(|b| set.0[usize::from(*b)] = true);
        set
    }

    pub fn alphanumeric(more: &[u8]) -> Set {
        let mut set = Set::of(more);
        (0..=255u8).filter(u8::is_ascii_alphanumeric).for_each(|b| set.0[usize::from(b)] = true);
        set
    }

    #[inline]
    pub fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }

    /// How many bytes at the beginning are of the set.
    #[inline]
    pub fn run(&self, text: &[u8]) -> usize {
        text.iter().position(|b| !self.has(*b)).unwrap_or(text.len())
    }
}

impl Scan {
    /// Whether a text that begins with this byte can match. To be right only when it says no.
    pub fn can_begin(&self, byte: u8) -> bool {
        match self {
            Scan::Any | Scan::Until(_) | Scan::Line | Scan::OptionalSet(_) | Scan::Pcre(_) => true,
            Scan::Number => byte.is_ascii_digit() || byte == b'-',
            Scan::Float => byte.is_ascii_digit() || matches!(byte, b'-' | b'.'),
            Scan::Set(set) => set.has(byte),
            Scan::Quoted(open, _) => byte == *open,
            Scan::Ipv4 => byte.is_ascii_digit(),
            Scan::Ipv6 | Scan::IpAny => byte.is_ascii_hexdigit() || byte == b':',
            Scan::Hostname => byte.is_ascii_alphanumeric() || byte == b'-',
            Scan::Email(trim) => host::in_local(byte) || byte == b'@' || trim.contains(&byte),
            Scan::Octets(_) => byte.is_ascii_hexdigit(),
        }
    }

    /// What it matches at the beginning of `text`. At the end of a message nothing matches, as in syslog-ng.
    #[inline]
    pub fn find(&self, text: &[u8], cache: &mut Cache, slots: &mut Slots) -> Option<Hit> {
        match self {
            Scan::Any => (!text.is_empty()).then_some(Hit::all(text.len())),
            Scan::Number => number(text).map(Hit::all),
            Scan::Float => float(text).map(Hit::all),
            Scan::Set(set) => Some(set.run(text)).filter(|n| *n > 0).map(Hit::all),
            Scan::OptionalSet(set) => Some(Hit::all(set.run(text))),
            Scan::Until(end) => until(text, end),
            Scan::Line => line(text),
            Scan::Quoted(open, close) => quoted(text, *open, *close),
            Scan::Ipv4 => address::ipv4(text).map(Hit::all),
            Scan::Ipv6 => address::ipv6(text).map(Hit::all),
            Scan::IpAny => address::ipv4(text).or_else(|| address::ipv6(text)).map(Hit::all),
            Scan::Hostname => host::hostname(text).map(Hit::all),
            Scan::Email(trim) => host::email(text, trim),
            Scan::Octets(max) => address::octets(text, *max).map(Hit::all),
            Scan::Pcre(pattern) => pattern
                .captures(text, 0, cache, slots)
                .then(|| slots.get(0))
                .flatten()
                .map(|(_, end)| Hit::all(end)),
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len())
}

/// Decimal with a sign, or hexadecimal after 0x.
fn number(text: &[u8]) -> Option<usize> {
    if let [b'0', b'x' | b'X', hex @ ..] = text {
        let len = hex.iter().position(|b| !b.is_ascii_hexdigit()).unwrap_or(hex.len());
        return (len > 0).then_some(len + 2);
    }
    let sign = usize::from(text.first() == Some(&b'-'));
    let len = digits(text.get(sign..)?);
    (len > 0).then_some(sign + len)
}

/// As lenient as syslog-ng: a sign, a point or the `e` of an exponent may stand without digits.
fn float(text: &[u8]) -> Option<usize> {
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let mut at = usize::from(text.first() == Some(&b'-'));
    at += digits(rest(at));
    if rest(at).first() == Some(&b'.') {
        at += 1 + digits(rest(at + 1));
    }
    if at > 0 && matches!(rest(at).first(), Some(b'e' | b'E')) {
        at += 1;
        at += usize::from(rest(at).first() == Some(&b'-'));
        at += digits(rest(at));
    }
    (at > 0).then_some(at)
}

#[inline]
fn until(text: &[u8], end: &[u8]) -> Option<Hit> {
    let found = match end {
        [] => return (!text.is_empty()).then_some(Hit::all(text.len())),
        [one] => memchr::memchr(*one, text)?,
        [first, ..] => {
            let mut at = 0;
            loop {
                let rest = text.get(at..)?;
                at += memchr::memchr(*first, rest)?;
                if text.get(at..).is_some_and(|t| t.starts_with(end)) {
                    break at;
                }
                at += 1;
            }
        }
    };
    Some(Hit { len: found + end.len(), start: 0, end: found })
}

/// Up to the end of the line, which the last one need not have; a carriage return before it is not part of
/// the value.
fn line(text: &[u8]) -> Option<Hit> {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let value = text.get(..end).unwrap_or_default();
    let end = value.strip_suffix(b"\r").unwrap_or(value).len();
    Some(Hit::all(end))
}

fn quoted(text: &[u8], open: u8, close: u8) -> Option<Hit> {
    let (first, rest) = text.split_first()?;
    let end = if *first == open { memchr::memchr(close, rest)? } else { return None };
    Some(Hit { len: end + 2, start: 1, end: end + 1 })
}

#[cfg(test)]
mod tests;
