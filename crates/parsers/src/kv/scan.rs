//! Finds keys and values.
//!
//! A key stands directly before a separator (blanks between them are allowed); what stands before a key and
//! belongs to no value is stray. A bare value ends at the pair separator, or at a blank after which a key
//! comes. A quoted value has to be followed by a blank or the pair separator; otherwise it is taken as it is,
//! quotes and all, and keys are looked for inside it. So values can overlap, and a text of broken quotes
//! would have values without measure: what overlaps is bounded to [`OVERLAP_TIMES`] times the text.

use crate::marks::{Any, Marks, NotWord};
use memchr::{memchr, memchr2};
use wire::pairs::{Separators, is_word};

/// Bytes of values in which further keys are looked for, as multiples of the text. Beyond, the search goes on
/// behind such a value.
const OVERLAP_TIMES: usize = 2;

#[derive(Clone)]
pub struct Scanner {
    pub separators: Separators,
    pair_first: u8,
    /// The pair separator may begin inside a word, so that every byte has to be looked at.
    pair_in_word: bool,
}

/// Where a value stands.
#[derive(Clone, Copy)]
pub struct Text {
    pub start: usize,
    pub end: usize,
    /// It stood in these quotes; 0 for bare.
    pub quote: u8,
    pub escaped: bool,
}

impl Text {
    /// Without the blanks at its end.
    #[inline]
    pub fn bare(text: &[u8], start: usize, mut end: usize) -> Text {
        while end > start && text.get(end - 1) == Some(&b' ') {
            end -= 1;
        }
        Text { start, end, quote: 0, escaped: false }
    }
}

/// Where a key and its separator stand.
#[derive(Clone, Copy)]
pub struct Key {
    pub start: usize,
    pub end: usize,
    separator: usize,
}

/// What is known of the text.
struct Seen {
    words: Marks<NotWord>,
    quotes: Marks<Any<3>>,
    /// Bytes of values that may still be gone through again.
    overlap: usize,
}

/// The end of the first blank or pair separator from a place on.
#[derive(Clone, Copy)]
struct Broken {
    from: usize,
    end: usize,
}

impl Seen {
    /// A value with broken quotes, and where to go on: at its beginning as long as there is room for values
    /// that overlap.
    #[cold]
    fn broken(&mut self, start: usize, end: usize) -> (Text, usize, Option<Key>) {
        let value = Text { start, end, quote: 0, escaped: false };
        match self.overlap.checked_sub(end - start) {
            Some(left) => {
                self.overlap = left;
                (value, start, None)
            }
            None => (value, end, None),
        }
    }
}

#[inline]
fn is_key(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|b| is_word(*b))
}

#[inline]
pub fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while text.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

impl Scanner {
    pub fn new(separators: Separators) -> Scanner {
        let pair_first = separators.pair.first().copied().unwrap_or(b' ');
        Scanner { separators, pair_first, pair_in_word: is_word(pair_first) }
    }

    /// Calls `pair` with each key and the place of its value, `stray` with each piece between them.
    #[inline]
    pub fn scan(&self, text: &[u8], mut pair: impl FnMut(Key, Text), mut stray: impl FnMut(&[u8])) {
        let mut at = 0;
        let mut seen = None;
        let mut broken = Broken { from: usize::MAX, end: 0 };
        let mut marks = Seen {
            words: Marks::new(NotWord),
            quotes: Marks::new(Any(*b"\"'\\")),
            overlap: text.len().saturating_mul(OVERLAP_TIMES),
        };
        while let Some(key) = seen.take().or_else(|| self.next_key(text, at)) {
            stray_word(text, at, key.start, &mut stray);
            let (value, next, ahead) = self.value(text, key.separator + 1, &mut marks, &mut broken);
            pair(key, value);
            (at, seen) = (next, ahead);
        }
        stray_word(text, at, text.len(), &mut stray);
    }

    /// The next separator with a key before it.
    fn next_key(&self, text: &[u8], from: usize) -> Option<Key> {
        let mut at = from;
        loop {
            let separator = at + memchr(self.separators.key, text.get(at..)?)?;
            let mut end = separator;
            while end > from && text.get(end - 1) == Some(&b' ') {
                end -= 1;
            }
            let mut start = end;
            while start > from && is_key(text, start - 1) {
                start -= 1;
            }
            if start < end {
                return Some(Key { start, end, separator });
            }
            at = separator + 1;
        }
    }

    /// The value at `at`, where to go on, and the key that comes there when it was seen.
    #[inline]
    fn value(
        &self,
        text: &[u8],
        at: usize,
        marks: &mut Seen,
        broken: &mut Broken,
    ) -> (Text, usize, Option<Key>) {
        let mut start = at;
        if text.get(at) == Some(&b' ') {
            if self.pair_first == b' ' && self.is_pair(text, at) {
                return (
                    Text { start: at, end: at, quote: 0, escaped: false },
                    at + self.separators.pair.len(),
                    None,
                );
            }
            let (key, word) = self.key_ahead(text, at, marks);
            if key.is_some() {
                return (Text { start: at, end: at, quote: 0, escaped: false }, word, key);
            }
            start = word;
        }
        match text.get(start) {
            Some(quote @ (b'"' | b'\'')) => self.quoted(text, start, *quote, marks, broken),
            _ => self.bare(text, start, marks),
        }
    }

