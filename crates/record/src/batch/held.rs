//! Values that messages hold beside their name-value pairs: variables of the expression language that live on
//! behind their block, and the trees of values, so that nobody reads their text again. They stay in
//! the batch.

use super::{Batch, Record};
use crate::Span;
use crate::names::NameId;
use crate::value::Link;
use ::value::Value;

#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    name: NameId,
    /// The text of the value that it is the tree of.
    of: Span,
    value: Option<Value>,
    next: Link,
}

impl Batch {
    /// What a record holds by this name, as long as the text of its value is the one it was held for.
    pub fn held(&self, record: &Record, name: NameId) -> Option<Value> {
        let held = self.told(record, name)?;
        held.value.filter(|_| held.of == self.text_place(record, name))
    }

    /// Whether a record was told to hold something by this name, or nothing.
    pub fn is_told(&self, record: &Record, name: NameId) -> bool {
        self.told(record, name).is_some()
    }

    /// What a record was told last to hold by a name.
    #[inline]
    fn told(&self, record: &Record, name: NameId) -> Option<&Held> {
        let mut at = record.held;
        while let Some(held) = self.held.get(at.0 as usize) {
            if held.name == name {
                return Some(held);
            }
            at = held.next;
        }
        None
    }

    /// Lets a record hold a value by this name; `None` for nothing.
    pub fn hold(&mut self, index: usize, name: NameId, value: Option<Value>) {
        let Some(record) = self.records.get(index).copied() else { return };
        let of = self.text_place(&record, name);
        let next = record.held;
        if let Some(record) = self.records.get_mut(index) {
            record.held = Link(self.held.len() as u32);
            self.held.push(Held { name, of, value, next });
        }
    }

    /// Everything a record holds, newest first; of several with one name the first counts.
    pub fn all_held<'a>(
        &'a self,
        record: &Record,
    ) -> impl Iterator<Item = (NameId, Option<Value>)> + use<'a> {
        let mut at = record.held;
        std::iter::from_fn(move || {
            let held = self.held.get(at.0 as usize)?;
            at = held.next;
            Some((held.name, held.value))
        })
    }

    fn text_place(&self, record: &Record, name: NameId) -> Span {
        match self.field(record, name) {
            Some(span) => span,
            None => self.entry(record, name).map_or(Span::EMPTY, |entry| entry.span),
        }
    }
}
