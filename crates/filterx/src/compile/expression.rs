//! Expressions.

use super::Compiler;
use crate::ast::{self, Binary, Kind, Unary};
use crate::program::{Calculate, Expr, Pair, Target};
use crate::run::Signal;
use pattern::{Pattern, PatternOptions};
use value::Value;

impl Compiler<'_> {
    /// Compiles an expression; `None` when something is wrong with it, which is reported.
    pub fn expr(&mut self, written: &ast::Expr) -> Option<Expr> {
        let made = self.unfolded(written)?;
        self.folded(made, written.at)
    }

    /// The same of an operand, whose value something is made of.
    pub fn operand(&mut self, written: &ast::Expr) -> Option<Expr> {
        let outer = std::mem::replace(&mut self.is_operand, true);
        let made = self.expr(written);
        self.is_operand = outer;
        made
    }

    /// `done` and `break`: control goes there at once, or behind the statement whose operand it is.
    fn control(&mut self, signal: Signal) -> Expr {
        if !self.is_operand {
            return Expr::Control(signal);
        }
        self.is_noted = true;
        Expr::Noted(signal)
    }

    fn unfolded(&mut self, written: &ast::Expr) -> Option<Expr> {
        let at = written.at;
        Some(match &written.kind {
            Kind::Null => Expr::Value(Value::Null),
            Kind::Boolean(b) => Expr::Value(Value::Boolean(*b)),
            Kind::Integer(n) => Expr::Value(Value::Integer(*n)),
            Kind::Double(n) => Expr::Value(Value::Double(*n)),
            Kind::Text(text, quote) => self.quoted(text, *quote, at)?,
            Kind::Name(name) => Expr::Variable(self.block_variable(name, at)?),
            Kind::Message(name) => self.message(name, at)?,
            Kind::Attribute(of, name) => {
                let name = self.text(name.text.as_bytes());
                Expr::Attribute(Box::new(self.operand(of)?), name)
            }
            Kind::Element(of, key) => {
                let (of, key) = (self.operand(of), self.operand(key));
                Expr::Element(Box::new((of?, key?)))
            }
            Kind::Slice(of, from, to) => {
                let of = self.operand(of);
                let mut bound = |bound: &Option<Box<ast::Expr>>| match bound {
                    Some(bound) => self.operand(bound).map(Some),
                    None => Some(None),
                };
                let (from, to) = (bound(from), bound(to));
                Expr::Slice(Box::new((of?, from?, to?)))
            }
            Kind::Dict(pairs) => self.dict(pairs)?,
            Kind::List(items) => Expr::List(self.all(items)?),
            Kind::Tuple(items) => Expr::Tuple(self.all(items)?),
            Kind::Call(call) => self.call(call, at)?,
            Kind::Enum(name) => self.constant(name, at)?,
            Kind::Unary(Unary::Not, inner) => Expr::Not(Box::new(self.operand(inner)?)),
            Kind::Unary(Unary::Minus, inner) => Expr::Minus(Box::new(self.operand(inner)?)),
            Kind::Unary(Unary::Plus, inner) => Expr::Plus(Box::new(self.operand(inner)?)),
            Kind::Binary(operator, a, b) => self.binary(*operator, a, b)?,
            Kind::Ternary(condition, yes, no) => {
                let condition = match yes {
                    Some(_) => self.operand(condition),
                    None => self.expr(condition),
                };
                let mut sometimes =
                    |operand: &ast::Expr| self.expr(operand).map(|made| self.sometimes(made, operand));
                let yes = match yes {
                    Some(yes) => sometimes(yes).map(Some),
                    None => Some(None),
                };
                let no = sometimes(no);
                Expr::Ternary(Box::new((condition?, yes?, no?)))
            }
            Kind::Drop => Expr::Control(Signal::Drop),
            Kind::Done => self.control(Signal::Done),
            Kind::Break => self.control(Signal::Break),
            Kind::Isset(of) => self.isset(of)?,
            Kind::If(branches, otherwise) => self.conditional(branches, otherwise.as_ref())?,
            Kind::Switch(selector, cases) => self.switch(selector, cases)?,
            Kind::Assign(to, by, value) => self.assignment(to, *by, value)?,
            Kind::Declare(name, value) => self.declaration(name, value)?,
            Kind::Append(_) => return self.misplaced("`[]` is an element to come: it has no value", at),
            Kind::Dpath(_) => return self.misplaced("dpath() can only be assigned to", at),
        })
    }

    fn misplaced(&mut self, text: &str, at: ast::Extent) -> Option<Expr> {
        self.wrong("Y0108", text, at);
        None
    }

    /// All of them, or none, with everything that is wrong reported.
    pub fn all(&mut self, items: &[ast::Expr]) -> Option<Box<[Expr]>> {
        let made: Vec<Option<Expr>> = items.iter().map(|item| self.operand(item)).collect();
        made.into_iter().collect()
    }

    fn dict(&mut self, pairs: &[ast::Pair]) -> Option<Expr> {
        let mut made = Vec::with_capacity(pairs.len());
        let mut failed = false;
        for pair in pairs {
            let (key, value) = (self.operand(&pair.key), self.operand(&pair.value));
            match key.zip(value) {
                Some((key, value)) => {
                    if let Expr::Value(Value::Null) | Expr::Dict(..) | Expr::LaidOut(_) | Expr::List(_) = key
                    {
                        let help = "keys are strings, numbers, booleans and tuples of them";
                        self.wrong_with("Y0107", "this can never be a key", pair.key.at, help);
                    }
                    made.push(Pair { key, value, optional: pair.optional });
                }
                None => failed = true,
            }
        }
        (!failed).then(|| self.dict_of(made))
    }

    fn binary(&mut self, operator: Binary, a: &ast::Expr, b: &ast::Expr) -> Option<Expr> {
        if matches!(operator, Binary::Matches | Binary::NotMatches) {
            return self.matches(operator == Binary::Matches, a, b);
        }
        let (left, right) = match operator {
            Binary::Coalesce | Binary::Or => (self.expr(a), self.expr(b)),
            Binary::And => (self.operand(a), self.expr(b)),
            _ => (self.operand(a), self.operand(b)),
        };
        let (left, right) = (left?, right?);
        self.check_operands(operator, (&left, &right), a.at.to(b.at))?;
        let right = match operator {
            Binary::Coalesce | Binary::Or | Binary::And => self.sometimes(right, b),
            _ => right,
        };
        let sides = |left, right| Box::new((left, right));
        Some(match operator {
            Binary::Coalesce => Expr::Coalesce(sides(left, right)),
            Binary::Or => Expr::Or(sides(left, right)),
            Binary::And => Expr::And(sides(left, right)),
            Binary::Compare(compare, by) => match (compare, left, right) {
                (ast::Compare::Equal | ast::Compare::NotEqual, left, Expr::Text(text))
                    if by == ast::By::Value && !matches!(left, Expr::Text(_)) =>
                {
                    Expr::IsText(Box::new(left), text, compare == ast::Compare::Equal)
                }
                (_, left, right) => Expr::Compare(compare, by, sides(left, right)),
            },
            Binary::Same => Expr::Same(true, sides(left, right)),
            Binary::NotSame => Expr::Same(false, sides(left, right)),
            Binary::In => Expr::In(true, sides(left, right)),
            Binary::NotIn => Expr::In(false, sides(left, right)),
            Binary::Plus => Expr::Add(sides(left, right)),
            Binary::Minus => Expr::Calculate(Calculate::Minus, sides(left, right)),
            Binary::Times => Expr::Calculate(Calculate::Times, sides(left, right)),
            Binary::Divide => Expr::Calculate(Calculate::Divide, sides(left, right)),
            Binary::Modulo => Expr::Calculate(Calculate::Modulo, sides(left, right)),
            Binary::Matches | Binary::NotMatches => return None,
        })
    }

    /// The pattern is the text as it is written, whatever its quotes.
    fn matches(&mut self, matches: bool, text: &ast::Expr, pattern: &ast::Expr) -> Option<Expr> {
        let value = self.operand(text);
        let Kind::Text(bytes, _) = &pattern.kind else {
            let help = "as in `$MSG =~ /^a+b/`";
            self.wrong_with("Y0104", "the pattern of a match has to be a text", pattern.at, help);
            return None;
        };
        let utf8 = bytes.starts_with(b"(*UTF8)");
        let options = PatternOptions { utf8, dupnames: true, ..PatternOptions::default() };
        let pattern = self.pattern(bytes, &options, pattern.at);
        Some(Expr::Matches(matches, Box::new((value?, pattern?))))
    }

    pub fn pattern(&mut self, text: &[u8], options: &PatternOptions, at: ast::Extent) -> Option<Pattern> {
        let text = String::from_utf8_lossy(text);
        let text = if options.utf8 { text.trim_start_matches("(*UTF8)") } else { &text };
        match Pattern::compile(text, options) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                self.wrong("Y0105", format!("wrong pattern: {error}"), at);
                None
            }
        }
    }

    fn isset(&mut self, of: &ast::Expr) -> Option<Expr> {
        let is_element = matches!(of.kind, Kind::Attribute(..) | Kind::Element(..));
        match &of.kind {
            // A macro always has a value.
            Kind::Message(name) if template::is_computed(name) => {
                return Some(Expr::Value(Value::Boolean(true)));
            }
            _ if Self::is_target(of) => {}
            _ if is_element => return self.expr(of).map(|element| Expr::IsThere(Box::new(element))),
            _ => return Some(Expr::Value(Value::Boolean(false))),
        }
        let target: Target = self.target(of, "isset()")?;
        Some(Expr::Isset(Box::new(target)))
    }

    fn constant(&mut self, name: &str, at: ast::Extent) -> Option<Expr> {
        if let Some(number) = crate::functions::constant(name) {
            return Some(Expr::Value(Value::Integer(number)));
        }
        let near = diag::nearest(name, crate::functions::constants());
        let finding =
            diag::Diagnostic::error("Y0103", format!("there is no constant `{name}`"), self.span(at));
        self.diags.push(finding.suggest(near));
        None
    }
}