    #[inline]
    fn bare(&self, text: &[u8], start: usize, marks: &mut Seen) -> (Text, usize, Option<Key>) {
        let mut at = start;
        let mut no_key_before = start;
        let mut ahead = None;
        let (end, next) = loop {
            if !self.pair_in_word {
                at = marks.words.next(text, at);
            }
            let Some(&byte) = text.get(at) else { break (text.len(), text.len()) };
            if byte == self.pair_first && self.is_pair(text, at) {
                break (at, at + self.separators.pair.len());
            }
            if byte == b' ' && at >= no_key_before {
                let (key, word) = self.key_ahead(text, at, marks);
                if key.is_some() {
                    ahead = key;
                    break (at, word);
                }
                no_key_before = word;
            }
            at += 1;
        };
        (Text::bare(text, start, end), next, ahead)
    }

    #[inline]
    fn is_pair(&self, text: &[u8], at: usize) -> bool {
        text.get(at..).is_some_and(|rest| rest.starts_with(&self.separators.pair))
    }

    /// The key after the blanks at `at`, and where the blanks end.
    #[inline]
    fn key_ahead(&self, text: &[u8], at: usize, marks: &mut Seen) -> (Option<Key>, usize) {
        let start = skip_blanks(text, at);
        let end = marks.words.next(text, start);
        if end == start {
            return (None, start);
        }
        let separator = skip_blanks(text, end);
        if text.get(separator) == Some(&self.separators.key) {
            return (Some(Key { start, end, separator }), start);
        }
        (None, start)
    }

    fn quoted(
        &self,
        text: &[u8],
        start: usize,
        quote: u8,
        marks: &mut Seen,
        broken: &mut Broken,
    ) -> (Text, usize, Option<Key>) {
        let mut at = start + 1;
        let mut escaped = false;
        let close = loop {
            at = marks.quotes.next(text, at);
            match text.get(at) {
                // Not closed.
                None => return marks.broken(start, text.len()),
                Some(b'\\') => {
                    escaped = true;
                    at += 2;
                }
                Some(byte) if *byte == quote => break at,
                Some(_) => at += 1,
            }
        };
        let after = close + 1;
        if after >= text.len() || text.get(after) == Some(&b' ') || self.is_pair(text, after) {
            let value = Text { start: start + 1, end: close, quote, escaped };
            if self.is_pair(text, after) {
                return (value, after + self.separators.pair.len(), None);
            }
            let (key, word) = self.key_ahead(text, after, marks);
            return (value, word, key);
        }
        let end = self.break_after(text, after, broken);
        marks.broken(start, end)
    }

    /// Behind the next blank or pair separator. What was found for another broken quote is used, so that the
    /// time grows with the text only, however many there are.
    #[cold]
    fn break_after(&self, text: &[u8], after: usize, broken: &mut Broken) -> usize {
        if after < broken.from {
            let known = if broken.from == usize::MAX { None } else { Some(*broken) };
            let until = known.map_or(text.len(), |known| known.from);
            let end = self.next_break(text, after, until).or(known.map(|known| known.end));
            *broken = Broken { from: after, end: end.unwrap_or(text.len()) };
        } else if after >= broken.end {
            let end = self.next_break(text, after, text.len()).unwrap_or(text.len());
            *broken = Broken { from: after, end };
        }
        broken.end
    }

    /// Behind the next blank or pair separator that begins before `until`.
    fn next_break(&self, text: &[u8], from: usize, until: usize) -> Option<usize> {
        let mut at = from;
        while let Some(hit) = text.get(at..until).and_then(|rest| memchr2(b' ', self.pair_first, rest)) {
            at += hit;
            if self.is_pair(text, at) {
                return Some(at + self.separators.pair.len());
            }
            if text.get(at) == Some(&b' ') {
                return Some(at + 1);
            }
            at += 1;
        }
        None
    }
}

#[inline]
fn stray_word(text: &[u8], start: usize, end: usize, stray: &mut impl FnMut(&[u8])) {
    if start < end {
        let mut word = text.get(start..end).unwrap_or_default();
        // Only blanks are no part of it; a tab is.
        while let [b' ', rest @ ..] | [rest @ .., b' '] = word {
            word = rest;
        }
        if !word.is_empty() {
            stray(word);
        }
    }
}

/// Appends the text of a quoted value. A backslash before anything but the quote and the usual letters stays.
pub fn unescape(raw: &[u8], quote: u8, out: &mut Vec<u8>) {
    let mut rest = raw;
    while let Some(place) = memchr(b'\\', rest) {
        let (before, from) = rest.split_at(place);
        out.extend_from_slice(before);
        let Some(byte) = from.get(1) else {
            out.push(b'\\');
            return;
        };
        match byte {
            b'b' => out.push(0x08),
            b'f' => out.push(0x0c),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b if *b == quote || *b == b'\\' => out.push(*b),
            b => out.extend_from_slice(&[b'\\', *b]),
        }
        rest = from.get(2..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}
