//! Arguments: what stands between the parentheses of a call, and the expressions of filters.

use diag::{Diagnostic, Span};

use super::Parser;
use crate::ast::{Arg, ArgKind, Call, FilterExpr, Name};
use crate::context::{Context, FILTER_OPTIONS};
use crate::filter_expr;
use crate::token::{Bracket, Tok, Token};

impl Parser<'_> {
    /// `(args)` after `name`; the parenthesis is the next token.
    pub(super) fn call(&mut self, name: Name) -> Option<Call> {
        // The inside of a call may allow other blocks: it is entered before the first token in it is read.
        let open = self.open(Bracket::Round, &format!("`{}`", name.text))?;
        let inside = if FILTER_OPTIONS.iter().any(|o| name.is(o)) {
            Context::Filter
        } else {
            self.reader.context.inside()
        };
        let args = self.within(inside, |p| {
            p.deeper(Bracket::Round, open, |p| p.args(Bracket::Round, open)).unwrap_or_default()
        });
        let span = name.span.to(self.last);
        Some(Call { name, args, span })
    }

    /// Arguments up to the closing bracket, and over it.
    pub(super) fn args(&mut self, bracket: Bracket, open: Span) -> Vec<Arg> {
        let mut args = Vec::new();
        loop {
            let token = self.peek_token().clone();
            match token.kind {
                Tok::Close(b) if b == bracket => {
                    self.next();
                    return args;
                }
                Tok::Eof => {
                    self.missing_close(bracket, open);
                    return args;
                }
                // A brace or a semicolon cannot be inside parentheses: the parenthesis was forgotten.
                Tok::Close(Bracket::Curly) => {
                    self.missing_close(bracket, open);
                    return args;
                }
                Tok::Semicolon if bracket == Bracket::Round && self.reader.context != Context::Filter => {
                    self.missing_close(bracket, open);
                    return args;
                }
                // `if (condition {`
                Tok::Open(Bracket::Curly)
                    if bracket == Bracket::Round && self.reader.context == Context::Filter =>
                {
                    self.missing_close(bracket, open);
                    return args;
                }
                Tok::Close(b) => {
                    self.next();
                    self.error("P0104", format!("unexpected `{}`", b.close()), token.span);
                }
                _ => args.extend(self.arg()),
            }
        }
    }

    /// One argument, with what may follow it: `..` and `=>`.
    fn arg(&mut self) -> Option<Arg> {
        let first = self.single()?;
        let pair: fn(Box<Arg>, Box<Arg>) -> ArgKind = match self.peek() {
            Tok::DotDot => ArgKind::Range,
            Tok::Arrow => ArgKind::Pair,
            _ => return Some(first),
        };
        let symbol = self.next();
        if matches!(self.peek(), Tok::Close(_) | Tok::Semicolon | Tok::Eof) {
            let message = format!("nothing stands on the right of {}", symbol.kind.describe());
            self.error("P0106", message, symbol.span);
            return Some(first);
        }
        let second = self.single()?;
        let span = first.span.to(second.span);
        Some(Arg { kind: pair(Box::new(first), Box::new(second)), span })
    }

    fn single(&mut self) -> Option<Arg> {
        let Token { kind, span } = self.next();
        let kind = match kind {
            Tok::Word(text) if self.at(&Tok::Open(Bracket::Round)) && !is_connective(&text) => {
                let call = self.call(Name { text, span })?;
                return Some(Arg { span: call.span, kind: ArgKind::Call(call) });
            }
            Tok::Word(text) => ArgKind::Ident(text),
            Tok::Str(text, quote) => ArgKind::Str { text, quote },
            Tok::Int(value, text) => ArgKind::Int { value, text },
            Tok::Float(value, text) => ArgKind::Float { value, text },
            Tok::Op(op) => ArgKind::Op(op),
            Tok::Semicolon => ArgKind::Semicolon,
            Tok::Open(bracket) => {
                let inner = self.deeper(bracket, span, |p| p.args(bracket, span)).unwrap_or_default();
                let kind = match bracket {
                    Bracket::Round => ArgKind::Group(inner),
                    Bracket::Curly => ArgKind::Braces(inner),
                    Bracket::Square => ArgKind::List(inner),
                };
                return Some(Arg { kind, span: span.to(self.last) });
            }
            other => {
                let message = format!("unexpected {} among arguments", other.describe());
                self.push(Diagnostic::error("P0101", message, span).help("put the value in quotes"));
                return None;
            }
        };
        Some(Arg { kind, span })
    }

    /// The whole text is one filter expression.
    pub fn filter_to_end(&mut self) -> Option<FilterExpr> {
        let start = self.reader.start();
        let args = self.within(Context::Filter, |p| {
            let mut args = Vec::new();
            loop {
                let token = p.peek_token().clone();
                match token.kind {
                    Tok::Eof => return args,
                    Tok::Close(b) => {
                        p.next();
                        p.error("P0104", format!("unexpected `{}`", b.close()), token.span);
                    }
                    _ => args.extend(p.arg()),
                }
            }
        });
        filter_expr::from_args(&args, start.to(self.last), &mut self.reader.diags)
    }

    /// A filter expression up to the closing bracket, and over it; its tokens are read in the filter context.
    /// The opening bracket was just taken.
    pub(super) fn filter_body(&mut self, bracket: Bracket, open: Span) -> Option<FilterExpr> {
        let args = self.within(Context::Filter, |p| p.deeper(bracket, open, |p| p.args(bracket, open)))?;
        let whole = open.to(self.last);
        if self.reader.fatal {
            return None;
        }
        filter_expr::from_args(&args, whole, &mut self.reader.diags)
    }
}

/// Words of filter expressions that may stand before a parenthesis without calling anything: `not (a or b)`.
fn is_connective(word: &str) -> bool {
    matches!(word, "not" | "and" | "or")
}
