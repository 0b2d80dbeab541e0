//! What a statement looks at, for whoever is told that it failed.

use super::Compiler;
use crate::ast::{AssignBy, Expr as Written, Kind};
use crate::program::Expr;

/// Operands of a statement that are told.
const OPERANDS_MAX: usize = 8;

impl Compiler<'_> {
    /// Variables and elements of them that a statement without errors looks at, each as it is written.
    pub(super) fn operands(&mut self, statement: &Written) -> Box<[(Box<str>, Expr)]> {
        let mut found = Vec::new();
        collect(statement, &mut found);
        let mut operands: Vec<(Box<str>, Expr)> = Vec::new();
        for expr in found {
            let text: Box<str> = self.source(expr.at).into();
            if operands.len() == OPERANDS_MAX || operands.iter().any(|(known, _)| *known == text) {
                continue;
            }
            operands.extend(self.expr(expr).map(|compiled| (text, compiled)));
        }
        operands.into()
    }
}

/// Adds the variables and elements that an expression reads. Statements inside have operands of their own.
fn collect<'e>(expr: &'e Written, found: &mut Vec<&'e Written>) {
    if is_path(expr) {
        return found.push(expr);
    }
    match &expr.kind {
        Kind::Attribute(a, _) | Kind::Unary(_, a) | Kind::Declare(_, a) => collect(a, found),
        Kind::Element(a, b) | Kind::Binary(_, a, b) => [a, b].into_iter().for_each(|e| collect(e, found)),
        Kind::Slice(a, b, c) => {
            collect(a, found);
            b.iter().chain(c).for_each(|e| collect(e, found));
        }
        Kind::Dict(pairs) => pairs.iter().for_each(|pair| collect(&pair.value, found)),
        Kind::List(items) | Kind::Tuple(items) => items.iter().for_each(|e| collect(e, found)),
        Kind::Call(call) => call.args.iter().for_each(|argument| collect(&argument.value, found)),
        Kind::Ternary(a, b, c) => {
            collect(a, found);
            b.iter().chain([c]).for_each(|e| collect(e, found));
        }
        Kind::If(branches, _) => branches.iter().for_each(|(condition, _)| collect(condition, found)),
        Kind::Switch(selector, _) => collect(selector, found),
        Kind::Assign(to, by, value) => {
            if *by == AssignBy::Plus {
                collect(to, found);
            }
            collect(value, found);
        }
        _ => {}
    }
}

/// A variable, or an element of one by keys that are written down.
fn is_path(expr: &Written) -> bool {
    match &expr.kind {
        Kind::Name(_) | Kind::Message(_) => true,
        Kind::Attribute(of, _) => is_path(of),
        Kind::Element(of, key) => is_path(of) && matches!(key.kind, Kind::Text(..) | Kind::Integer(_)),
        _ => false,
    }
}
