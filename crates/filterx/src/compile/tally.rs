//! Which expressions are evaluated with each statement and condition of a block, for [`Tally`].
//!
//! Operands that are evaluated only sometimes are counted by themselves; what stands behind an error in a
//! statement is counted with it.

use super::Compiler;
use crate::ast::{self, AssignBy, Binary, Kind, Unary};
use crate::program::{Expr, Statement};
use crate::tally::{Counted, Tally};
use std::collections::HashMap;

#[derive(Default)]
pub struct Tallied {
    known: HashMap<Counted, u32>,
    counted: Vec<Counted>,
    taken: Vec<Vec<u32>>,
    /// Of `taken`, that of each statement and condition, by its number.
    places: Vec<u32>,
}

impl Tallied {
    pub fn done(self) -> (Tally, Box<[u32]>) {
        (Tally::new(self.counted, self.taken), self.places.into())
    }

    fn number(&mut self, counted: Counted) -> u32 {
        let Tallied { known, counted: all, .. } = self;
        *known.entry(counted.clone()).or_insert_with(|| {
            all.push(counted);
            all.len() as u32 - 1
        })
    }

    fn add(&mut self, of: u32, kind: &'static str) {
        let number = self.number((kind, "".into()));
        if let Some(taken) = self.taken.get_mut(of as usize) {
            taken.push(number);
        }
    }

    /// Notes what is evaluated with an expression.
    fn take(&mut self, written: &ast::Expr) -> u32 {
        let mut found = Vec::new();
        walk(written, &mut found);
        let numbers = found.into_iter().map(|counted| self.number(counted)).collect();
        self.taken.push(numbers);
        self.taken.len() as u32 - 1
    }
}

impl Compiler<'_> {
    /// Of a statement or condition that has just been given its number.
    pub(super) fn tally_place(&mut self, written: &ast::Expr) {
        if let Some(tally) = &mut self.tally {
            let taken = tally.take(written);
            tally.places.push(taken);
        }
    }

    /// Adds what else is evaluated with a statement or condition.
    pub(super) fn tally_with(&mut self, number: u32, kind: &'static str) {
        if let Some(tally) = &mut self.tally
            && let Some(taken) = tally.places.get(number as usize).copied()
        {
            tally.add(taken, kind);
        }
    }

    /// Adds what is evaluated where the statements are run.
    pub(super) fn tally_body(&mut self, body: &[Statement], kind: &'static str) {
        if let Some(first) = body.first() {
            self.tally_with(first.number, kind);
        }
    }

    /// An operand that is evaluated only sometimes.
    pub(super) fn sometimes(&mut self, operand: Expr, written: &ast::Expr) -> Expr {
        match &mut self.tally {
            Some(tally)
                if !matches!(operand, Expr::Control(_) | Expr::Noted(_) | Expr::Value(_) | Expr::Text(_)) =>
            {
                Expr::Counted(tally.take(written), Box::new(operand))
            }
            _ => operand,
        }
    }
}

/// Adds what is evaluated whenever an expression is, itself first.
fn walk(written: &ast::Expr, found: &mut Vec<Counted>) {
    let (kind, name) = kind_of(&written.kind);
    found.extend(kind.map(|kind| (kind, name.into())));
    let mut of = |expr: &ast::Expr| walk(expr, found);
    match &written.kind {
        // Looked at, and not evaluated.
        Kind::Isset(_) => {}
        // Their second operand is counted by itself, and so is what stands in braces.
        Kind::Binary(Binary::Coalesce | Binary::Or | Binary::And, a, _) | Kind::Ternary(a, ..) => of(a),
        Kind::Switch(selector, _) => of(selector),
        Kind::If(..) => {}
        Kind::Assign(to, by, value) => {
            target(to, *by, found);
            walk(value, found);
        }
        other => other.each(&mut of),
    }
}

/// What is assigned to.
fn target(to: &ast::Expr, by: AssignBy, found: &mut Vec<Counted>) {
    let or_null = |plain, nullv| if by == AssignBy::Coalesce { nullv } else { plain };
    let (kind, name, of) = match &to.kind {
        _ if by == AssignBy::Plus => ("plus-assign", "", Some(to)),
        Kind::Attribute(of, name) => (or_null("setattr", "nullv_setattr"), name.text.as_str(), Some(&**of)),
        Kind::Element(of, _) | Kind::Append(of) => {
            (or_null("set_subscript", "nullv_set_subscript"), "", Some(&**of))
        }
        Kind::Dpath(_) => ("dpath_lvalue", "", None),
        _ => (or_null("assign", "nullv-assign"), "", None),
    };
    found.push((kind, name.into()));
    match of {
        // Only the containers on the way are evaluated.
        Some(of) if !matches!(of.kind, Kind::Append(_)) => walk(of, found),
        _ => {}
    }
    if let Kind::Element(_, key) = &to.kind
        && by != AssignBy::Plus
    {
        walk(key, found);
    }
}

/// What an expression is counted as, and its name.
fn kind_of(kind: &Kind) -> (Option<&'static str>, String) {
    let (kind, name) = match kind {
        Kind::Null
        | Kind::Boolean(_)
        | Kind::Integer(_)
        | Kind::Double(_)
        | Kind::Text(..)
        | Kind::Enum(_) => ("literal", String::new()),
        Kind::Name(name) => ("variable", name.clone()),
        Kind::Message(name) => ("variable", format!("${name}")),
        Kind::Attribute(_, name) => ("getattr", name.text.clone()),
        Kind::Element(..) => ("get_subscript", String::new()),
        Kind::Slice(..) => ("string_slicing", String::new()),
        Kind::Dict(_) => ("literal_dict", String::new()),
        Kind::List(_) => ("literal_list", String::new()),
        Kind::Tuple(_) => ("literal_tuple", String::new()),
        Kind::Call(call) => ("function", format!("{}()", call.name.text)),
        Kind::Isset(_) => ("isset", String::new()),
        Kind::Unary(Unary::Not, _) => ("not", String::new()),
        Kind::Unary(Unary::Minus, _) => ("uminus", String::new()),
        Kind::Binary(operator, ..) => (operator_name(*operator), String::new()),
        Kind::Ternary(..) => ("conditional", String::new()),
        Kind::Drop => ("drop", String::new()),
        Kind::Done => ("done", String::new()),
        Kind::Break => ("break", String::new()),
        Kind::Switch(..) => ("switch", String::new()),
        Kind::Declare(..) => ("assign", String::new()),
        // An `if` counts with its conditions, an assignment by what it assigns to.
        Kind::Unary(Unary::Plus, _) | Kind::If(..) | Kind::Assign(..) | Kind::Append(_) | Kind::Dpath(_) => {
            return (None, String::new());
        }
    };
    (Some(kind), name)
}

fn operator_name(operator: Binary) -> &'static str {
    match operator {
        Binary::Coalesce => "null_coalesce",
        Binary::Or => "or",
        Binary::And => "and",
        Binary::Compare(..) | Binary::Same | Binary::NotSame => "comparison",
        Binary::Matches | Binary::NotMatches => "regexp_match",
        Binary::In | Binary::NotIn => "in",
        Binary::Plus => "plus",
        // As AxoSyslog counts a division.
        Binary::Minus | Binary::Divide => "subs",
        Binary::Times => "mult",
        Binary::Modulo => "mod",
    }
}
