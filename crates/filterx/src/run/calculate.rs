//! Arithmetic. What does not fit 64 bits is an error, and so is a result that is no number.

use super::{Eval, Failure, Run};
use crate::program::Calculate;
use value::Value;

/// A boolean counts as 0 or 1.
fn counted(value: Value) -> Value {
    match value {
        Value::Boolean(b) => Value::Integer(i64::from(b)),
        other => other,
    }
}

fn double(value: Value) -> Option<f64> {
    match value {
        Value::Integer(n) => Some(n as f64),
        Value::Double(n) => Some(n),
        _ => None,
    }
}

impl Run<'_> {
    pub(crate) fn calculate(&mut self, operator: Calculate, a: Value, b: Value) -> Eval {
        if operator == Calculate::Modulo {
            return self.modulo(a, b);
        }
        match (counted(a), counted(b)) {
            (Value::Integer(a), Value::Integer(b)) => self.whole(operator, a, b),
            (left, right) => match (double(left), double(right)) {
                (Some(a), Some(b)) => self.doubles(operator, a, b),
                (None, _) => self.fail(Failure::Type(
                    "Failed to evaluate arithmetic operator: Left hand side must be a double or integer",
                    a.type_name(),
                )),
                (_, None) => self.fail(Failure::Type(
                    "Failed to evaluate arithmetic operator: Right hand side must be a double or integer",
                    b.type_name(),
                )),
            },
        }
    }

    fn whole(&mut self, operator: Calculate, a: i64, b: i64) -> Eval {
        let (result, failure) = match operator {
            Calculate::Minus => (a.checked_sub(b), "Failed to perform substraction: integer overflow"),
            Calculate::Times => (a.checked_mul(b), "Failed to perform multiplication: integer overflow"),
            _ if b == 0 => (None, "Failed to evaluate division operator: Division by zero"),
            _ => (a.checked_div(b), "Failed to perform division: integer overflow"),
        };
        match result {
            Some(result) => Ok(Value::Integer(result)),
            None => self.error(failure),
        }
    }

    fn doubles(&mut self, operator: Calculate, a: f64, b: f64) -> Eval {
        let result = match operator {
            Calculate::Minus => a - b,
            Calculate::Times => a * b,
            _ if b == 0.0 => return self.error("Failed to evaluate division operator: Division by zero"),
            _ => a / b,
        };
        self.finite(result)
    }

    pub(super) fn finite(&mut self, result: f64) -> Eval {
        match result.is_finite() {
            true => Ok(Value::Double(result)),
            false => self.error("Failed to evaluate arithmetic operator: the result is not finite"),
        }
    }

    fn modulo(&mut self, a: Value, b: Value) -> Eval {
        match (a, b) {
            (Value::Integer(_), Value::Integer(0)) => {
                self.error("Failed to evaluate modulo operator: Division by zero")
            }
            (Value::Integer(a), Value::Integer(b)) => Ok(Value::Integer(a.wrapping_rem(b))),
            (Value::Integer(_), other) => self.fail(Failure::Type(
                "Failed to evaluate modulo operator: Right hand side must be an integer",
                other.type_name(),
            )),
            (other, _) => self.fail(Failure::Type(
                "Failed to evaluate modulo operator: Left hand side must be an integer",
                other.type_name(),
            )),
        }
    }

    pub(crate) fn negative(&mut self, value: Value) -> Eval {
        match value {
            Value::Integer(n) => match n.checked_neg() {
                Some(n) => Ok(Value::Integer(n)),
                None => self.error("Failed to evaluate unary minus: integer overflow"),
            },
            Value::Double(n) => Ok(Value::Double(-n)),
            other => self.fail(Failure::Type(
                "Failed to evaluate unary minus: Operand must be a double or integer",
                other.type_name(),
            )),
        }
    }

    pub(crate) fn positive(&mut self, value: Value) -> Eval {
        match value {
            Value::Integer(_) | Value::Double(_) => Ok(value),
            other => self.fail(Failure::Type(
                "Failed to evaluate unary plus: Operand must be a double or integer",
                other.type_name(),
            )),
        }
    }
}
