//! Statements.

use super::Compiler;
use super::types::types_of;
use crate::ast::{self, AssignBy, Kind};
use crate::program::{Body, Branch, Case, Chain, Expr, Label, Role, Statement, Switch, Target, Texts};
use crate::run::Signal;
use crate::types::Types;
use std::collections::HashMap;
use value::Value;

/// Texts for which a look-up is quicker than comparing one by one.
const LOOKED_UP_MIN: usize = 3;

impl Compiler<'_> {
    pub(super) fn body(&mut self, statements: &[ast::Expr]) -> Body {
        let mut body = Vec::with_capacity(statements.len());
        for statement in statements {
            // What fails for itself is nothing to ask for: `x ?? y;` and the like are.
            let checked = !matches!(
                statement.kind,
                Kind::Assign(..) | Kind::Declare(..) | Kind::If(..) | Kind::Switch(..)
            ) && !matches!(&statement.kind, Kind::Call(call) if call.name.text == "set_fields");
            let outer = std::mem::take(&mut self.is_noted);
            let expr = self.expr(statement);
            let is_noted = std::mem::replace(&mut self.is_noted, outer);
            if let Some(expr) = expr {
                let role = match &statement.kind {
                    Kind::If(..) | Kind::Break => Role::Frame,
                    Kind::Switch(..) => Role::Statement,
                    _ if checked && is_condition(&expr) => Role::Condition,
                    _ => Role::Statement,
                };
                let number = self.written(statement, role);
                let expr = if is_noted { Expr::Ending(Box::new(expr), checked) } else { expr };
                body.push(Statement { expr, checked, number });
            }
        }
        self.tally_body(&body, "compound");
        body.into()
    }

    pub(super) fn assignment(&mut self, to: &ast::Expr, by: AssignBy, value: &ast::Expr) -> Option<Expr> {
        if let Kind::Dpath(inner) = &to.kind {
            return self.path_assignment(inner, by, value);
        }
        let target = self.target(to, "an assignment");
        self.only = self.only_wanted(to, value);
        let value = self.expr(value);
        let (target, value) = (target?, value?);
        self.note_write(target.variable);
        let parts: Box<(Target, Expr)> = Box::new((target, value));
        Some(match by {
            AssignBy::Plain => Expr::Assign(parts),
            AssignBy::Plus => Expr::AddTo(parts),
            AssignBy::Coalesce => Expr::AssignUnlessNull(parts),
        })
    }

    fn path_assignment(&mut self, to: &ast::Expr, by: AssignBy, value: &ast::Expr) -> Option<Expr> {
        let target = self.target(to, "dpath()");
        let compiled = self.expr(value);
        let (target, compiled) = (target?, compiled?);
        if target.path.is_empty() {
            self.wrong_with("Y0108", "dpath() is about an element of a dict", to.at, "as `dpath(d.a.b) = 1`");
            return None;
        }
        self.note_write(target.variable);
        Some(Expr::AssignPath(Box::new((target, compiled)), by))
    }

    pub(super) fn declaration(&mut self, name: &ast::Word, value: &ast::Expr) -> Option<Expr> {
        let value = self.expr(value);
        let variable = self.block_variable(&name.text, name.at)?;
        Some(Expr::Declare(variable, Box::new(value?)))
    }

    pub(super) fn conditional(
        &mut self,
        branches: &[(ast::Expr, Vec<ast::Expr>)],
        otherwise: Option<&Vec<ast::Expr>>,
    ) -> Option<Expr> {
        let mut compiled = Vec::new();
        for (written, body) in branches {
            let condition = self.expr(written);
            let number = condition.as_ref().map_or(0, |_| self.written(written, Role::Condition));
            if condition.is_some() {
                self.tally_with(number, "conditional");
            }
            let body = self.body(body);
            compiled.extend(condition.map(|condition| Branch { condition, number, body }));
        }
        let otherwise = otherwise.map(|body| self.body(body));
        Some(match self.texts_asked_for(&compiled) {
            Some((variable, texts)) => {
                Expr::Chain(Box::new(Chain { variable, texts, branches: compiled.into(), otherwise }))
            }
            None => Expr::If(compiled.into(), otherwise),
        })
    }

    /// The texts that one variable is compared with by all branches, and the first branch of each.
    fn texts_asked_for(&self, branches: &[Branch]) -> Option<(u32, Texts)> {
        let (mut texts, mut variable) = (HashMap::new(), None);
        for (number, branch) in branches.iter().enumerate() {
            self.asks(&branch.condition, number, &mut variable, &mut texts)?;
        }
        let variable = variable.filter(|_| texts.len() >= LOOKED_UP_MIN)?;
        Some((variable, Texts::new(texts.into_iter().collect())))
    }

    fn asks(
        &self,
        condition: &Expr,
        branch: usize,
        of: &mut Option<u32>,
        texts: &mut HashMap<Box<[u8]>, usize>,
    ) -> Option<()> {
        match condition {
            Expr::IsText(asked, text, true) => {
                let Expr::Variable(variable) = **asked else { return None };
                if *of.get_or_insert(variable) != variable {
                    return None;
                }
                texts.entry(self.texts.get(*text as usize)?.clone()).or_insert(branch);
                Some(())
            }
            Expr::Or(sides) => {
                self.asks(&sides.0, branch, of, texts)?;
                self.asks(&sides.1, branch, of, texts)
            }
            _ => None,
        }
    }

    pub(super) fn switch(&mut self, selector: &ast::Expr, cases: &[ast::Case]) -> Option<Expr> {
        let selector = self.expr(selector);
        let mut made = Switch {
            selector: Expr::Value(Value::Null),
            texts: Texts::new(Vec::new()),
            labels: Vec::new(),
            default: None,
            cases: Vec::new(),
        };
        let mut texts = HashMap::new();
        for (number, case) in cases.iter().enumerate() {
            self.label(case, number, &mut made, &mut texts);
            let mut body = self.body(&case.body).into_vec();
            self.tally_body(&body, "switch_case");
            let ending = body.pop_if(|last| matches!(last.expr, Expr::Control(Signal::Break)));
            made.cases.push(Case { body: body.into(), falls_through: ending.is_none() });
        }
        made.selector = selector?;
        made.texts = Texts::new(texts.into_iter().collect());
        Some(Expr::Switch(Box::new(made)))
    }

    fn label(
        &mut self,
        case: &ast::Case,
        number: usize,
        made: &mut Switch,
        texts: &mut HashMap<Box<[u8]>, usize>,
    ) {
        match &case.label {
            ast::Label::Default => {
                if made.default.replace(number).is_some() {
                    self.duplicate("default", case);
                }
            }
            ast::Label::Value(value) => match self.expr(value) {
                Some(Expr::Text(text)) => {
                    let text = self.texts.get(text as usize).cloned().unwrap_or_default();
                    if texts.insert(text, number).is_some() {
                        self.duplicate("case", case);
                    }
                }
                Some(value) => made.labels.push((Label::Value(value), number)),
                None => {}
            },
            ast::Label::Range(low, high) => {
                let (low, high) = (self.expr(low), self.expr(high));
                if let (Some(Expr::Value(a)), Some(Expr::Value(b))) = (&low, &high)
                    && !is_below(*a, *b)
                {
                    let help = "the lower bound belongs to the range, the upper does not";
                    self.wrong_with("Y0109", "there is nothing in this range", case.at, help);
                }
                made.labels.extend(low.zip(high).map(|(low, high)| (Label::Range(low, high), number)));
            }
        }
    }

    fn duplicate(&mut self, what: &str, case: &ast::Case) {
        let text = format!("this `{what}` has been there before");
        self.wrong_with("Y0109", text, case.at, "remove one of them");
    }
}

/// Whether a statement is there to hold or not.
fn is_condition(expr: &Expr) -> bool {
    types_of(expr).is(Types::BOOLEAN) && !matches!(expr, Expr::Unset(_) | Expr::Value(_))
}

fn is_below(a: Value, b: Value) -> bool {
    let number = |value: Value| match value {
        Value::Integer(n) => Some(n as f64),
        Value::Double(n) => Some(n),
        _ => None,
    };
    number(a).zip(number(b)).is_none_or(|(a, b)| a < b)
}
