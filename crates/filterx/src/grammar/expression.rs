//! Operators by their strength, the weakest first.

use super::{Parser, Read};
use crate::ast::{Binary, By, Compare, Expr, Kind, Unary};
use crate::token::Token;

/// Levels of operators that go from left to right.
const LEVELS: [fn(&str) -> Option<Binary>; 6] = [or, and, equality, relation, sum, product];
/// `not` stands before the third of them.
const NOT: usize = 2;

fn or(sign: &str) -> Option<Binary> {
    (sign == "or").then_some(Binary::Or)
}

fn and(sign: &str) -> Option<Binary> {
    (sign == "and").then_some(Binary::And)
}

fn equality(sign: &str) -> Option<Binary> {
    Some(match sign {
        "==" => Binary::Compare(Compare::Equal, By::Value),
        "!=" => Binary::Compare(Compare::NotEqual, By::Value),
        "eq" => Binary::Compare(Compare::Equal, By::Text),
        "ne" => Binary::Compare(Compare::NotEqual, By::Text),
        "===" => Binary::Same,
        "!==" => Binary::NotSame,
        "=~" => Binary::Matches,
        "!~" => Binary::NotMatches,
        "in" => Binary::In,
        _ => return None,
    })
}

fn relation(sign: &str) -> Option<Binary> {
    let (compare, by) = match sign {
        "<" => (Compare::Less, By::Value),
        "<=" => (Compare::LessEqual, By::Value),
        ">" => (Compare::Greater, By::Value),
        ">=" => (Compare::GreaterEqual, By::Value),
        "lt" => (Compare::Less, By::Text),
        "le" => (Compare::LessEqual, By::Text),
        "gt" => (Compare::Greater, By::Text),
        "ge" => (Compare::GreaterEqual, By::Text),
        _ => return None,
    };
    Some(Binary::Compare(compare, by))
}

fn sum(sign: &str) -> Option<Binary> {
    match sign {
        "+" => Some(Binary::Plus),
        "-" => Some(Binary::Minus),
        _ => None,
    }
}

fn product(sign: &str) -> Option<Binary> {
    match sign {
        "*" => Some(Binary::Times),
        "/" => Some(Binary::Divide),
        "%" => Some(Binary::Modulo),
        _ => None,
    }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.deeper(|parser| parser.ternary())
    }

    fn ternary(&mut self) -> Read<Expr> {
        let condition = self.coalesce()?;
        let yes = if self.take("?:") {
            None
        } else if self.take("?") {
            let yes = self.expression()?;
            self.expect(":", "between the two values of a condition")?;
            Some(Box::new(yes))
        } else {
            return Ok(condition);
        };
        let no = self.expression()?;
        let at = condition.at.to(no.at);
        self.expr(Kind::Ternary(Box::new(condition), yes, Box::new(no)), at)
    }

    fn coalesce(&mut self) -> Read<Expr> {
        let left = self.level(0)?;
        if !self.take("??") {
            return Ok(left);
        }
        let right = self.deeper(Parser::coalesce)?;
        self.binary(Binary::Coalesce, left, right)
    }

    fn binary(&mut self, operator: Binary, left: Expr, right: Expr) -> Read<Expr> {
        let at = left.at.to(right.at);
        self.expr(Kind::Binary(operator, Box::new(left), Box::new(right)), at)
    }

    fn level(&mut self, level: usize) -> Read<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        if level == NOT && self.is_word("not") {
            let start = self.at;
            self.advance();
            let inner = self.deeper(|parser| parser.level(NOT))?;
            let at = start.to(inner.at);
            return self.expr(Kind::Unary(Unary::Not, Box::new(inner)), at);
        }
        let mut left = self.level(level + 1)?;
        if level < NOT {
            return self.chain(level, *operators, left);
        }
        loop {
            let operator = match &self.token {
                Token::Sign(sign) => operators(sign),
                Token::Word(word) if word == "not" && level == NOT => match self.peek() {
                    Token::Word(next) if next == "in" => {
                        self.advance();
                        Some(Binary::NotIn)
                    }
                    _ => None,
                },
                Token::Word(word) => operators(word),
                _ => None,
            };
            let Some(operator) = operator else { return Ok(left) };
            self.advance();
            let right = match self.is_word("not") {
                true => self.level(NOT)?,
                false => self.level(level + 1)?,
            };
            left = self.binary(operator, left, right)?;
        }
    }

    /// Operands that `or` or `and` join, of which any number may follow one another: halves of them are
    /// joined, so that they are not one inside the other.
    fn chain(&mut self, level: usize, operators: fn(&str) -> Option<Binary>, first: Expr) -> Read<Expr> {
        let (mut operands, mut operator) = (vec![first], None);
        while let Token::Word(word) = &self.token
            && let Some(found) = operators(word)
        {
            operator = Some(found);
            self.advance();
            operands.push(self.level(level + 1)?);
        }
        match operator {
            Some(operator) => self.joined(operator, operands),
            None => operands.pop().map_or_else(|| self.fail("expected an expression", None), Ok),
        }
    }

    fn joined(&mut self, operator: Binary, mut operands: Vec<Expr>) -> Read<Expr> {
        let rest = operands.split_off(operands.len().div_ceil(2));
        if rest.is_empty() {
            return operands.pop().map_or_else(|| self.fail("expected an expression", None), Ok);
        }
        let left = self.joined(operator, operands)?;
        let right = self.joined(operator, rest)?;
        self.binary(operator, left, right)
    }

    fn unary(&mut self) -> Read<Expr> {
        let start = self.at;
        let operator = match &self.token {
            Token::Sign("-") => Unary::Minus,
            Token::Sign("+") => Unary::Plus,
            _ => return self.postfix(),
        };
        self.advance();
        if let (Unary::Minus, Token::Integer(value)) = (operator, &self.token) {
            let value = 0i64.checked_sub_unsigned(*value);
            let Some(value) = value else { return self.fail("a number that does not fit 64 bits", None) };
            self.advance();
            return self.expr(Kind::Integer(value), start.to(self.last));
        }
        let inner = self.deeper(Parser::unary)?;
        let at = start.to(inner.at);
        self.expr(Kind::Unary(operator, Box::new(inner)), at)
    }

    /// `.name`, `[key]`, `[a..b]` behind a value.
    fn postfix(&mut self) -> Read<Expr> {
        let mut value = self.primary()?;
        loop {
            let start = value.at;
            let kind = if self.take(".") {
                Kind::Attribute(Box::new(value), self.name("the name of an attribute")?)
            } else if self.take("[") {
                self.subscript(value)?
            } else {
                return Ok(value);
            };
            value = self.expr(kind, start.to(self.last))?;
        }
    }

    fn subscript(&mut self, value: Expr) -> Read<Kind> {
        let value = Box::new(value);
        if self.take("]") {
            return Ok(Kind::Append(value));
        }
        let from = if self.is("..") { None } else { Some(Box::new(self.expression()?)) };
        let kind = if self.take("..") {
            let to = if self.is("]") { None } else { Some(Box::new(self.expression()?)) };
            Kind::Slice(value, from, to)
        } else if let Some(key) = from {
            Kind::Element(value, key)
        } else {
            return self.fail("expected a key", None);
        };
        self.expect("]", "after the key")?;
        Ok(kind)
    }
}
