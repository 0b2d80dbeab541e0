//! A batch made into the body of a request, on the worker: the one copy on its way to the kernel.

use crate::plan::{Plan, Prefix};
use flight::Part;

/// What goes to the threads of the guests.
pub struct Load {
    pub body: Vec<u8>,
    /// The expanded templates that its messages have in common, see [`keys`].
    pub key: Vec<u8>,
    pub messages: usize,
}

/// The parts of a key, one after the other.
pub fn keys(mut key: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (part, rest) = (!key.is_empty()).then(|| flight::opened(key))?;
        // What has no whole length is no key of ours.
        key = if rest.len() < key.len() { rest } else { &[] };
        Some(part)
    })
}

pub fn load(plan: &Plan, part: &Part<'_>) -> Load {
    let prefix = match &plan.prefix {
        Prefix::Fixed(prefix) => prefix.as_slice(),
        Prefix::Key(at) => keys(part.key).nth(*at).unwrap_or_default(),
    };
    let delimiters = plan.delimiter.len() * part.messages.len().saturating_sub(1);
    let mut body = Vec::with_capacity(prefix.len() + part.bytes + delimiters + plan.suffix.len());
    body.extend_from_slice(prefix);
    let mut messages = part.messages.iter();
    if let Some(first) = messages.next() {
        body.extend_from_slice(first);
    }
    for message in messages {
        body.extend_from_slice(&plan.delimiter);
        body.extend_from_slice(message);
    }
    body.extend_from_slice(&plan.suffix);
    Load { body, key: part.key.to_vec(), messages: part.messages.len() }
}
