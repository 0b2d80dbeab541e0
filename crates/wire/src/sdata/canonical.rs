//! Brings STRUCTURED-DATA as senders write it into the one form a record keeps. That is what syslog-ng passes
//! on, which rebuilds it from values: values escaped anew, of a parameter that comes twice the last value in
//! the first one's place, neighbours of one id in one element. Rare, so it may take its time; the work grows
//! with the text, not with its square.

use super::build::{Builder, append_escaped};
use super::{Field, Part, Reader};

/// Whether a parameter comes twice or neighbours have one id in `text[from..to]`, which was checked.
pub(super) fn repeats(text: &[u8], from: usize, to: usize) -> bool {
    let fields = fields(text.get(..to).unwrap_or_default(), from);
    let neighbours = fields.windows(2).any(|pair| match pair {
        [a, b] => a.id != b.id && bytes(text, a.id) == bytes(text, b.id),
        _ => false,
    });
    neighbours || order(text, &fields).windows(2).any(|pair| same(text, &fields, pair))
}

/// Appends the elements that begin at the start of `text`, which were checked.
pub fn canonical(text: &[u8], out: &mut Vec<u8>) {
    let mut fields = fields(text, 0);
    let order = order(text, &fields);
    let mut dropped = vec![false; fields.len()];
    for run in order.chunk_by(|a, b| same(text, &fields, &[*a, *b])).map(<[u32]>::to_vec).collect::<Vec<_>>()
    {
        let ([first, rest @ ..], Some(last)) = (&*run, run.last()) else { continue };
        let Some(newest) = fields.get(*last as usize).copied() else { continue };
        if let Some(kept) = fields.get_mut(*first as usize) {
            (kept.value, kept.bare) = (newest.value, newest.bare);
        }
        for at in rest {
            if let Some(place) = dropped.get_mut(*at as usize) {
                *place = true;
            }
        }
    }
    let mut plain = Vec::new();
    let mut bare = Vec::new();
    let mut builder = Builder::new(out);
    for (field, dropped) in fields.iter().zip(dropped) {
        let mut value = bytes(text, field.value);
        if field.bare {
            // One way for both: a bare value gets its escapes, which are taken off again.
            bare.clear();
            append_escaped(&mut bare, value);
            value = &bare;
        }
        if !dropped {
            builder.param(bytes(text, field.id), bytes(text, field.name), super::unescape(value, &mut plain));
        }
    }
    builder.finish();
}

fn fields(text: &[u8], at: usize) -> Vec<Field> {
    let mut reader = Reader::new(text, at);
    let mut fields: Vec<Field> = Vec::new();
    // The prefix was judged before.
    while let Ok(Some(field)) = reader.next(0) {
        // A blank in front of the bracket reads as a field without a name.
        let closes = field.name == (0, 0) && fields.last().is_some_and(|last| last.id == field.id);
        if !closes {
            fields.push(field);
        }
    }
    fields
}

fn bytes(text: &[u8], (start, end): Part) -> &[u8] {
    text.get(start..end).unwrap_or_default()
}

/// The fields by id and name, equal ones as they come.
fn order(text: &[u8], fields: &[Field]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..fields.len() as u32).collect();
    order.sort_by_key(|at| fields.get(*at as usize).map(|f| (bytes(text, f.id), bytes(text, f.name))));
    order
}

fn same(text: &[u8], fields: &[Field], pair: &[u32]) -> bool {
    let field = |at: &u32| fields.get(*at as usize).map(|f| (bytes(text, f.id), bytes(text, f.name)));
    matches!(pair, [a, b] if field(a) == field(b))
}
