//! Statements: assignments, `if`, `switch`, and expressions that are asked whether they hold.

use super::{Parser, Read};
use crate::ast::{AssignBy, Case, Expr, Extent, Kind, Label};
use crate::token::Token;

impl Parser<'_> {
    /// Statements up to the closing brace, which is left, or the end of the text.
    pub(super) fn statements(&mut self, close: Option<Extent>) -> Vec<Expr> {
        let mut all = Vec::new();
        loop {
            if self.take(";") {
                continue;
            }
            match &self.token {
                Token::End => return all,
                Token::Sign("}") if close.is_some() => return all,
                Token::Word(word) if close.is_some() && matches!(word.as_str(), "case" | "default") => {
                    return all;
                }
                _ => {}
            }
            let before = self.at;
            match self.statement() {
                Ok(statement) => all.push(statement),
                Err(_) => self.skip_statement(before),
            }
        }
    }

    /// Goes on behind the next `;` that belongs to no brackets, or before a closing brace.
    fn skip_statement(&mut self, before: Extent) {
        let mut open = 0usize;
        if self.at == before {
            self.advance();
        }
        loop {
            match &self.token {
                Token::End => return,
                Token::Sign(";") if open == 0 => return,
                Token::Sign("}") if open == 0 => {
                    if self.nesting == 0 {
                        self.advance();
                        continue;
                    }
                    return;
                }
                Token::Sign("(" | "[" | "{") => open += 1,
                Token::Sign(")" | "]" | "}") => open = open.saturating_sub(1),
                _ => {}
            }
            self.advance();
        }
    }

    fn statement(&mut self) -> Read<Expr> {
        let start = self.at;
        let kind = match &self.token {
            Token::Word(word) if word == "if" => Some(self.conditional()?),
            Token::Word(word) if word == "switch" => Some(self.switch()?),
            Token::Word(word) if matches!(word.as_str(), "elif" | "else") => {
                let message = format!("`{word}` without `if`");
                return self.fail(message, Some("there is no `;` between the branches of an `if`"));
            }
            Token::Word(word) if matches!(word.as_str(), "case" | "default") => {
                let message = format!("`{word}` outside of a `switch`");
                return self.fail(message, None);
            }
            _ => None,
        };
        if let Some(kind) = kind {
            let statement = self.expr(kind, start.to(self.last))?;
            self.take(";");
            return Ok(statement);
        }
        let statement = if self.is_word("declare") { self.declaration()? } else { self.assignment()? };
        if !self.take(";") {
            let message = format!("expected `;` after a statement, found {}", self.token.describe());
            return self.fail(message, Some("each statement ends with `;`"));
        }
        Ok(statement)
    }

    fn declaration(&mut self) -> Read<Expr> {
        let start = self.at;
        self.advance();
        let name = self.name("the name of a variable")?;
        self.expect("=", "after the declared name")?;
        let value = self.expression()?;
        let at = start.to(value.at);
        self.expr(Kind::Declare(name, Box::new(value)), at)
    }

    fn assignment(&mut self) -> Read<Expr> {
        let target = self.expression()?;
        let by = match &self.token {
            Token::Sign("=") => AssignBy::Plain,
            Token::Sign("+=") => AssignBy::Plus,
            Token::Sign("=??") => AssignBy::Coalesce,
            _ => return Ok(target),
        };
        let is_target = matches!(
            target.kind,
            Kind::Name(_)
                | Kind::Message(_)
                | Kind::Attribute(..)
                | Kind::Element(..)
                | Kind::Append(_)
                | Kind::Dpath(_)
        );
        if !is_target {
            return self.fail(
                "nothing can be assigned to what stands before this",
                Some("assign to a name, to `$NAME`, or to an element of one; `==` compares"),
            );
        }
        if by == AssignBy::Plus && matches!(target.kind, Kind::Append(_)) {
            return self
                .fail("`[]` is an element to come: nothing can be added to it", Some("append with `=`"));
        }
        self.advance();
        let value = self.expression()?;
        let at = target.at.to(value.at);
        self.expr(Kind::Assign(Box::new(target), by, Box::new(value)), at)
    }

    fn block(&mut self, after: &str) -> Read<Vec<Expr>> {
        self.expect("{", after)?;
        self.deeper(|parser| {
            let body = parser.statements(Some(parser.last));
            parser.expect("}", "at the end of this block")?;
            Ok(body)
        })
    }

    fn condition(&mut self, keyword: &str) -> Read<Expr> {
        self.expect("(", &format!("after `{keyword}`"))?;
        let condition = self.deeper(Parser::expression)?;
        self.expect(")", &format!("after the condition of `{keyword}`"))?;
        Ok(condition)
    }

    fn conditional(&mut self) -> Read<Kind> {
        let mut branches = Vec::new();
        let mut otherwise = None;
        self.advance();
        let condition = self.condition("if")?;
        branches.push((condition, self.block("after the condition")?));
        loop {
            if self.take_word("elif") {
                let condition = self.condition("elif")?;
                branches.push((condition, self.block("after the condition")?));
            } else if self.is_word("else") {
                self.advance();
                if self.is_word("if") {
                    return self.fail("there is no `else if`", Some("write `elif`"));
                }
                otherwise = Some(self.block("after `else`")?);
                break;
            } else {
                break;
            }
        }
        Ok(Kind::If(branches, otherwise))
    }

    fn switch(&mut self) -> Read<Kind> {
        self.advance();
        let selector = self.condition("switch")?;
        self.expect("{", "after the selector of `switch`")?;
        let cases = self.deeper(|parser| {
            // As in AxoSyslog, what stands before the first case is never run.
            parser.statements(Some(parser.last));
            let mut cases = Vec::new();
            while !parser.is("}") {
                cases.push(parser.case()?);
            }
            parser.advance();
            Ok(cases)
        })?;
        Ok(Kind::Switch(Box::new(selector), cases))
    }

    fn case(&mut self) -> Read<Case> {
        let at = self.at;
        let label = if self.take_word("default") {
            Label::Default
        } else if self.take_word("case") {
            let first = self.expression()?;
            if self.take("..") { Label::Range(first, self.expression()?) } else { Label::Value(first) }
        } else {
            return self.fail("expected `case`, `default` or `}`", None);
        };
        let at = at.to(self.last);
        self.expect(":", "after the label of a case")?;
        let body = self.statements(Some(at));
        Ok(Case { label, at, body })
    }
}
