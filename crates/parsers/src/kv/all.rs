//! All pairs of a text by its outline: a key is mostly the one that came next in the message before, and a
//! value ends where the next key begins.

use super::outlined::value;
use super::scan::Text;
use crate::learned::Learned;
use record::NameId;
use std::ops::Range;
use wire::pairs::{Outline, Quoted, Separators, is_word, start_of_key};

/// Calls `pair` with the place of the key, its name with this prefix and the place of its value for each
/// pair, in order. False, and none is called, where the text has no outline.
#[inline]
pub fn read_all(
    text: &[u8],
    separators: &Separators,
    outline: &mut Outline,
    (prefix, learned): (&str, &mut Learned),
    mut pair: impl FnMut(Range<usize>, NameId, Text),
) -> bool {
    if !outline.draw(text, separators) {
        return false;
    }
    learned.begin(prefix);
    let breaks = if outline.is_broken() { Some(&*separators.pair) } else { None };
    let mut quoted = outline.quoted();
    let mut places = outline.places().iter().map(|place| *place as usize);
    let Some(mut separator) = places.next() else { return true };
    let (mut start, mut name) = key_before(text, separator, prefix, learned);
    loop {
        let next = places.next();
        let (limit, follower) = match next {
            Some(next) => key_before(text, next, prefix, learned),
            None => (text.len(), None),
        };
        if let Some(name) = name {
            let at = separator + 1;
            // Behind quotes and blanks in ASCII: what is called for other values must not slow these down.
            let is_plain = breaks.is_none() && text.get(at).is_some_and(|first| *first > b'\'');
            match is_plain {
                true => pair(start..separator, name, Text::bare(text, at, limit)),
                false => pair(start..separator, name, another_value(text, at, limit, breaks, &mut quoted)),
            }
        }
        let Some(next) = next else { return true };
        (separator, start, name) = (next, limit, follower);
    }
}

/// A value that may stand in quotes, behind blanks or in front of a pair separator.
#[inline(never)]
fn another_value(
    text: &[u8],
    at: usize,
    limit: usize,
    breaks: Option<&[u8]>,
    quoted: &mut &[Quoted],
) -> Text {
    match (text.get(at), opened_at(at, quoted)) {
        (Some(quote @ (b'"' | b'\'')), Some(Quoted { close, escaped, .. })) => {
            Text { start: at + 1, end: close as usize, quote: *quote, escaped }
        }
        _ => value(text, at, limit, breaks),
    }
}

/// The value in quotes that begins at a place; those in front of it are done with.
#[inline]
fn opened_at(at: usize, quoted: &mut &[Quoted]) -> Option<Quoted> {
    while let Some((first, rest)) = quoted.split_first() {
        if first.open as usize >= at {
            return (first.open as usize == at).then_some(*first);
        }
        *quoted = rest;
    }
    None
}

/// Where the key in front of a separator begins, and its name.
#[inline(always)]
fn key_before(text: &[u8], end: usize, prefix: &str, learned: &mut Learned) -> (usize, Option<NameId>) {
    let may_begin =
        |at: usize| text.get(at.wrapping_sub(1)).is_none_or(|byte| *byte == b' ' || !is_word(*byte));
    match learned.before(text, end, may_begin) {
        Some((start, name)) => (start, Some(name)),
        None => another_key(text, end, prefix, learned),
    }
}

#[cold]
#[inline(never)]
fn another_key(text: &[u8], end: usize, prefix: &str, learned: &mut Learned) -> (usize, Option<NameId>) {
    let start = start_of_key(text, end);
    (start, learned.name(prefix, text.get(start..end).unwrap_or_default()))
}
