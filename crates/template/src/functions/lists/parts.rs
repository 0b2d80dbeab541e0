//! Texts taken apart into lists and lists put together to texts: explode() and implode(), and both at once.

use super::items;
use crate::budget::is_too_much;
use crate::function::Args;
use crate::list::push;
use record::ValueType;

pub(super) fn explode(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let mut first = true;
    parts(args.iter().skip(1), args.get(0), |part| {
        push(part, &mut first, out);
        true
    });
    ValueType::List
}

/// Calls `each` with every part of the texts, until it says to stop. Empty texts have no parts.
fn parts<'a>(
    texts: impl Iterator<Item = &'a [u8]>,
    separator: &[u8],
    mut each: impl FnMut(&'a [u8]) -> bool,
) {
    for mut rest in texts.filter(|text| !text.is_empty()) {
        while let Some(at) = find(rest, separator).filter(|_| !separator.is_empty()) {
            let (part, after) = rest.split_at(at);
            if !each(part) {
                return;
            }
            rest = after.get(separator.len()..).unwrap_or_default();
        }
        if !each(rest) {
            return;
        }
    }
}

/// `$(implode NEW $(explode OLD TEXT...))` as one: no list is written and read again. The arguments are NEW
/// OLD TEXT...
pub(crate) fn reparted(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let (new, old) = (args.get(0), args.get(1));
    let start = out.len();
    let texts = args.iter().skip(2).filter(|text| !text.is_empty());
    if let ([new], [old]) = (new, old) {
        for text in texts {
            let mut text = text;
            match out.len() == start {
                // Empty items at the beginning.
                true => {
                    text = text.get(text.iter().take_while(|byte| *byte == old).count()..).unwrap_or_default()
                }
                false => out.push(*new),
            }
            let from = out.len();
            out.extend_from_slice(text);
            let copied = out.get_mut(from..).unwrap_or_default();
            copied.iter_mut().for_each(|byte| *byte = if byte == old { *new } else { *byte });
        }
        return ValueType::String;
    }
    parts(texts, old, |part| join(part, new, start, out));
    ValueType::String
}

pub(super) fn implode(args: Args<'_>, out: &mut Vec<u8>) -> ValueType {
    let start = out.len();
    items(args, 1, |item| join(item, args.get(0), start, out));
    ValueType::String
}

/// Appends an item; false when that is enough. As in syslog-ng the separator stands behind what is there, so
/// that empty items at the beginning leave nothing.
fn join(item: &[u8], separator: &[u8], start: usize, out: &mut Vec<u8>) -> bool {
    if out.len() > start {
        out.extend_from_slice(separator);
    }
    out.extend_from_slice(item);
    !is_too_much(out, start)
}

pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    match part {
        [] => Some(0),
        [byte] => memchr::memchr(*byte, text),
        part => memchr::memmem::find(text, part),
    }
}
