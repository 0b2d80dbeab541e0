//! What is kept beside a batch's messages, whatever branches undo: notes about single messages, and trees
//! that several of them share.

use super::{Batch, Record};
use ::value::Value;
use std::collections::HashMap;

#[derive(Debug, Default)]
pub(super) struct Noted {
    /// By the place of the message among those of the batch.
    notes: HashMap<u32, Value>,
    /// By a number of whoever keeps them; few.
    kept: Vec<(u64, Value)>,
}

impl Noted {
    pub fn clear(&mut self) {
        self.notes.clear();
        self.kept.clear();
    }
}

impl Batch {
    /// What is noted about a message. Copies of its record share it: a branch that is undone leaves it.
    pub fn note(&self, record: &Record) -> Option<Value> {
        self.noted.notes.get(&record.origin).copied()
    }

    /// Notes something about a message, in the place of what was noted before.
    pub fn set_note(&mut self, record: &Record, value: Option<Value>) {
        match value {
            Some(value) => self.noted.notes.insert(record.origin, value),
            None => self.noted.notes.remove(&record.origin),
        };
    }

    /// A tree that is kept as long as the batch lives.
    pub fn kept(&self, number: u64) -> Option<Value> {
        self.noted.kept.iter().find(|(known, _)| *known == number).map(|(_, value)| *value)
    }

    pub fn keep(&mut self, number: u64, value: Value) {
        self.noted.kept.retain(|(known, _)| *known != number);
        self.noted.kept.push((number, value));
    }
}
