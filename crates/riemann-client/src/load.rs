//! A batch on its way: made on the worker, the one copy of its messages.

use crate::event::Shape;
use flight::{Part, Verdict};

pub struct Load {
    /// Events, one behind the other, as fields of `Msg`.
    pub events: Vec<u8>,
    /// Where each of them ends.
    pub ends: Vec<usize>,
    /// Of each message: why it is no event, where it is none.
    pub refused: Vec<Option<Box<str>>>,
}

impl Load {
    /// What is said of a batch whose events are taken.
    pub fn taken(&self) -> Vec<Verdict> {
        let verdict = |why: &Option<Box<str>>| why.clone().map_or(Verdict::Delivered, Verdict::Refused);
        self.refused.iter().map(verdict).collect()
    }

    /// The events one by one.
    pub fn each(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.events.get(start..*end).unwrap_or_default())
    }
}

/// Makes events of messages.
pub fn load(shape: &Shape, part: &Part<'_>) -> Load {
    let mut load = Load { events: Vec::with_capacity(part.bytes), ends: Vec::new(), refused: Vec::new() };
    for message in part.messages {
        let put = shape.put(&mut load.events, message);
        if put.is_ok() {
            load.ends.push(load.events.len());
        }
        load.refused.push(put.err().map(String::into_boxed_str));
    }
    load
}
