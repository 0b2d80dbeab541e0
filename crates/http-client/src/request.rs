//! A batch made into the body of a request, on the worker: of its messages where they lie, or by the one
//! copy on their way to the kernel.

use crate::exchange::Whole;
use crate::plan::{Plan, Prefix};
use flight::{Part, Piece};
use hyper::body::Bytes;

/// What goes to the threads of the guests.
pub struct Load {
    pub body: Whole,
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
    let prefix = prefix(plan, part);
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
    Load { body: body.into(), key: part.key.to_vec(), messages: part.messages.len() }
}

/// The same of messages that lie one behind the other, with delimiters between them and behind the last one.
pub fn load_shared(plan: &Plan, part: &Part<'_>, mut pieces: Vec<Piece>) -> Load {
    if let Some(last) = pieces.last_mut() {
        last.shorten(plan.delimiter.len());
    }
    let prefix = Bytes::copy_from_slice(prefix(plan, part));
    let suffix = Bytes::copy_from_slice(&plan.suffix);
    let pieces = pieces.into_iter().map(Bytes::from_owner);
    let body = Whole::of(std::iter::once(prefix).chain(pieces).chain([suffix]));
    Load { body, key: part.key.to_vec(), messages: part.messages.len() }
}

fn prefix<'a>(plan: &'a Plan, part: &Part<'a>) -> &'a [u8] {
    match &plan.prefix {
        Prefix::Fixed(prefix) => prefix,
        Prefix::Key(at) => keys(part.key).nth(*at).unwrap_or_default(),
    }
}
