//! The lexer proper: one token from the current text; and the token the parser sees, with pragmas and calls
//! resolved.

use diag::{Diagnostic, Span};

use super::Reader;
use crate::ast::{Quote, Version};
use crate::context::Context;
use crate::literal::unescape;
use crate::token::{Bracket, Tok, Token, classify, is_word_byte};

/// What word processors make of quotes.
const TYPOGRAPHIC_QUOTES: [char; 6] = ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{ab}'];

impl Reader<'_> {
    /// The next token after includes, pragmas and block calls have been followed.
    pub fn next_token(&mut self) -> Token {
        loop {
            if self.levels.is_empty() {
                return Token { kind: Tok::Eof, span: self.span_here() };
            }
            let token = self.lex();
            match &token.kind {
                Tok::Eof if self.pop_level() => {}
                Tok::Word(word) if word == "include" && self.old_include(token.span) => {}
                Tok::Word(word) => {
                    self.run_scripts_for(word);
                    if let Some(generator) = self.generator(word)
                        && self.call_generator(&generator, word, token.span)
                    {
                        continue;
                    }
                    return token;
                }
                _ => return token,
            }
        }
    }

    /// `include "file";` of old versions: true when it was one.
    fn old_include(&mut self, at: Span) -> bool {
        if matches!(self.context, Context::Plain | Context::InnerSource | Context::InnerDestination) {
            return false;
        }
        let begin = self.token_begin;
        let mark = self.mark();
        self.skip_blank();
        if !matches!(self.peek(), Some(b'"' | b'\'')) {
            self.rewind(mark);
            return false;
        }
        let name = self.lex();
        self.preprocessed.truncate(begin);
        let span = at.to(name.span);
        if self.config.version.is_none_or(|v| v >= Version::new(3, 20)) {
            self.diags.push(
                Diagnostic::error("P0028", "include without `@` was removed in version 3.20", span)
                    .help("write `@include \"file\"` at the beginning of a line"),
            );
        } else if let Tok::Str(name, _) = name.kind {
            self.include(&name, span);
        }
        true
    }

    /// One token of the current text; [`Tok::Eof`] at its end.
    pub(super) fn lex(&mut self) -> Token {
        loop {
            self.token_begin = self.preprocessed.len();
            let start = self.here();
            let Some(b) = self.peek() else {
                return Token { kind: Tok::Eof, span: Span::new(self.file(), start, start) };
            };
            match b {
                b'\n' if self.in_pragma => return self.single(Tok::Newline),
                b' ' | b'\t' | b'\r' | b'\n' | b',' => {
                    self.bump();
                }
                b'#' => self.skip_comment(),
                b'@' if !self.in_pragma && self.at_line_start() => self.pragma(),
                b'"' => return self.string(Quote::Double),
                b'\'' => return self.string(Quote::Single),
                b'(' => return self.single(Tok::Open(Bracket::Round)),
                b')' => return self.single(Tok::Close(Bracket::Round)),
                b'{' => return self.single(Tok::Open(Bracket::Curly)),
                b'}' => return self.single(Tok::Close(Bracket::Curly)),
                b'[' => return self.single(Tok::Open(Bracket::Square)),
                b']' => return self.single(Tok::Close(Bracket::Square)),
                b';' => return self.single(Tok::Semicolon),
                b':' if self.in_pragma => return self.single(Tok::Colon),
                b'.' => {
                    if let Some(token) = self.dots() {
                        return token;
                    }
                }
                b'\\' => self.backslash(),
                _ if is_word_byte(b) => {
                    if let Some(token) = self.word() {
                        return token;
                    }
                }
                _ => self.unexpected_byte(b),
            }
        }
    }

    pub(super) fn at_line_start(&self) -> bool {
        self.levels.last().is_some_and(|l| {
            l.splice.is_none() && (l.pos == 0 || l.text.as_bytes().get(l.pos - 1) == Some(&b'\n'))
        })
    }

    fn first_on_line(&self) -> bool {
        self.levels.last().is_some_and(|l| {
            let before = l.text.get(..l.pos).unwrap_or("");
            l.splice.is_none() && before.rsplit('\n').next().is_some_and(|s| s.trim().is_empty())
        })
    }

    fn single(&mut self, kind: Tok) -> Token {
        let start = self.here();
        self.bump();
        Token { kind, span: self.span_from(start) }
    }

    fn dots(&mut self) -> Option<Token> {
        let start = self.here();
        let mut count = 0;
        while count < 3 && self.bump_if(b'.') {
            count += 1;
        }
        let span = self.span_from(start);
        let kind = match count {
            2 => Tok::DotDot,
            3 => Tok::Ellipsis,
            _ => {
                self.diags.push(
                    Diagnostic::error("P0002", "a word cannot begin or end with `.`", span)
                        .help("put the value in quotes"),
                );
                return None;
            }
        };
        Some(Token { kind, span })
    }

    /// A backslash at the end of a line joins it with the next.
    fn backslash(&mut self) {
        let start = self.here();
        self.bump();
        let mark = self.mark();
        let carriage_return = self.bump_if(b'\r');
        if !self.bump_if(b'\n') {
            if carriage_return {
                self.rewind(mark);
            }
            let span = self.span_from(start);
            self.diags.push(
                Diagnostic::error("P0002", "unexpected `\\`", span)
                    .help("put the value in quotes; outside of quotes a backslash only continues a line"),
            );
        }
    }

    fn unexpected_byte(&mut self, b: u8) {
        let start = self.here();
        let first_on_line = self.first_on_line();
        self.bump();
        let span = self.span_from(start);
        if b == b'@' && first_on_line {
            // Surely a pragma: the rest of the line belongs to it.
            self.skip_comment();
        }
        let (message, help) = match b {
            b'@' => ("unexpected `@`".into(), "a pragma begins in the first column; put a value in quotes"),
            b':' | b'|' => (format!("unexpected `{}`", char::from(b)), "put the value in quotes"),
            _ => (
                format!("unexpected control character 0x{b:02x}"),
                "remove it, or write it as \\xHH in quotes",
            ),
        };
        self.diags.push(Diagnostic::error("P0002", message, span).help(help));
    }

    fn word(&mut self) -> Option<Token> {
        let start = self.here();
        let mut bytes = Vec::new();
        while let Some(b) = self.peek() {
            if b == b'.' {
                // One dot between two word bytes belongs to the word.
                let mark = self.mark();
                self.bump();
                if !self.peek().is_some_and(is_word_byte) {
                    self.rewind(mark);
                    break;
                }
                bytes.push(b'.');
            } else if is_word_byte(b) {
                bytes.push(b);
                self.bump();
            } else {
                break;
            }
        }
        let span = self.span_from(start);
        let text = self.utf8(bytes, span);
        if text.starts_with(TYPOGRAPHIC_QUOTES) {
            let finding = Diagnostic::warning("P0002", "typographic quotes are letters like others", span);
            self.diags.push(finding.help("write \"...\" or '...'"));
        }
        match classify(text) {
            Ok(kind) => Some(Token { kind, span }),
            Err(number) => {
                self.diags.error("P0003", format!("the number {number} does not fit into 64 bits"), span);
                Some(Token { kind: Tok::Int(0, number), span })
            }
        }
    }

    fn string(&mut self, quote: Quote) -> Token {
        let start = self.here();
        let end_byte = if quote == Quote::Double { b'"' } else { b'\'' };
        let opening = self.span_here();
        self.bump();
        self.quoting = Some(quote);
        let mut content = Vec::new();
        let closed = loop {
            match self.bump() {
                None => break false,
                Some((b, _)) if b == end_byte => break true,
                Some((b'\\', spliced)) if quote == Quote::Double => {
                    content.push(b'\\');
                    if !spliced && self.at_backtick() {
                        let at = self.span_here();
                        self.after_backslash(at);
                        content.pop();
                    } else if let Some((b, _)) = self.bump() {
                        content.push(b);
                    }
                }
                Some((b, _)) => content.push(b),
            }
        };
        self.quoting = None;
        let span = self.span_from(start);
        if !closed {
            self.diags.push(
                Diagnostic::error("P0001", "unterminated quote", opening)
                    .help("strings may go over several lines: an earlier string may lack its closing quote"),
            );
            self.end_all();
        }
        let bytes = if quote == Quote::Double { unescape(&content) } else { content };
        let text = self.utf8(bytes, span);
        Token { kind: Tok::Str(text, quote), span }
    }

    fn utf8(&mut self, bytes: Vec<u8>, span: Span) -> String {
        let lossy = self.levels.last().is_some_and(|l| l.lossy);
        let text = String::from_utf8(bytes);
        let bad = match &text {
            Ok(text) => lossy && text.contains(char::REPLACEMENT_CHARACTER),
            Err(_) => true,
        };
        if bad {
            self.diags.push(
                Diagnostic::error("P0004", "this value is not valid UTF-8", span)
                    .help("save the file as UTF-8; in a regular expression write the byte as \\\\xHH"),
            );
        }
        text.unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
    }
}
