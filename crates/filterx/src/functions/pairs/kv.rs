//! `parse_kv()`, which reads with the scanner of kv-parser(), and `format_kv()`.

use crate::compile::Arguments;
use crate::functions::strings::text_argument;
use crate::program::{Expr, Operation};
use crate::run::{Eval, Failure, Halt, Run};
use parsers::scanners::kv::{Key, Scanner, Text, unescape};
use value::{Node, Span, TEXT, Value};
use wire::pairs::Separators;

struct Parse {
    text: Expr,
    scanner: Scanner,
    stray: Option<u32>,
    append: bool,
}

/// A pair, or a word between pairs, as places in the text.
enum Piece {
    Pair(Key, Text),
    Stray(usize, usize),
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
    args.made(Parse { text: text?, scanner, stray, append })
}

impl Operation for Parse {
    fn run(&self, run: &mut Run<'_>) -> Eval {
        let text = run.eval(&self.text)?;
        let span = text_argument(run, &[text], 0)?;
        let mut pieces = Vec::new();
        let bytes = run.batch.bytes(span);
        let start = bytes.as_ptr() as usize;
        let wants_strays = self.stray.is_some() || self.append;
        let pieces_of = std::cell::RefCell::new(&mut pieces);
        self.scanner.scan(
            bytes,
            |key, value| pieces_of.borrow_mut().push(Piece::Pair(key, value)),
            |word| {
                if wants_strays {
                    let at = word.as_ptr() as usize - start;
                    pieces_of.borrow_mut().push(Piece::Stray(at, at + word.len()));
                }
            },
        );
        let dict = run.new_dict()?;
        let mut stray = Vec::new();
        let mut last: Option<Value> = None;
        for piece in pieces {
            match piece {
                Piece::Pair(key, value) => {
                    let name = Value::String(Span::new(span.start as usize + key.start, key.end - key.start));
                    let value = self.pair(run, span, value)?;
                    run.set_key(dict, name, value)?;
                    last = Some(name);
                }
                Piece::Stray(from, to) => {
                    let word = Span::new(span.start as usize + from, to - from);
                    match last.filter(|_| self.append) {
                        Some(name) => append(run, dict, name, word)?,
                        None => {
                            if !stray.is_empty() {
                                stray.push(b',');
                            }
                            stray.extend_from_slice(run.batch.bytes(word));
                        }
                    }
                }
            }
        }
        if let Some(key) = self.stray {
            let key = run.literal_value(key)?;
            let words = run.string(&stray)?;
            run.set_key(dict, key, words)?;
        }
        Ok(Value::Dict(dict))
    }
}

impl Parse {
    fn pair(&self, run: &mut Run<'_>, span: Span, value: Text) -> Eval {
        let place = Span::new(span.start as usize + value.start, value.end - value.start);
        if !value.escaped {
            return Ok(Value::String(place));
        }
        run.made(|run, out| {
            unescape(run.batch.bytes(place), value.quote, out);
            Ok(())
        })
    }
}

fn append(run: &mut Run<'_>, dict: Node, name: Value, word: Span) -> Result<(), Halt> {
    let Some(cell) = run.cell_of(Value::Dict(dict), name) else { return Ok(()) };
    let old = run.cells(Value::Dict(dict)).get(cell).copied().unwrap_or_default();
    let value = run.made(|run, out| {
        out.extend_from_slice(run.bytes(old));
        out.push(b' ');
        out.extend_from_slice(run.batch.bytes(word));
        Ok(())
    })?;
    run.trees().set_cell(dict, cell, value);
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
        if !matches!(dict, Value::Dict(_) | Value::Labels(_)) {
            return run.fail(Failure::Type("Argument must be dict typed", dict.type_name()));
        }
        run.made(|run, out| {
            let mut value_text = Vec::new();
            for pair in run.cells(dict).chunks_exact(2) {
                if matches!(pair[1], Value::Dict(_) | Value::List(_) | Value::Tuple(_)) {
                    continue;
                }
                if !out.is_empty() {
                    out.extend_from_slice(&self.pair_separator);
                }
                run.put(pair[0], TEXT, out);
                out.extend_from_slice(&self.value_separator);
                value_text.clear();
                run.put(pair[1], TEXT, &mut value_text);
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
        })
    }
}
