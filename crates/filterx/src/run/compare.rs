//! Comparisons and membership.

use super::{Halt, Run};
use crate::ast::{By, Compare};
use std::cmp::Ordering;
use value::{Key, Otel, TEXT, Value, double_of, integer_of};

/// A value as a number.
#[derive(Clone, Copy)]
enum Number {
    Whole(i64),
    Double(f64),
}

impl Number {
    fn double(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Double(n) => n,
        }
    }
}

impl Compare {
    pub(super) fn holds(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Compare::NotEqual, None) => true,
            (_, None) => false,
            (Compare::Equal, Some(order)) => order == Ordering::Equal,
            (Compare::NotEqual, Some(order)) => order != Ordering::Equal,
            (Compare::Less, Some(order)) => order == Ordering::Less,
            (Compare::LessEqual, Some(order)) => order != Ordering::Greater,
            (Compare::Greater, Some(order)) => order == Ordering::Greater,
            (Compare::GreaterEqual, Some(order)) => order != Ordering::Less,
        }
    }
}

impl Run<'_> {
    pub fn compare(&mut self, compare: Compare, by: By, a: Value, b: Value) -> Result<bool, Halt> {
        match by {
            By::Value => Ok(self.compare_values(compare, a, b)),
            By::Text => self.compare_texts(compare, a, b),
        }
    }

    fn compare_values(&self, compare: Compare, a: Value, b: Value) -> bool {
        let order = match (a, b) {
            (Value::String(a), Value::String(b))
            | (Value::Bytes(a), Value::Bytes(b))
            | (Value::Protobuf(a), Value::Protobuf(b)) => Some(self.batch.bytes(a).cmp(self.batch.bytes(b))),
            (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(&b)),
            (Value::Null, _) | (_, Value::Null) if matches!(compare, Compare::Equal | Compare::NotEqual) => {
                return (a == b) == (compare == Compare::Equal);
            }
            _ => match (self.number(a), self.number(b)) {
                (Number::Whole(a), Number::Whole(b)) => Some(a.cmp(&b)),
                (a, b) => near(a.double(), b.double()),
            },
        };
        compare.holds(order)
    }

    fn compare_texts(&mut self, compare: Compare, a: Value, b: Value) -> Result<bool, Halt> {
        if let (Value::String(a), Value::String(b)) = (a, b) {
            return Ok(compare.holds(Some(self.batch.bytes(a).cmp(self.batch.bytes(b)))));
        }
        let (mut left, mut right) = (self.cx.work.text(), self.cx.work.text());
        self.put(a, TEXT, &mut left);
        self.put(b, TEXT, &mut right);
        let order = left.cmp(&right);
        self.cx.work.keep_text(left);
        self.cx.work.keep_text(right);
        Ok(compare.holds(Some(order)))
    }

    fn number(&self, value: Value) -> Number {
        match value {
            Value::Null => Number::Whole(0),
            Value::Boolean(b) => Number::Whole(i64::from(b)),
            Value::Integer(n) => Number::Whole(n),
            Value::Double(n) => Number::Double(n),
            Value::Datetime { micros, .. } => Number::Whole(micros),
            Value::String(span) => {
                let text = self.batch.bytes(span);
                match integer_of(text) {
                    Some(n) => Number::Whole(n),
                    None => Number::Double(double_of(text).unwrap_or(f64::NAN)),
                }
            }
            _ => Number::Double(f64::NAN),
        }
    }

    /// `===`: of one type, and equal.
    pub fn is_same(&self, a: Value, b: Value) -> bool {
        a.type_name() == b.type_name() && self.compare_values(Compare::Equal, a, b)
    }

    pub(crate) fn is_in(&mut self, item: Value, of: Value) -> Result<bool, Halt> {
        match of {
            Value::List(node) | Value::Tuple(node) | Value::Otel(Otel::Array, node) => {
                Ok(self.batch.trees.cells(node).iter().any(|cell| self.is_same(*cell, item)))
            }
            Value::Dict(_) | Value::Labels(_) | Value::Otel(..) => {
                if !self.batch.trees.is_hashable(item) {
                    return self.error("Key must be hashable");
                }
                Ok(self.cell_of(of, item).is_some())
            }
            Value::Subnet(subnet) => match self.address_of(item) {
                Some((address, len)) => {
                    let subnet = self.batch.bytes(subnet);
                    let Some((prefix, network)) = subnet.split_last() else { return Ok(false) };
                    let address = address.get(..len).unwrap_or_default();
                    Ok(network.len() == len && begins_alike(network, address, usize::from(*prefix)))
                }
                None => self.error("Failed to parse an IP address"),
            },
            _ => self.error("Right hand side of `in` must be a list, a dict or a subnet"),
        }
    }

    /// The bytes of an address, or of a text that is one.
    fn address_of(&self, value: Value) -> Option<([u8; 16], usize)> {
        let mut bytes = [0; 16];
        let len = match value {
            Value::Ip(span) => {
                let address = self.batch.bytes(span);
                bytes.get_mut(..address.len())?.copy_from_slice(address);
                address.len()
            }
            Value::String(span) => crate::functions::address(self.batch.bytes(span), &mut bytes)?,
            _ => return None,
        };
        Some((bytes, len))
    }

    /// The cell of an element of a container.
    pub(crate) fn cell_of(&mut self, of: Value, key: Value) -> Option<usize> {
        match (of, key) {
            (Value::Otel(Otel::Array, _), Value::String(_)) => None,
            (Value::Dict(node), _) | (Value::Otel(_, node), Value::String(_)) => {
                let batch = &mut *self.batch;
                let pair = batch.trees.find(node, Key::of(key, &batch.text), &batch.text)?;
                Some(2 * pair + 1)
            }
            // Of several labels with one name the last counts.
            (Value::Labels(node), Value::String(name)) => {
                let name = self.batch.bytes(name);
                let cells = self.batch.trees.cells(node);
                let found = cells.chunks_exact(2).rposition(|pair| self.bytes(pair[0]) == name)?;
                Some(2 * found + 1)
            }
            (
                Value::List(node) | Value::Tuple(node) | Value::Otel(Otel::Array, node),
                Value::Integer(index),
            ) => {
                let len = self.batch.trees.cells(node).len();
                let at = if index < 0 { index.checked_add_unsigned(len as u64)? } else { index };
                usize::try_from(at).ok().filter(|at| *at < len)
            }
            _ => None,
        }
    }
}

/// Doubles are equal when they are as near as the step behind 1.
fn near(a: f64, b: f64) -> Option<Ordering> {
    if (a - b).abs() < f64::EPSILON {
        return Some(Ordering::Equal);
    }
    a.partial_cmp(&b)
}

fn begins_alike(a: &[u8], b: &[u8], bits: usize) -> bool {
    let whole = bits / 8;
    if a.get(..whole) != b.get(..whole) {
        return false;
    }
    match (bits % 8, a.get(whole), b.get(whole)) {
        (0, _, _) => true,
        (rest, Some(a), Some(b)) => (a ^ b) >> (8 - rest) == 0,
        _ => false,
    }
}
