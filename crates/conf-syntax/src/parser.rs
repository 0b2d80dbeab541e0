//! Tokens to tree: statements at the top, the shared means of all parts, and how to go on after an error.

mod args;
mod log_path;
mod statement;

use diag::{Diagnostic, Span};

use crate::ast::{Config, Name};
use crate::context::Context;
use crate::reader::Reader;
use crate::token::{Bracket, Tok, Token};

pub struct Parser<'o> {
    pub reader: Reader<'o>,
    /// Comes before what was peeked.
    taken_back: Option<Token>,
    peeked: Option<Token>,
    /// Place of the last token taken: where something missing is reported.
    last: Span,
    /// Where a closing bracket was last missed.
    unclosed: Option<Span>,
    depth: usize,
}

impl<'o> Parser<'o> {
    pub fn new(reader: Reader<'o>) -> Parser<'o> {
        Parser { reader, taken_back: None, peeked: None, last: Span::default(), unclosed: None, depth: 0 }
    }

    /// Everything up to the end of the main text.
    pub fn config(mut self) -> (Config, Reader<'o>) {
        loop {
            let token = self.next();
            match token.kind {
                Tok::Eof => break,
                Tok::Semicolon => {}
                Tok::Word(word) => self.statement(Name { text: word, span: token.span }),
                Tok::Close(bracket) => {
                    let message = format!("unexpected `{}`: nothing is open here", bracket.close());
                    self.error("P0104", message, token.span);
                }
                other => {
                    let message = format!("expected a statement, found {}", other.describe());
                    self.push(Diagnostic::error("P0101", message, token.span).help(statement::FORMS));
                    self.peeked = Some(Token { kind: other, span: token.span });
                    self.resync();
                }
            }
        }
        // The secrets that the reader knows are taken out of it.
        let preprocessed = self.reader.take_preprocessed();
        let mut config = std::mem::take(&mut self.reader.config);
        config.preprocessed = preprocessed;
        (config, self.reader)
    }

    fn next(&mut self) -> Token {
        let ahead = self.taken_back.take().or_else(|| self.peeked.take());
        let token = ahead.unwrap_or_else(|| self.reader.next_token());
        if token.kind != Tok::Eof {
            self.last = token.span;
        }
        token
    }

    fn peek(&mut self) -> &Tok {
        &self.peek_token().kind
    }

    fn peek_token(&mut self) -> &Token {
        let Parser { reader, taken_back, peeked, .. } = self;
        taken_back.as_ref().unwrap_or_else(|| peeked.get_or_insert_with(|| reader.next_token()))
    }

    fn at(&mut self, kind: &Tok) -> bool {
        self.peek() == kind
    }

    fn take(&mut self, kind: &Tok) -> Option<Span> {
        self.at(kind).then(|| self.next().span)
    }

    /// Runs `f` with the calls of another context. Nothing may have been peeked: it would belong to the old
    /// one.
    fn within<T>(&mut self, context: Context, f: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.reader.context, context);
        let result = f(self);
        self.reader.context = before;
        result
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        // After a fatal error the end of the text comes early: what is missing there is not an error of its
        // own.
        if !(self.reader.fatal && matches!(self.peeked.as_ref().map(|t| &t.kind), None | Some(Tok::Eof))) {
            self.reader.diags.push(diagnostic);
        }
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.push(Diagnostic::error(code, message, span));
    }

    /// One level deeper, unless that is too deep: then the brackets (the opening one was taken) are skipped.
    fn deeper<T>(&mut self, bracket: Bracket, open: Span, f: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let max = self.reader.options.limits.nesting;
        if self.depth >= max {
            self.error("P0107", format!("brackets inside each other more than {max} deep"), open);
            self.skip_to_close(bracket);
            return None;
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        Some(result)
    }

    /// The `;` after a statement or item.
    fn semicolon(&mut self, after: &str) {
        while let Tok::Close(b @ (Bracket::Round | Bracket::Square)) = *self.peek() {
            let span = self.next().span;
            self.error("P0104", format!("unexpected `{}`", b.close()), span);
        }
        if self.take(&Tok::Semicolon).is_none() {
            let at = self.last.after();
            // The missing bracket has been reported, that is enough.
            if self.unclosed == Some(at) && (self.taken_back.is_some() || self.at(&Tok::Eof)) {
                return;
            }
            self.push(
                Diagnostic::error("P0102", format!("missing `;` after {after}"), at).help("add `;` here"),
            );
        }
    }

    fn missing_close(&mut self, bracket: Bracket, open: Span) {
        let at = self.last.after();
        self.unclosed = Some(at);
        let close = bracket.close();
        self.push(
            Diagnostic::error("P0103", format!("missing `{close}`"), at)
                .label(open, format!("to close this `{}`", bracket.open())),
        );
    }

    /// The name of an object: a word or a string.
    fn name(&mut self, of_what: &str) -> Option<Name> {
        if matches!(self.peek(), Tok::Word(_) | Tok::Str(..) | Tok::Int(..) | Tok::Float(..)) {
            let token = self.next();
            let span = token.span;
            return token.kind.into_text().map(|text| Name { text, span });
        }
        let found = self.peek_token().clone();
        let message = format!("expected the name of {of_what}, found {}", found.kind.describe());
        self.error("P0105", message, found.span);
        None
    }

    /// Takes an opening bracket or reports that it is missing.
    fn open(&mut self, bracket: Bracket, after: &str) -> Option<Span> {
        if let Some(span) = self.take(&Tok::Open(bracket)) {
            return Some(span);
        }
        let found = self.peek().describe();
        let at = self.last.after();
        self.error("P0106", format!("expected `{}` after {after}, found {found}", bracket.open()), at);
        None
    }

    /// After an error: goes on behind the next `;` that is not in brackets, or before the `}` that ends the
    /// body.
    fn resync(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Tok::Eof => return,
                Tok::Semicolon if depth == 0 => {
                    self.next();
                    return;
                }
                Tok::Close(Bracket::Curly) if depth == 0 => return,
                Tok::Open(_) => depth += 1,
                Tok::Close(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.next();
        }
    }

    /// Skips to the bracket that closes one already taken, and over it.
    fn skip_to_close(&mut self, bracket: Bracket) {
        let mut depth = 1usize;
        loop {
            match self.next().kind {
                Tok::Eof => return,
                Tok::Open(b) if b == bracket => depth += 1,
                Tok::Close(b) if b == bracket => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
    }
}
