//! Literals, names, calls, and what stands in parentheses.

use super::{Parser, Read};
use crate::ast::{Argument, Call, Expr, Kind, Pair, Word};
use crate::token::Token;

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Read<Expr> {
        let start = self.at;
        let kind = match self.token.clone() {
            Token::Integer(value) => {
                let Ok(value) = i64::try_from(value) else {
                    return self.fail("a number that does not fit 64 bits", None);
                };
                self.advance();
                Kind::Integer(value)
            }
            Token::Double(value) => {
                self.advance();
                Kind::Double(value)
            }
            Token::Text(text, quote) => {
                self.advance();
                Kind::Text(text, quote)
            }
            Token::Message(name) => {
                self.advance();
                Kind::Message(name)
            }
            Token::Word(word) => self.word_expression(&word)?,
            Token::Sign("(") => return self.parenthesized(),
            Token::Sign("[") => {
                self.advance();
                Kind::List(self.items("]")?.0)
            }
            Token::Sign("{") => {
                self.advance();
                Kind::Dict(self.deeper(Parser::pairs)?)
            }
            other => {
                let message = format!("expected an expression, found {}", other.describe());
                return self.fail(message, None);
            }
        };
        self.expr(kind, start.to(self.last))
    }

    fn word_expression(&mut self, word: &str) -> Read<Kind> {
        let simple = match word {
            "null" => Some(Kind::Null),
            "true" => Some(Kind::Boolean(true)),
            "false" => Some(Kind::Boolean(false)),
            "drop" => Some(Kind::Drop),
            "done" => Some(Kind::Done),
            "break" => Some(Kind::Break),
            _ => None,
        };
        if let Some(kind) = simple {
            self.advance();
            return Ok(kind);
        }
        match word {
            "isset" => self.in_parentheses("isset").map(|e| Kind::Isset(Box::new(e))),
            "dpath" => self.in_parentheses("dpath").map(|e| Kind::Dpath(Box::new(e))),
            "enum" => self.constant(),
            _ => {
                let name = self.name("a value")?;
                if self.is("(") { self.call(name) } else { Ok(Kind::Name(name.text)) }
            }
        }
    }

    fn in_parentheses(&mut self, word: &str) -> Read<Expr> {
        self.advance();
        self.expect("(", &format!("after `{word}`"))?;
        let inner = self.expression()?;
        self.expect(")", &format!("after what `{word}` is about"))?;
        Ok(inner)
    }

    /// `enum(otel.NAME)`
    fn constant(&mut self) -> Read<Kind> {
        self.advance();
        self.expect("(", "after `enum`")?;
        let name = match self.token.clone() {
            Token::Text(text, _) => {
                self.advance();
                String::from_utf8_lossy(&text).into_owned()
            }
            _ => {
                let space = self.name("a namespace")?;
                self.expect(".", "after the namespace")?;
                format!("{}.{}", space.text, self.name("the name of a constant")?.text)
            }
        };
        self.expect(")", "after the name of the constant")?;
        Ok(Kind::Enum(name))
    }

    /// `(a)`, or a tuple: `()`, `(a,)`, `(a, b)`.
    fn parenthesized(&mut self) -> Read<Expr> {
        let start = self.at;
        self.advance();
        let (mut items, trailing) = self.items(")")?;
        let at = start.to(self.last);
        if items.len() == 1
            && !trailing
            && let Some(only) = items.pop()
        {
            return Ok(Expr { at, ..only });
        }
        self.expr(Kind::Tuple(items), at)
    }

    /// Expressions up to a closing sign, and whether a comma stands before it.
    fn items(&mut self, close: &str) -> Read<(Vec<Expr>, bool)> {
        self.deeper(|parser| {
            let mut items = Vec::new();
            let mut trailing = false;
            while !parser.take(close) {
                if !items.is_empty() && !trailing {
                    let message = format!("expected `,` or `{close}`, found {}", parser.token.describe());
                    return parser.fail(message, None);
                }
                items.push(parser.expression()?);
                trailing = parser.take(",");
            }
            Ok((items, trailing))
        })
    }

    fn pairs(&mut self) -> Read<Vec<Pair>> {
        let mut pairs = Vec::new();
        loop {
            if self.take("}") {
                return Ok(pairs);
            }
            let key = self.expression()?;
            let optional = self.take(":??");
            if !optional {
                self.expect(":", "after a key")?;
            }
            let value = self.expression()?;
            pairs.push(Pair { key, value, optional });
            if !self.take(",") && !self.is("}") {
                let message = format!("expected `,` or `}}`, found {}", self.token.describe());
                return self.fail(message, None);
            }
        }
    }

    fn call(&mut self, name: Word) -> Read<Kind> {
        self.advance();
        let args = self.deeper(Parser::arguments)?;
        Ok(Kind::Call(Call { name, args }))
    }

    fn arguments(&mut self) -> Read<Vec<Argument>> {
        let mut args: Vec<Argument> = Vec::new();
        if self.take(")") {
            return Ok(args);
        }
        loop {
            let name = match (&self.token, true) {
                (Token::Word(word), _) => {
                    let word = Word { text: word.clone(), at: self.at };
                    (*self.peek() == Token::Sign("=")).then_some(word)
                }
                _ => None,
            };
            if name.is_some() {
                self.advance();
                self.advance();
            } else if args.iter().any(|a| a.name.is_some()) {
                return self.fail(
                    "an argument without a name behind one with a name",
                    Some("put arguments without names first"),
                );
            }
            args.push(Argument { name, value: self.expression()? });
            if self.take(")") {
                return Ok(args);
            }
            if !self.take(",") {
                let message = format!("expected `,` or `)`, found {}", self.token.describe());
                return self.fail(message, None);
            }
        }
    }
}
