//! `+` and `+=`, by the type of the left side.

use super::{Eval, Failure, Halt, Run};
use crate::program::{Expr, Target};
use value::{Moment, Value};

/// Microseconds of a second.
const SECOND: f64 = 1e6;

/// Whether the elements of one container can stand behind those of the other.
fn can_extend(to: Value, from: Value) -> bool {
    match to {
        Value::List(_) | Value::Tuple(_) => from.is_sequence(),
        Value::Dict(_) => from.is_mapping(),
        _ => false,
    }
}

impl Run<'_> {
    pub(crate) fn add(&mut self, a: Value, b: Value) -> Eval {
        match (a, b) {
            (Value::Integer(a), Value::Integer(b)) => match a.checked_add(b) {
                Some(sum) => Ok(Value::Integer(sum)),
                None => self.error("Failed to perform addition: integer overflow"),
            },
            (Value::Integer(a), Value::Double(b)) => self.finite(a as f64 + b),
            (Value::Double(a), Value::Integer(b)) => self.finite(a + b as f64),
            (Value::Double(a), Value::Double(b)) => self.finite(a + b),
            (Value::String(a), Value::String(b)) => self.joined(a, b).map(Value::String),
            (Value::String(_), other) => self.fail(Failure::Type(
                "Failed to add object to string: Right hand side must be string",
                other.type_name(),
            )),
            (Value::Bytes(a), Value::Bytes(b)) => self.joined(a, b).map(Value::Bytes),
            (Value::Datetime { .. }, Value::Integer(_) | Value::Double(_)) => self.later(a, b),
            (a, b) if can_extend(a, b) => {
                let Some(node) = a.node() else { return Ok(a) };
                let Ok(copy) = self.batch.trees.copy(node) else { return self.full() };
                let sum = a.with_node(copy);
                self.extend(sum, b)?;
                Ok(sum)
            }
            (a, b) => {
                let text =
                    format!("Failed to add values: {} and {} cannot be added", a.type_name(), b.type_name());
                self.error_made(&text)
            }
        }
    }

    fn joined(&mut self, a: value::Span, b: value::Span) -> Result<value::Span, Halt> {
        let mut out = self.cx.work.text();
        out.extend_from_slice(self.batch.bytes(a));
        out.extend_from_slice(self.batch.bytes(b));
        let span = self.place(&out);
        self.cx.work.keep_text(out);
        span
    }

    fn later(&mut self, at: Value, by: Value) -> Eval {
        let micros = match by {
            Value::Integer(micros) => Some(micros),
            Value::Double(secs) if (secs * SECOND).abs() < i64::MAX as f64 => {
                Some((secs * SECOND).round() as i64)
            }
            _ => None,
        };
        let sum = at
            .moment()
            .zip(micros)
            .and_then(|(at, micros)| Some(Moment { micros: at.micros.checked_add(micros)?, ..at }));
        match sum {
            Some(sum) => Ok(Value::from(sum)),
            None => self.error("Failed to add to a datetime: out of range"),
        }
    }

    /// Adds the elements of another container to one that nobody else holds.
    pub(crate) fn extend(&mut self, to: Value, from: Value) -> Result<(), Halt> {
        let Some(node) = to.node() else { return Ok(()) };
        if let Value::Dict(_) = to {
            for at in 0..self.pair_count(from).unwrap_or(0) {
                let Some((key, value)) = self.pair(from, at) else { continue };
                self.trees().share(value);
                self.set_key(node, key, value)?;
            }
            return Ok(());
        }
        for at in 0..self.cells(from).len() {
            let value = self.cells(from).get(at).copied().unwrap_or_default();
            self.trees().share(value);
            if self.trees().push(node, value).is_err() {
                return self.full();
            }
        }
        Ok(())
    }

    pub(crate) fn add_to(&mut self, target: &Target, by: &Expr) -> Eval {
        let by = self.eval_owned(by)?;
        let by = self.looked_into(by)?;
        let old = self.read_target(target)?;
        let in_place = can_extend(old, by) && !matches!(old, Value::Tuple(_));
        if in_place && old.node() != by.node() {
            let owned = self.own_target(target)?;
            self.extend(owned, by)?;
        } else {
            let sum = self.add(old, by)?;
            self.assign(target, sum)?;
        }
        Ok(Value::Boolean(true))
    }
}
