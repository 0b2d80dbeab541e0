//! Tokens to expressions and statements. All errors of a block are found: after one, reading goes on behind
//! the statement's `;`.

mod expression;
mod primary;
mod statement;

use crate::ast::{Expr, Extent, Kind, Word};
use crate::token::{Lexer, Token, Wrong};

/// Expressions inside one another.
pub const DEPTH_MAX: u16 = 200;

/// Words that are no names.
pub const KEYWORDS: &[&str] = &[
    "or", "and", "in", "not", "lt", "le", "eq", "ne", "ge", "gt", "true", "false", "null", "enum", "if",
    "elif", "else", "switch", "case", "default", "isset", "declare", "drop", "done", "break", "dpath",
];

/// Something wrong with what is written.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxError {
    pub message: String,
    pub help: Option<&'static str>,
    pub at: Extent,
}

pub struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token,
    at: Extent,
    /// Of the token before.
    last: Extent,
    ahead: Option<(Token, Extent)>,
    nesting: u16,
    pub errors: Vec<SyntaxError>,
}

/// The error has been noted.
#[derive(Debug)]
pub struct Noted;

pub type Read<T> = Result<T, Noted>;

/// Reads the statements of a block.
pub fn parse(text: &str) -> (Vec<Expr>, Vec<SyntaxError>) {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        token: Token::End,
        at: Extent::default(),
        last: Extent::default(),
        ahead: None,
        nesting: 0,
        errors: Vec::new(),
    };
    parser.advance();
    let statements = parser.statements(None);
    (statements, parser.errors)
}

/// Whether a text stops within brackets or quotes: more is to come.
pub fn is_open(text: &str) -> bool {
    let mut lexer = Lexer::new(text);
    let mut depth = 0i64;
    loop {
        match lexer.next().0 {
            Ok(Token::End) => return depth > 0,
            Ok(Token::Sign("(" | "[" | "{")) => depth += 1,
            Ok(Token::Sign(")" | "]" | "}")) => depth -= 1,
            Ok(_) => {}
            Err(wrong) if wrong.is_unclosed => return true,
            Err(_) => {}
        }
    }
}

impl Parser<'_> {
    fn advance(&mut self) {
        self.last = self.at;
        (self.token, self.at) = self.ahead.take().unwrap_or_else(|| self.read());
    }

    fn read(&mut self) -> (Token, Extent) {
        loop {
            match self.lexer.next() {
                (Ok(token), at) => return (token, at),
                (Err(Wrong { message, at, is_value, .. }), _) => {
                    self.errors.push(SyntaxError { message, help: None, at });
                    if is_value {
                        return (Token::Integer(0), at);
                    }
                }
            }
        }
    }

    /// The token behind the next one.
    fn peek(&mut self) -> &Token {
        if self.ahead.is_none() {
            self.ahead = Some(self.read());
        }
        self.ahead.as_ref().map_or(&Token::End, |(token, _)| token)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(&self.token, Token::Sign(s) if *s == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(w) if w == word)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str, after: &str) -> Read<()> {
        if self.take(sign) {
            return Ok(());
        }
        let message = format!("expected `{sign}` {after}, found {}", self.token.describe());
        self.fail(message, None)
    }

    fn fail<T>(&mut self, message: impl Into<String>, help: Option<&'static str>) -> Read<T> {
        self.errors.push(SyntaxError { message: message.into(), help, at: self.at });
        Err(Noted)
    }

    fn expr(&mut self, kind: Kind, at: Extent) -> Read<Expr> {
        let depth = kind.depth() + 1;
        if depth > DEPTH_MAX {
            let message = format!("more than {DEPTH_MAX} expressions inside one another");
            self.errors.push(SyntaxError { message, help: Some("give parts of it names of their own"), at });
            return Err(Noted);
        }
        Ok(Expr { kind, at, depth })
    }

    /// One level deeper, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.nesting >= DEPTH_MAX {
            return self.fail(format!("more than {DEPTH_MAX} brackets inside one another"), None);
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// A name that is no keyword.
    fn name(&mut self, what: &str) -> Read<Word> {
        match &self.token {
            Token::Word(word) if !KEYWORDS.contains(&word.as_str()) => {
                let word = Word { text: word.clone(), at: self.at };
                self.advance();
                Ok(word)
            }
            Token::Word(word) => {
                let message = format!("`{word}` is a keyword and cannot be {what}");
                self.fail(message, Some("quote it: `d[\"in\"]`, `${in}`"))
            }
            other => {
                let message = format!("expected {what}, found {}", other.describe());
                self.fail(message, None)
            }
        }
    }
}
