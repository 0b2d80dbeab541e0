//! Finds where a field ends.

use crate::marks::{Any, Marks};
use memchr::{memchr, memchr2};

/// How a quote is written inside quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    None,
    /// A backslash before any byte.
    Backslash,
    /// `\n`, `\x41` and the like as well.
    Sequences,
    /// The quote twice.
    DoubleChar,
}

#[derive(Clone, Debug)]
pub struct Scanner {
    /// Bytes that end a field.
    chars: Box<[bool; 256]>,
    /// The only one.
    single: Option<u8>,
    strings: Vec<Box<[u8]>>,
    /// Blanks are delimiters, unless they stand before a value and are stripped.
    blanks: bool,
    /// The byte that closes what a byte opens; 0 for none.
    closing: Box<[u8; 256]>,
    escape: Escape,
}

/// A field: a part of the text, or what was appended to the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub start: usize,
    pub end: usize,
    pub made: bool,
    /// It began with a quote.
    pub quoted: bool,
}

impl Field {
    pub fn plain(start: usize, end: usize) -> Field {
        Field { start, end, made: false, quoted: false }
    }
}

/// What becomes of fields.
pub struct Take<'a> {
    pub wanted: bool,
    /// Blanks before a value are passed over.
    pub strip: bool,
    pub marks: &'a mut Marks<Any<1>>,
    /// Values that are made are appended here.
    pub out: &'a mut Vec<u8>,
}

impl Scanner {
    pub fn new(chars: &[u8], strings: Vec<Box<[u8]>>, quotes: &[(u8, u8)], escape: Escape) -> Scanner {
        let mut set = Box::new([false; 256]);
        chars.iter().for_each(|c| set[usize::from(*c)] = true);
        let mut closing = Box::new([0; 256]);
        quotes.iter().for_each(|(open, close)| closing[usize::from(*open)] = *close);
        let single = match chars {
            [one] if strings.is_empty() => Some(*one),
            _ => None,
        };
        let blanks = set[usize::from(b' ')] || set[usize::from(b'\t')] || !strings.is_empty();
        Scanner { chars: set, single, strings, blanks, closing, escape }
    }

    /// Finds the only delimiter of one text; of no use when there are several.
    pub fn marks(&self) -> Marks<Any<1>> {
        Marks::new(Any([self.single.unwrap_or(0)]))
    }

    /// The field at `at`, and where the next one begins: beyond the text after the last. The value of a
    /// quoted field with more than its quotes is appended to `out` when it is wanted.
    #[inline]
    pub fn field(&self, text: &[u8], at: usize, take: &mut Take<'_>) -> (Field, usize) {
        let first = text.get(at).copied().unwrap_or(0);
        let close = self.closing[usize::from(first)];
        if close != 0 {
            let mut from = at + 1;
            while take.strip && matches!(text.get(from), Some(b' ' | b'\t')) {
                from += 1;
            }
            return self.quoted(text, from, close, take.wanted, take.out);
        }
        let mut from = at;
        if take.strip && self.blanks {
            // Blanks before a value are no delimiters.
            while matches!(text.get(from), Some(b' ' | b'\t')) {
                from += 1;
            }
        }
        let (end, next) = match self.single {
            Some(_) => {
                let end = take.marks.next(text, from);
                (end, end + 1)
            }
            None => self.delimiter(text, from),
        };
        (Field::plain(at, end), next)
    }

    /// Where the field after the one at `at` begins, where that is easy to say.
    #[inline(always)]
    pub fn skip(&self, text: &[u8], at: usize, marks: &mut Marks<Any<1>>) -> Option<usize> {
        let first = text.get(at).copied().unwrap_or(0);
        let easy = self.closing[usize::from(first)] == 0 && self.single.is_some() && !self.blanks;
        easy.then(|| marks.next(text, at) + 1)
    }

    /// Where the field that goes on at `at` ends, and where the next begins.
    #[inline]
    fn delimiter(&self, text: &[u8], at: usize) -> (usize, usize) {
        let rest = text.get(at..).unwrap_or_default();
        if let Some(single) = self.single {
            return match memchr(single, rest) {
                Some(len) => (at + len, at + len + 1),
                None => (text.len(), text.len() + 1),
            };
        }
        for (offset, byte) in rest.iter().enumerate() {
            let here = &rest[offset..];
            if let Some(string) = self.strings.iter().find(|s| here.starts_with(s)) {
                return (at + offset, at + offset + string.len());
            }
            if self.chars[usize::from(*byte)] {
                return (at + offset, at + offset + 1);
            }
        }
        (text.len(), text.len() + 1)
    }

    fn quoted(
        &self,
        text: &[u8],
        start: usize,
        close: u8,
        wanted: bool,
        out: &mut Vec<u8>,
    ) -> (Field, usize) {
        let mut at = start;
        let mut copied = start;
        let mut made = false;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let hit = match self.escape {
                Escape::None | Escape::DoubleChar => memchr(close, rest),
                Escape::Backslash | Escape::Sequences => memchr2(close, b'\\', rest),
            };
            let Some(place) = hit.map(|h| at + h) else {
                // Not closed: the rest of the text.
                if made && wanted {
                    out.extend_from_slice(text.get(copied..).unwrap_or_default());
                }
                return (Field { start, end: text.len(), made, quoted: true }, text.len() + 1);
            };
            let escaped = text.get(place) != Some(&close)
                || self.escape == Escape::DoubleChar && text.get(place + 1) == Some(&close);
            if !escaped {
                return self.after_quote(text, Quoted { start, copied, place, made }, wanted, out);
            }
            made = true;
            if wanted {
                out.extend_from_slice(text.get(copied..place).unwrap_or_default());
            }
            at = self.unescape(text, place, wanted, out);
            copied = at;
        }
    }

    /// Appends what the escape at `place` stands for; where the text goes on.
    fn unescape(&self, text: &[u8], place: usize, wanted: bool, out: &mut Vec<u8>) -> usize {
        let Some(byte) = text.get(place + 1).copied() else {
            if wanted {
                out.push(b'\\');
            }
            return place + 1;
        };
        let mut next = place + 2;
        let value = match (self.escape, byte) {
            (Escape::Sequences, b'a') => 0x07,
            (Escape::Sequences, b'n') => b'\n',
            (Escape::Sequences, b'r') => b'\r',
            (Escape::Sequences, b't') => b'\t',
            (Escape::Sequences, b'v') => 0x0b,
            (Escape::Sequences, b'x') => {
                let digits = text.get(next..next + 2).and_then(|d| std::str::from_utf8(d).ok());
                match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
                    Some(value) => {
                        next += 2;
                        value
                    }
                    None => b'x',
                }
            }
            (_, byte) => byte,
        };
        if wanted {
            out.push(value);
        }
        next
    }

    /// After the closing quote: what stands before the delimiter belongs to the field as it is.
    fn after_quote(&self, text: &[u8], quoted: Quoted, wanted: bool, out: &mut Vec<u8>) -> (Field, usize) {
        let Quoted { start, copied, place, made } = quoted;
        let (end, next) = self.delimiter(text, place + 1);
        if !made && end == place + 1 {
            return (Field { start, end: place, made, quoted: true }, next);
        }
        if wanted {
            out.extend_from_slice(text.get(copied..place).unwrap_or_default());
            out.extend_from_slice(text.get(place + 1..end).unwrap_or_default());
        }
        (Field { start, end, made: true, quoted: true }, next)
    }
}

struct Quoted {
    start: usize,
    /// Up to here the value is in the buffer.
    copied: usize,
    /// The closing quote.
    place: usize,
    made: bool,
}
