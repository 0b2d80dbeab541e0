//! Which blocks only decide.

use crate::ast::By;
use crate::program::{Block, Body, Expr, Extract, Of, Statement, Target, Variable};
use record::NameId;
use value::Value;

impl Block {
    /// Whether all it does is what `Block::decide` knows.
    pub(crate) fn only_decides(&self) -> bool {
        let mut shape = Shape { variables: &self.variables, taken: None };
        let rest = match taking(&self.statements) {
            Some((extractor, rest)) => {
                let is_text = matches!(*extractor.text(), Expr::Variable(number) if shape.is_name(number));
                shape.taken = is_text.then_some(extractor.variable());
                rest
            }
            None => &*self.statements,
        };
        !rest.is_empty() && shape.is_of(rest)
    }
}

/// A block that begins with taking pairs out of a text: what does that, and the other statements.
#[inline(always)]
pub(super) fn taking(statements: &[Statement]) -> Option<(&dyn Extract, &[Statement])> {
    let (first, rest) = statements.split_first()?;
    let Expr::Assign(parts) = &first.expr else { return None };
    let Expr::Operation(operation) = &parts.1 else { return None };
    let extractor = operation.extractor()?;
    (parts.0.path.is_empty() && parts.0.variable == extractor.variable()).then_some((extractor, rest))
}

pub(super) fn name_of(number: u32, variables: &[Variable]) -> Option<NameId> {
    match variables.get(number as usize)?.of {
        Of::Message(name) => Some(name),
        Of::Block(_) => None,
    }
}

/// The variable and the key of an element, as a text of the block.
#[inline(always)]
pub(super) fn member(expr: &Expr) -> Option<(u32, u32)> {
    match expr {
        Expr::Attribute(of, key) => match **of {
            Expr::Variable(number) => Some((number, *key)),
            _ => None,
        },
        Expr::Element(parts) => match **parts {
            (Expr::Variable(number), Expr::Text(key)) => Some((number, key)),
            _ => None,
        },
        _ => None,
    }
}

/// What a block may have in it.
struct Shape<'a> {
    variables: &'a [Variable],
    /// The variable that has what was taken out of a text.
    taken: Option<u32>,
}

impl Shape<'_> {
    fn is_of(&self, body: &[Statement]) -> bool {
        let is_body = |body: &Option<Body>| body.as_ref().is_none_or(|body| self.is_of(body));
        body.iter().all(|statement| match &statement.expr {
            Expr::Assign(parts) => {
                self.is_settable(&parts.0) && (matches!(parts.1, Expr::Text(_)) || self.is_taken(&parts.1))
            }
            Expr::If(branches, otherwise) => {
                is_body(otherwise)
                    && branches
                        .iter()
                        .all(|branch| self.is_test(&branch.condition) && self.is_of(&branch.body))
            }
            Expr::Chain(chain) => {
                is_body(&chain.otherwise)
                    && self.is_name(chain.variable)
                    && chain.branches.iter().all(|branch| self.is_of(&branch.body))
            }
            Expr::Switch(switch) => {
                switch.labels.is_empty()
                    && matches!(switch.selector, Expr::Variable(number) if self.is_name(number))
                    && switch.cases.iter().all(|case| self.is_of(&case.body))
            }
            _ => false,
        })
    }

    fn is_name(&self, number: u32) -> bool {
        name_of(number, self.variables).is_some()
    }

    fn is_taken(&self, expr: &Expr) -> bool {
        member(expr).is_some_and(|(variable, _)| self.taken == Some(variable))
    }

    /// What is known of a MESSAGE is known of that text alone.
    fn is_settable(&self, target: &Target) -> bool {
        target.path.is_empty()
            && name_of(target.variable, self.variables).is_some_and(|name| name != NameId::MESSAGE)
    }

    fn is_test(&self, expr: &Expr) -> bool {
        let is_subject = |of: &Expr| match of {
            Expr::Variable(number) => self.is_name(*number),
            Expr::Template(_) => true,
            other => self.is_taken(other),
        };
        match expr {
            Expr::IsText(of, ..) => is_subject(of),
            Expr::Compare(_, By::Value, sides) => match &**sides {
                (of, Expr::Value(Value::Integer(_))) | (Expr::Value(Value::Integer(_)), of) => is_subject(of),
                _ => false,
            },
            Expr::Matches(_, parts) => is_subject(&parts.0),
            Expr::And(sides) | Expr::Or(sides) => self.is_test(&sides.0) && self.is_test(&sides.1),
            Expr::Not(inner) => self.is_test(inner),
            Expr::Variable(number) => self.is_name(*number),
            _ => false,
        }
    }
}
