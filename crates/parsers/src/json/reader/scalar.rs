//! Strings, numbers and words: as values, and as JSON again.

use super::super::number::{self, Number};
use super::super::text::{self, Str};
use super::Reader;
use record::{NameId, ValueType};

impl Reader<'_> {
    /// A number or word.
    #[inline]
    pub(super) fn scalar(&mut self) -> Option<Word> {
        const WORDS: [(&[u8], Word); 6] = [
            (b"true", Word::True),
            (b"false", Word::False),
            (b"null", Word::Null),
            (b"NaN", Word::Double("nan", "NaN")),
            (b"Infinity", Word::Double("inf", "Infinity")),
            (b"-Infinity", Word::Double("-inf", "-Infinity")),
        ];
        if let Some(Number { end, whole }) = number::scan(self.text, self.at) {
            self.at = end;
            return Some(if whole { Word::Whole } else { Word::Fraction });
        }
        let rest = self.text.get(self.at..)?;
        let begins = |word: &[u8]| rest.get(..word.len()).is_some_and(|r| r.eq_ignore_ascii_case(word));
        let (text, word) = WORDS.iter().find(|(text, _)| begins(text))?;
        self.at += text.len();
        Some(*word)
    }

    #[inline]
    pub(super) fn keep_string(&mut self, name: NameId, string: Str) {
        if !string.escaped {
            return self.found.part(name, string.start(), string.end(), ValueType::String);
        }
        let mark = self.found.begin();
        text::unescape(string.of(self.text), self.found.out());
        self.found.finish(name, mark, ValueType::String);
    }

    pub(super) fn copy_string(&mut self, string: Str) {
        let raw = string.of(self.text);
        if !string.escaped {
            return text::put(raw, self.found.out());
        }
        self.scratch.string.clear();
        text::unescape(raw, &mut self.scratch.string);
        text::put(&self.scratch.string, self.found.out());
    }

    pub(super) fn keep_scalar(&mut self, name: NameId, word: Word, start: usize) {
        let raw = self.text.get(start..self.at).unwrap_or_default();
        if matches!(word, Word::Whole) && number::is_plain(raw) {
            return self.found.part(name, start, self.at, ValueType::Int);
        }
        let mark = self.found.begin();
        put_scalar(word, raw, self.found.out());
        self.found.finish(name, mark, word.kind());
    }
}

#[derive(Clone, Copy)]
pub(super) enum Word {
    Whole,
    Fraction,
    True,
    False,
    Null,
    /// As a value, and in JSON.
    Double(&'static str, &'static str),
}

impl Word {
    fn kind(self) -> ValueType {
        match self {
            Word::Whole => ValueType::Int,
            Word::Fraction | Word::Double(..) => ValueType::Double,
            Word::True | Word::False => ValueType::Boolean,
            Word::Null => ValueType::Null,
        }
    }
}

pub(super) fn put_scalar(word: Word, raw: &[u8], out: &mut Vec<u8>) {
    match word {
        Word::Whole => number::put_whole(raw, out),
        Word::Fraction => number::put_double(raw, out),
        Word::True => out.extend_from_slice(b"true"),
        Word::False => out.extend_from_slice(b"false"),
        Word::Null => {}
        Word::Double(text, _) => out.extend_from_slice(text.as_bytes()),
    }
}

pub(super) fn copy_scalar(word: Word, raw: &[u8], out: &mut Vec<u8>) {
    match word {
        Word::Fraction => out.extend_from_slice(raw),
        Word::Whole => number::copy_whole(raw, out),
        Word::Null => out.extend_from_slice(b"null"),
        Word::Double(_, text) => out.extend_from_slice(text.as_bytes()),
        word => put_scalar(word, raw, out),
    }
}
