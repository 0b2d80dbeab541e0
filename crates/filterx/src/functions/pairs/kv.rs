//! `parse_kv()`, which reads with the scanner of kv-parser(), and `format_kv()`.

use crate::compile::{Arguments, Only};
use crate::functions::strings::text_argument;
use crate::program::{Expr, Extract, Operation};
use crate::run::{Eval, Failure, Halt, Memory, Run};
use parsers::scanners::kv::{Key, Scanner, Text, by_outline, some_by_outline, unescape};
use std::cell::RefCell;
use std::ops::Range;
use value::{Node, Seen, Span, TEXT, Value};
use wire::pairs::{Outline, Separators};

struct Parse {
    text: Expr,
    scanner: Scanner,
    stray: Option<u32>,
    append: bool,
    /// The only pairs that are looked at.
    only: Option<Only>,
}

/// A pair, or a word between pairs, as places in the text.
pub(crate) enum Piece {
    Pair(Range<usize>, Text),
    Stray(usize, usize),
}

/// A pair whose key is a text of the block. Four words, which are read as they were written.
pub(crate) struct Known {
    pub key: u32,
    pub start: u32,
    pub len: u32,
    /// The quotes around a value with escapes; else 0.
    pub escaped: u32,
}

impl Known {
    fn new(key: u32, value: Text) -> Known {
        let escaped = if value.escaped { u32::from(value.quote) } else { 0 };
        Known { key, start: value.start as u32, len: (value.end - value.start) as u32, escaped }
    }
}

pub fn parse(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let text = args.value(0);
    let separator = args.text(1, "=")?;
    let pair = args.text(2, ", ")?;
    let stray = match args.is_given(3) {
        true => {
            let key = args.text(3, "")?;
            Some(args.compiler.text(&key))
        }
        false => None,
    };
    let append = args.flag(4, false)?;
    // As in AxoSyslog only the first character counts.
    let key = match separator.first() {
        Some(byte) if !matches!(byte, b' ' | b'"' | b'\'') => *byte,
        _ => {
            args.wrong(
                1,
                "value_separator is one character, not a blank or quote",
                "as value_separator=\":\"",
            );
            return None;
        }
    };
    if pair.is_empty() {
        args.wrong(2, "pair_separator is at least one character", "as pair_separator=\";\"");
        return None;
    }
    let scanner = Scanner::new(Separators { key, pair: pair.into() });
    let only = args.only.take().filter(|_| stray.is_none() && !append && scanner.separators.are_plain());
    args.made(Parse { text: text?, scanner, stray, append, only })
}

impl Operation for Parse {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        let span = text_argument(run, &[text], 0)?;
        if let Some(only) = run.only(&self.only)?
            && self.find_known(run.batch.bytes(span), run.memory, only)
        {
            return self.dict_of_known(run, span).map(Value::Dict);
        }
        let mut pieces = std::mem::take(&mut run.memory.pieces);
        pieces.clear();
        self.scan(run.batch.bytes(span), &mut run.memory.outline, &mut pieces);
        let mut strays = run.cx.work.text();
        let dict = self.dict(run, span, &pieces, &mut strays);
        let kept = match (&dict, self.stray) {
            (Ok(dict), Some(key)) => stray_words(run, *dict, key, &strays),
            _ => Ok(()),
        };
        run.memory.pieces = pieces;
        run.cx.work.keep_text(strays);
        kept?;
        dict.map(Value::Dict)
    }

    fn extractor(&self) -> Option<&dyn Extract> {
        self.only.as_ref().map(|_| self as &dyn Extract)
    }
}

impl Extract for Parse {
    fn text(&self) -> &Expr {
        &self.text
    }

    fn variable(&self) -> u32 {
        self.only.as_ref().map_or(u32::MAX, |only| only.variable)
    }

    fn extract(&self, text: &[u8], memory: &mut Memory) -> bool {
        self.only.as_ref().is_some_and(|only| self.find_known(text, memory, only))
    }
}

fn stray_words(run: &mut Run<'_>, dict: Node, key: u32, words: &[u8]) -> Result<(), Halt> {
    let key = run.literal_value(key)?;
    let words = run.string(words)?;
    run.set_key(dict, key, words)
}

impl Parse {
    /// Finds the pairs that are looked at, each key once with its last value; false where the text has no
    /// outline.
    fn find_known(&self, text: &[u8], memory: &mut Memory, only: &Only) -> bool {
        let known = &mut memory.known;
        known.clear();
        let separators = &self.scanner.separators;
        some_by_outline(text, separators, &mut memory.outline, &only.keys, |_, key, value| {
            match known.iter_mut().find(|pair| pair.key == key) {
                Some(pair) => *pair = Known::new(key, value),
                None => known.push(Known::new(key, value)),
            }
        })
    }

    /// The dict of the pairs that were found last.
    fn dict_of_known(&self, run: &mut Run<'_>, span: Span) -> Result<Node, Halt> {
        let mark = run.memory.stack.len();
        let mut at = 0;
        while let Some(&Known { key, start, len, escaped }) = run.memory.known.get(at) {
            let place = Span { start: span.start + start, len };
            let value = match escaped {
                0 => Value::String(place),
                quote => unescaped(run, place, quote as u8)?,
            };
            let key = run.literal_value(key)?;
            run.memory.stack.push(key);
            run.memory.stack.push(value);
            at += 1;
        }
        run.node_of_stack(mark, false)
    }

