//! What is the same for every message is computed once. What fails then always fails, and is an error of the
//! configuration.

use super::Compiler;
use crate::ast::Extent;
use crate::program::Expr;
use crate::run::{Halt, Memory, Run, Signal};
use filter::FilterContext;
use record::{Batch, Record, Span};
use template::Identity;
use value::Value;

impl Compiler<'_> {
    /// An expression whose operands are known, as its value.
    pub(super) fn folded(&mut self, expr: Expr, at: Extent) -> Option<Expr> {
        if !is_foldable(&expr) {
            return Some(expr);
        }
        let mut batch = Batch::default();
        batch.records.push(Record::new(Span::EMPTY));
        let mut cx = FilterContext::new(Identity::new(""));
        let mut memory = Memory::default();
        memory.texts.resize(self.texts.len(), None);
        let texts = std::mem::take(&mut self.texts);
        let mut run = Run {
            batch: &mut batch,
            index: 0,
            cx: &mut cx,
            variables: &[],
            literals: &texts,
            memory: &mut memory,
            signal: Signal::Done,
            noted: None,
            text_end: crate::run::MADE_BYTES_MAX,
            statement: None,
            is_followed: false,
            trail: None,
            tallied: &[],
            places: &[],
            meta: None,
            before: None,
        };
        let result = run.eval(&expr);
        let failure = run.failure_text();
        self.texts = texts;
        match result {
            Ok(Value::String(span)) => Some(Expr::Text(self.text(batch.bytes(span)))),
            Ok(value @ (Value::Null | Value::Boolean(_) | Value::Integer(_) | Value::Double(_))) => {
                Some(Expr::Value(value))
            }
            Ok(_) => Some(expr),
            Err(Halt) => {
                let help = "write what is meant, or remove it";
                self.wrong_with("Y0107", format!("this always fails: {failure}"), at, help);
                None
            }
        }
    }
}

fn is_known(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(_) | Expr::Text(_))
}

fn is_foldable(expr: &Expr) -> bool {
    match expr {
        Expr::Not(inner) | Expr::Minus(inner) | Expr::Plus(inner) => is_known(inner),
        Expr::Or(sides) | Expr::And(sides) | Expr::Coalesce(sides) | Expr::Add(sides) => {
            is_known(&sides.0) && is_known(&sides.1)
        }
        Expr::Compare(_, _, sides) | Expr::Same(_, sides) | Expr::Calculate(_, sides) => {
            is_known(&sides.0) && is_known(&sides.1)
        }
        Expr::IsText(of, _, _) => is_known(of),
        Expr::Ternary(parts) => {
            is_known(&parts.0) && parts.1.as_ref().is_none_or(is_known) && is_known(&parts.2)
        }
        Expr::Slice(parts) => {
            is_known(&parts.0)
                && parts.1.as_ref().is_none_or(is_known)
                && parts.2.as_ref().is_none_or(is_known)
        }
        _ => false,
    }
}
