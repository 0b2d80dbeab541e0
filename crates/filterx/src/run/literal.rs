//! Containers that are written down: `{"a": x}`, `[x, y]`, `(x, y)`.

use super::message::type_of;
use super::{Eval, Run};
use crate::program::{Expr, Layout, Pair};
use value::Value;

impl Run<'_> {
    pub(super) fn dict(&mut self, pairs: &[Pair], may_repeat: bool) -> Eval {
        let mark = self.memory.stack.len();
        for pair in pairs {
            let key = self.eval(&pair.key)?;
            if !matches!(key, Value::String(_)) && !self.batch.trees.is_hashable(key) {
                return self.error("Failed to create literal container: Failed to set value in container");
            }
            let value = match pair.optional {
                false => self.eval_owned(&pair.value)?,
                true => match self.attempt(&pair.value)? {
                    Some(value) => {
                        self.trees().share(value);
                        value
                    }
                    None => continue,
                },
            };
            let value = self.looked_into(value)?;
            self.memory.stack.extend([key, value]);
        }
        self.node_of_stack(mark, may_repeat).map(Value::Dict)
    }

    pub(super) fn laid_out(&mut self, layout: &Layout) -> Eval {
        let text = self.literal_span(layout.text)?;
        let mark = self.memory.stack.len();
        self.memory.stack.extend_from_slice(&layout.cells);
        for cell in self.memory.stack.get_mut(mark..).unwrap_or_default() {
            if let Value::String(place) = cell {
                place.start += text.start;
            }
        }
        for (pair, value) in &layout.open {
            let value = self.eval_owned(value)?;
            let value = self.looked_into(value)?;
            if let Some(cell) = self.memory.stack.get_mut(mark + 2 * pair + 1) {
                *cell = value;
            }
        }
        let cells = self.memory.stack.get(mark..).unwrap_or_default();
        let node = self.batch.trees.dict_laid_out(cells, text, layout.open_bits);
        self.memory.stack.truncate(mark);
        node.map_or_else(|_| self.full(), |node| Ok(Value::Dict(node)))
    }

    pub(super) fn sequence(&mut self, items: &[Expr], kind: fn(value::Node) -> Value) -> Eval {
        let mark = self.memory.stack.len();
        for item in items {
            let value = self.eval_owned(item)?;
            let value = self.looked_into(value)?;
            self.memory.stack.push(value);
        }
        self.node_of_stack(mark, false).map(kind)
    }

    /// In containers there is no text that nobody has looked into.
    pub(crate) fn looked_into(&mut self, value: Value) -> Eval {
        match value {
            Value::Json(span) => self.read_json(span),
            Value::Unread(kind, span) => self.typed(span, type_of(kind)),
            value => Ok(value),
        }
    }
}
