//! A batch on its way: made on the worker, the one copy of its messages.

use bytes::Bytes;
use flight::Part;

#[derive(Clone, Debug)]
pub struct Load {
    pub body: Bytes,
    /// Where each message ends in it.
    pub ends: Vec<usize>,
}

impl Load {
    /// How many of its messages end within its first bytes.
    pub fn whole_within(&self, bytes: usize) -> usize {
        self.ends.partition_point(|end| *end <= bytes)
    }
}

pub fn load(part: &Part<'_>) -> Load {
    let mut body = Vec::with_capacity(part.bytes);
    let mut ends = Vec::with_capacity(part.messages.len());
    for message in part.messages {
        body.extend_from_slice(message);
        ends.push(body.len());
    }
    Load { body: body.into(), ends }
}
