//! A message with its topic, key and headers, as it waits in a queue: the form is described in
//! docs/store-format.md.
//!
//! A byte 1; the topic's name behind its length, which is 0 where all messages have the same topic; then key,
//! value and headers as they stand in a record: lengths before each, all numbers as in record batches. So it
//! is sent as it was stored.

use crate::varint;

/// The first byte. Another form will have another one.
const VERSION: u8 = 1;

/// A message taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Empty: the topic of all.
    pub topic: &'a [u8],
    /// `None`: it has no key.
    pub key: Option<&'a [u8]>,
    /// Key, value and headers.
    pub record: &'a [u8],
}

/// Begins a message: what follows are its [`header`]s, as many as are announced. An empty key is none.
pub fn begin(out: &mut Vec<u8>, topic: &[u8], key: &[u8], value: &[u8], headers: usize) {
    out.push(VERSION);
    text(out, topic);
    match key.is_empty() {
        true => varint::append(out, -1),
        false => text(out, key),
    }
    text(out, value);
    varint::append(out, headers as i32);
}

/// Appends a header.
pub fn header(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    text(out, name);
    text(out, value);
}

fn text(out: &mut Vec<u8>, text: &[u8]) {
    varint::append(out, text.len() as i32);
    out.extend_from_slice(text);
}

/// Takes a message apart; `None` when it is not whole.
pub fn read(message: &[u8]) -> Option<Parts<'_>> {
    let (version, mut rest) = message.split_first()?;
    if *version != VERSION {
        return None;
    }
    let topic = take(&mut rest)??;
    let record = rest;
    let key = take(&mut rest)?;
    take(&mut rest)??;
    for _ in 0..varint::take(&mut rest)? {
        take(&mut rest)??;
        take(&mut rest)?;
    }
    rest.is_empty().then_some(Parts { topic, key, record })
}

/// The value of a message.
pub fn value(message: &[u8]) -> Option<&[u8]> {
    let mut rest = read(message)?.record;
    take(&mut rest)?;
    take(&mut rest)?
}

/// A text, which may be none.
fn take<'a>(input: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let Ok(length) = usize::try_from(varint::take(input)?) else { return Some(None) };
    let (text, rest) = input.split_at_checked(length)?;
    *input = rest;
    Some(Some(text))
}
