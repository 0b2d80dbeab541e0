//! Targets: what is set, unset, moved and asked for. A change below a variable owns every container on the
//! way, so nobody else sees it.

use super::{Eval, Failure, Halt, Run, State};
use crate::ast::AssignBy;
use crate::compile::Only;
use crate::program::{Expr, Holder, Of, Step, Target};
use value::{JSON, Node, Offset, Otel, Print, Value, ZoneSource};

const SET_FAILED: &str = "Failed to set element of object: set-subscript() method failed";

impl Run<'_> {
    pub(crate) fn set_variable(&mut self, number: u32, value: Value) {
        if let Some(slot) = self.memory.slots.get_mut(number as usize) {
            (slot.value, slot.state, slot.changed) = (value, State::Set, true);
        }
    }

    /// What is looked at of what a function returns: all of it where the variable lives on behind the block.
    pub(crate) fn only<'o>(&mut self, only: &'o Option<Only>) -> Result<Option<&'o Only>, Halt> {
        let Some(only) = only else { return Ok(None) };
        self.is_set(only.variable)?;
        let slot = self.memory.slots.get(only.variable as usize);
        Ok(Some(only).filter(|_| slot.is_some_and(|slot| !slot.declared)))
    }

    /// Evaluates the keys of a path onto the stack; where they begin. `[]` is null.
    fn keys(&mut self, path: &[Step]) -> Result<usize, Halt> {
        let mark = self.memory.stack.len();
        for step in path {
            let key = match step {
                Step::Key(key) => self.eval(key)?,
                Step::Append => Value::Null,
            };
            self.memory.stack.push(key);
        }
        Ok(mark)
    }

    fn key(&self, mark: usize, at: usize) -> Value {
        self.memory.stack.get(mark + at).copied().unwrap_or_default()
    }

    #[inline]
    pub(crate) fn assign(&mut self, target: &Target, value: Value) -> Result<(), Halt> {
        let number = target.variable;
        if target.path.is_empty() {
            // A variable that an earlier block declared stays what it is.
            if self.variables.get(number as usize).is_some_and(|v| matches!(v.of, Of::Block(_))) {
                self.is_set(number)?;
            }
            self.set_variable(number, value);
            return Ok(());
        }
        let value = self.looked_into(value)?;
        self.assign_below(target, value, false)
    }

    fn assign_below(&mut self, target: &Target, value: Value, make: bool) -> Result<(), Halt> {
        let mark = self.keys(&target.path)?;
        let last = target.path.len() - 1;
        let holder = self.own_way(target, mark, last, make)?;
        let is_append = matches!(target.path.last(), Some(Step::Append));
        let key = self.key(mark, last);
        self.memory.stack.truncate(mark);
        self.set_element(holder, key, is_append, value)
    }

    /// The container that is reached by the first `count` keys, owned, as all on the way to it.
    fn own_way(&mut self, target: &Target, mark: usize, count: usize, make: bool) -> Eval {
        let root = self.variable(target.variable)?;
        let Some(node) = root.node() else { return self.error(SET_FAILED) };
        let mut holder = root.with_node(self.own(node)?);
        if let Some(slot) = self.memory.slots.get_mut(target.variable as usize) {
            (slot.value, slot.changed) = (holder, true);
        }
        for at in 0..count {
            let key = self.key(mark, at);
            let found = self.cell_of(holder, key);
            let inner = found.and_then(|cell| self.cells(holder).get(cell).copied());
            let inner = match inner {
                Some(inner) => inner,
                None if make => {
                    let made = Value::Dict(self.new_dict()?);
                    self.set_element(holder, key, false, made)?;
                    made
                }
                None => return self.missing(&target.path, at, key),
            };
            let Some(node) = inner.node() else { return self.error(SET_FAILED) };
            let owned = inner.with_node(self.own(node)?);
            if let (Some(parent), Some(cell)) = (holder.node(), self.cell_of(holder, key)) {
                self.batch.trees.set_cell(parent, cell, owned);
            }
            holder = owned;
        }
        Ok(holder)
    }

    fn missing<T>(&mut self, path: &[Step], at: usize, key: Value) -> Result<T, Halt> {
        match path.get(at) {
            Some(Step::Key(Expr::Text(_))) => {
                self.error("Failed to get-attribute from object: Failed to evaluate key")
            }
            _ => self.fail(Failure::Value("Failed to get-subscript from object", key)),
        }
    }

    fn own(&mut self, node: Node) -> Result<Node, Halt> {
        match self.batch.trees.own(node) {
            Ok(node) => Ok(node),
            Err(_) => self.full(),
        }
    }

    fn set_element(&mut self, holder: Value, key: Value, append: bool, value: Value) -> Result<(), Halt> {
        match (holder, key) {
            (Value::List(node), _) if append => match self.batch.trees.push(node, value) {
                Ok(()) => Ok(()),
                Err(_) => self.full(),
            },
            (Value::List(node), Value::Integer(index)) => {
                let len = self.batch.trees.cells(node).len();
                match self.cell_of(holder, key) {
                    Some(cell) => self.batch.trees.set_cell(node, cell, value),
                    None if usize::try_from(index) == Ok(len) => {
                        if self.batch.trees.push(node, value).is_err() {
                            return self.full();
                        }
                    }
                    None => return self.error(SET_FAILED),
                }
                Ok(())
            }
            (Value::Dict(node), key) if !append => match self.batch.trees.is_hashable(key) {
                true => self.set_key(node, key, value),
                false => self.error(SET_FAILED),
            },
            (Value::Labels(node), Value::String(_)) if !append => {
                crate::functions::add_label(self, node, key, value)
            }
            (Value::Otel(kind, node), key) => {
                let key = (!append).then_some(key);
                crate::functions::set_otel(self, kind, node, key, value)
            }
            _ => self.error(SET_FAILED),
        }
    }

    /// An element of a container, by its cell.
    pub(crate) fn member(&self, of: Value, cell: usize) -> Value {
        let value = self.cells(of).get(cell).copied().unwrap_or_default();
        match (of, value) {
            // Nanoseconds are kept as they came.
            (Value::Otel(Otel::LogRecord, _), Value::Integer(nanoseconds))
                if crate::functions::is_otel_time(cell) =>
            {
                Value::Datetime { offset: Offset::new(0, ZoneSource::Parsed), micros: nanoseconds / 1000 }
            }
            _ => value,
        }
    }

    /// How many pairs a mapping has, those of fields that are not set too; `None` for what is none.
    pub(crate) fn pair_count(&self, mapping: Value) -> Option<usize> {
        mapping.is_mapping().then(|| self.cells(mapping).len() / 2)
    }

    /// A pair of a mapping; `None` for a field that is not set.
    pub(crate) fn pair(&self, mapping: Value, at: usize) -> Option<(Value, Value)> {
        let [key, value] = *self.cells(mapping).get(2 * at..2 * at + 2)? else { return None };
        let has_fields = matches!(mapping, Value::Otel(kind, _) if kind != Otel::KvList);
        let print = Print { text: &self.batch.text, trees: &self.batch.trees, style: JSON };
        if has_fields && print.is_default(value) {
            return None;
        }
        Some((key, self.member(mapping, 2 * at + 1)))
    }

    /// The value of a key of a mapping.
    pub(crate) fn value_of(&mut self, mapping: Value, key: Value) -> Option<Value> {
        let cell = self.cell_of(mapping, key)?;
        self.pair(mapping, cell / 2).map(|(_, value)| value)
    }

    /// What a target holds.
    pub(crate) fn read_target(&mut self, target: &Target) -> Eval {
        let mut value = self.variable(target.variable)?;
        for (at, step) in target.path.iter().enumerate() {
            let Step::Key(key) = step else { return self.error("`[]` has no value") };
            let key = self.eval(key)?;
            value = match self.cell_of(value, key) {
                Some(cell) => self.member(value, cell),
                None => return self.missing(&target.path, at, key),
            };
        }
        Ok(value)
    }

    /// What is reached by the first `count` keys of a path.
    fn look_at(&mut self, target: &Target, mark: usize, count: usize) -> Eval {
        let mut value = self.variable(target.variable)?;
        for at in 0..count {
            let key = self.key(mark, at);
            value = match self.cell_of(value, key) {
                Some(cell) => self.member(value, cell),
                None => return self.missing(&target.path, at, key),
            };
        }
        Ok(value)
    }

    /// What a target holds: a container is there to be changed in place.
    pub fn own_target(&mut self, target: &Target) -> Eval {
        let mark = self.keys(&target.path)?;
        let held = self.look_at(target, mark, target.path.len())?;
        if held.node().is_none() {
            // Whoever wants to change it says what it has to be.
            self.memory.stack.truncate(mark);
            return Ok(held);
        }
        let owned = self.own_way(target, mark, target.path.len(), false);
        self.memory.stack.truncate(mark);
        owned
    }

    /// The same of a container that need not be held by anybody.
    pub fn own_holder(&mut self, holder: &Holder) -> Eval {
        match holder {
            Holder::Target(target) => self.own_target(target),
            Holder::Made(expr) => {
                let value = self.eval_owned(expr)?;
                let value = self.looked_into(value)?;
                match value.node() {
                    Some(node) => Ok(value.with_node(self.own(node)?)),
                    None => Ok(value),
                }
            }
        }
    }

    pub(crate) fn isset(&mut self, target: &Target) -> Eval {
        if !self.is_set(target.variable)? {
            return Ok(Value::Boolean(false));
        }
        if target.path.is_empty() {
            return Ok(Value::Boolean(true));
        }
        match self.read_target(target) {
            Ok(_) => Ok(Value::Boolean(true)),
            Err(Halt) if self.is_error() => Ok(Value::Boolean(false)),
            Err(Halt) => Err(Halt),
        }
    }

    /// Whether an element of what an expression makes is there.
    pub(crate) fn is_there(&mut self, element: &Expr) -> Eval {
        let depth = self.memory.stack.len();
        match self.eval(element) {
            Ok(_) => Ok(Value::Boolean(true)),
            Err(Halt) if self.is_error() => {
                self.memory.stack.truncate(depth);
                Ok(Value::Boolean(false))
            }
            Err(Halt) => Err(Halt),
        }
    }

    pub(crate) fn unset(&mut self, target: &Target) -> Result<(), Halt> {
        let Some((last, way)) = target.path.split_last() else {
            // Whether an earlier block declared it is known then.
            self.is_set(target.variable)?;
            if let Some(slot) = self.memory.slots.get_mut(target.variable as usize) {
                (slot.state, slot.changed) = (State::Unset, true);
            }
            return Ok(());
        };
        if matches!(last, Step::Append) {
            return self.error("Key is mandatory");
        }
        let mark = self.keys(&target.path)?;
        let key = self.key(mark, way.len());
        let looked_at = self.look_at(target, mark, way.len())?;
        let is_there = self.cell_of(looked_at, key).is_some();
        match self.pair_count(looked_at) {
            // A container of which nothing is taken is what it was.
            Some(_) if !is_there => {
                self.memory.stack.truncate(mark);
                return Ok(());
            }
            None if looked_at.node().is_none() => return self.error("Object does not support unset()"),
            _ => {}
        }
        let holder = self.own_way(target, mark, way.len(), false)?;
        self.memory.stack.truncate(mark);
        let Some(node) = holder.node() else { return self.error("Object does not support unset()") };
        match (holder, self.cell_of(holder, key)) {
            (Value::Otel(kind, _), Some(cell)) => {
                return crate::functions::unset_otel(self, kind, node, cell);
            }
            (Value::Dict(_), Some(cell)) => self.batch.trees.remove(node, cell - 1, 2),
            (Value::Labels(_), Some(_)) => crate::functions::remove_labels(self, node, key),
            (Value::Dict(_) | Value::Labels(_) | Value::Otel(..), None) => {}
            (Value::List(_), Some(cell)) => self.batch.trees.remove(node, cell, 1),
            (Value::List(_), None) => return self.fail(Failure::Value("Index out of range", key)),
            _ => return self.error("Object does not support unset()"),
        }
        Ok(())
    }

    pub(crate) fn move_out(&mut self, target: &Target) -> Eval {
        let value = self.read_target(target)?;
        if self.is_item(target)? {
            return self.error("Failed to move: items of lists cannot be moved");
        }
        self.trees().share(value);
        self.unset(target)?;
        Ok(value)
    }

    /// Whether a target, which is there, is an item of a list.
    fn is_item(&mut self, target: &Target) -> Result<bool, Halt> {
        let Some((_, way)) = target.path.split_last() else { return Ok(false) };
        let mut holder = self.variable(target.variable)?;
        for step in way {
            let Step::Key(key) = step else { return Ok(false) };
            let key = self.eval(key)?;
            holder = self.cell_of(holder, key).map_or(Value::Null, |cell| self.member(holder, cell));
        }
        Ok(holder.is_sequence())
    }

    pub(crate) fn assign_path(&mut self, target: &Target, value: &Expr, by: AssignBy) -> Eval {
        let value = match by {
            AssignBy::Coalesce => match self.attempt(value)? {
                Some(value) => value,
                None => return Ok(Value::Boolean(true)),
            },
            _ => self.eval_owned(value)?,
        };
        self.trees().share(value);
        let value = self.looked_into(value)?;
        let value = match by {
            AssignBy::Plus => {
                let old = match self.read_target(target) {
                    Ok(old) => old,
                    Err(Halt) if self.is_error() => Value::Dict(self.new_dict()?),
                    Err(Halt) => return Err(Halt),
                };
                self.add(old, value)?
            }
            _ => value,
        };
        self.assign_below(target, value, true)?;
        Ok(Value::Boolean(true))
    }
}