    fn scan(&self, text: &[u8], outline: &mut Outline, pieces: &mut Vec<Piece>) {
        if self.stray.is_none() && !self.append {
            let separators = &self.scanner.separators;
            if !by_outline(text, separators, outline, |key, value| pieces.push(Piece::Pair(key, value))) {
                let pair = |key: Key, value| pieces.push(Piece::Pair(key.start..key.end, value));
                self.scanner.scan(text, pair, |_| {});
            }
            return;
        }
        let start = text.as_ptr() as usize;
        let pieces = RefCell::new(pieces);
        self.scanner.scan(
            text,
            |key, value| pieces.borrow_mut().push(Piece::Pair(key.start..key.end, value)),
            |word| {
                let at = word.as_ptr() as usize - start;
                pieces.borrow_mut().push(Piece::Stray(at, at + word.len()));
            },
        );
    }

    /// The dict of the pairs; words that belong to none are appended to `strays`.
    fn dict(
        &self,
        run: &mut Run<'_>,
        span: Span,
        pieces: &[Piece],
        strays: &mut Vec<u8>,
    ) -> Result<Node, Halt> {
        let mark = run.memory.stack.len();
        let (mut seen, mut repeated) = (Seen::default(), false);
        for piece in pieces {
            match piece {
                Piece::Pair(key, value) => {
                    let value = self.value(run, span, *value)?;
                    let name = Span::new(span.start as usize + key.start, key.len());
                    repeated |= seen.is_again(&run.memory.stack, mark, name, &run.batch.text);
                    run.memory.stack.push(Value::String(name));
                    run.memory.stack.push(value);
                }
                Piece::Stray(from, to) => {
                    let word = Span::new(span.start as usize + *from, *to - *from);
                    if self.append && run.memory.stack.len() > mark {
                        append(run, word)?;
                        continue;
                    }
                    if !strays.is_empty() {
                        strays.push(b',');
                    }
                    strays.extend_from_slice(run.batch.bytes(word));
                }
            }
        }
        run.node_of_stack(mark, repeated)
    }

    fn value(&self, run: &mut Run<'_>, span: Span, value: Text) -> Eval {
        let place = Span::new(span.start as usize + value.start, value.end - value.start);
        if !value.escaped {
            return Ok(Value::String(place));
        }
        unescaped(run, place, value.quote)
    }
}

fn unescaped(run: &mut Run<'_>, place: Span, quote: u8) -> Eval {
    run.made(|run, out| {
        unescape(run.batch.bytes(place), quote, out);
        Ok(())
    })
}

/// Appends a word to the value on top of the stack.
fn append(run: &mut Run<'_>, word: Span) -> Result<(), Halt> {
    let Some(old) = run.memory.stack.pop() else { return Ok(()) };
    let value = run.made(|run, out| {
        out.extend_from_slice(run.bytes(old));
        out.push(b' ');
        out.extend_from_slice(run.batch.bytes(word));
        Ok(())
    })?;
    run.memory.stack.push(value);
    Ok(())
}

struct Format {
    dict: Expr,
    value_separator: Vec<u8>,
    pair_separator: Vec<u8>,
    quote: u8,
    always: bool,
}

pub fn format(args: &mut Arguments<'_, '_>) -> Option<Expr> {
    let dict = args.value(0);
    let value_separator = args.text(1, "=")?;
    let pair_separator = args.text(2, ", ")?;
    let quote = args.text(3, "\"")?;
    let always = args.flag(4, false)?;
    if value_separator.len() != 1 || pair_separator.is_empty() {
        args.wrong(
            1,
            "value_separator is one character, pair_separator at least one",
            "as value_separator=\":\"",
        );
        return None;
    }
    let quote = match *quote {
        [quote @ (b'"' | b'\'')] => quote,
        _ => {
            args.wrong(3, "quote_char is `\"` or `'`", "as quote_char=\"'\"");
            return None;
        }
    };
    args.made(Format { dict: dict?, value_separator, pair_separator, quote, always })
}

impl Operation for Format {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let dict = run.eval(&self.dict)?;
        let Some(count) = run.pair_count(dict) else {
            return run.fail(Failure::Type("Argument must be dict typed", dict.type_name()));
        };
        let mut value_text = run.cx.work.text();
        let text = run.made(|run, out| {
            for (key, value) in (0..count).filter_map(|at| run.pair(dict, at)) {
                if matches!(value, Value::Dict(_) | Value::List(_) | Value::Tuple(_) | Value::Otel(..)) {
                    continue;
                }
                if !out.is_empty() {
                    out.extend_from_slice(&self.pair_separator);
                }
                run.put(key, TEXT, out);
                out.extend_from_slice(&self.value_separator);
                value_text.clear();
                run.put(value, TEXT, &mut value_text);
                if !self.always && !value_text.contains(&b' ') {
                    out.extend_from_slice(&value_text);
                    continue;
                }
                out.push(self.quote);
                for byte in &value_text {
                    if *byte == self.quote || *byte == b'\\' {
                        out.push(b'\\');
                    }
                    out.push(*byte);
                }
                out.push(self.quote);
            }
            Ok(())
        });
        run.cx.work.keep_text(value_text);
        text
    }
}
