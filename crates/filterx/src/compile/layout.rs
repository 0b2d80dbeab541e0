//! Dicts that are written down: those with known keys are laid out when they are compiled.

use super::Compiler;
use crate::program::{Expr, Layout, Pair};
use value::{LAID_OUT_MAX, Span, Value, put_integer, put_string};

impl Compiler<'_> {
    /// The dict of these pairs.
    pub(super) fn dict_of(&mut self, pairs: Vec<Pair>) -> Expr {
        let may_repeat = may_repeat(&pairs);
        let is_known = |pair: &Pair| !pair.optional && self.plain_text(&pair.key).is_some();
        match !may_repeat && pairs.len() <= LAID_OUT_MAX && pairs.iter().all(is_known) {
            true => self.laid_out(pairs),
            false => Expr::Dict(pairs.into(), may_repeat),
        }
    }

    fn laid_out(&mut self, pairs: Vec<Pair>) -> Expr {
        let (mut json, mut cells, mut open, mut open_bits) = (vec![b'{'], Vec::new(), Vec::new(), 0);
        for (number, pair) in pairs.into_iter().enumerate() {
            if number > 0 {
                json.push(b',');
            }
            let key = self.plain_text(&pair.key).map(|text| put_quoted(text, &mut json));
            json.push(b':');
            let value = match self.known(&pair.value, &mut json) {
                Some(value) => value,
                None => {
                    open.push((number, pair.value));
                    open_bits |= 1 << number;
                    Value::Null
                }
            };
            cells.extend([key.unwrap_or_default(), value]);
        }
        json.push(b'}');
        let text = self.text(&json);
        Expr::LaidOut(Box::new(Layout { text, cells: cells.into(), open: open.into(), open_bits }))
    }

    /// Appends what is printed of a value, if it is the same for all messages.
    fn known(&self, value: &Expr, json: &mut Vec<u8>) -> Option<Value> {
        let Expr::Value(known) = value else {
            return self.plain_text(value).map(|text| put_quoted(text, json));
        };
        match *known {
            Value::Null => json.extend_from_slice(b"null"),
            Value::Boolean(true) => json.extend_from_slice(b"true"),
            Value::Boolean(false) => json.extend_from_slice(b"false"),
            Value::Integer(n) => put_integer(n, json),
            _ => return None,
        }
        Some(*known)
    }

    /// A text of the block that JSON has as it is, in quotes.
    fn plain_text(&self, expr: &Expr) -> Option<&[u8]> {
        let Expr::Text(number) = expr else { return None };
        let text = self.texts.get(*number as usize)?;
        let mut quoted = Vec::new();
        put_string(text, &mut quoted);
        (quoted.len() == text.len() + 2).then_some(text)
    }
}

/// Appends a text in quotes; its place.
fn put_quoted(text: &[u8], json: &mut Vec<u8>) -> Value {
    json.push(b'"');
    let place = Span::new(json.len(), text.len());
    json.extend_from_slice(text);
    json.push(b'"');
    Value::String(place)
}

/// Whether two keys may be equal.
fn may_repeat(pairs: &[Pair]) -> bool {
    let text = |pair: &Pair| match pair.key {
        Expr::Text(text) => Some(text),
        _ => None,
    };
    pairs.iter().map(text).collect::<Option<Vec<u32>>>().is_none_or(|mut keys| {
        keys.sort_unstable();
        keys.dedup();
        keys.len() < pairs.len()
    })
}
