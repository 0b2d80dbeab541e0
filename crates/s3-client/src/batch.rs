//! A batch on its way: made on the worker, the one copy of its messages.

use bytes::Bytes;
use flight::Part;

pub struct Load {
    pub body: Bytes,
    /// Of the messages in the queue on disk; see [`Part::numbers`].
    pub numbers: Vec<Option<u64>>,
    pub messages: usize,
}

impl Load {
    /// The number of its first message, and that of its last, where all is on disk.
    pub fn range(&self) -> Option<(u64, u64)> {
        let first = self.numbers.iter().flatten().next()?;
        let last = self.numbers.iter().rev().flatten().next()?;
        Some((*first, *last))
    }

    /// How many of its messages have numbers up to this one.
    pub fn until(&self, last: u64) -> usize {
        let place = self.numbers.iter().rposition(|number| number.is_some_and(|number| number <= last));
        place.map_or(0, |place| place + 1)
    }
}

pub fn load(part: &Part<'_>) -> Load {
    let mut body = Vec::with_capacity(part.bytes);
    part.messages.iter().for_each(|message| body.extend_from_slice(message));
    Load { body: body.into(), numbers: part.numbers.to_vec(), messages: part.messages.len() }
}
