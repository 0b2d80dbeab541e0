//! The arguments of a call of a block, and of its definition, as they are written.

use crate::balance::balanced_end;
use crate::token::is_word_byte;

/// `name(value)` or `...` in an argument list.
pub(super) struct Piece<'a> {
    /// None: `...`
    pub name: Option<&'a str>,
    pub offset: usize,
    pub value: &'a str,
}

/// Splits `name(value) name2(value2) ...`; commas and comments between do not count.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece<'_>>, (usize, String)> {
    let bytes = text.as_bytes();
    let mut list = Vec::new();
    let mut at = 0;
    loop {
        at = skip_blank(bytes, at, true);
        let Some(&b) = bytes.get(at) else { return Ok(list) };
        if text.get(at..).is_some_and(|t| t.starts_with("...")) {
            list.push(Piece { name: None, offset: at, value: "" });
            at += 3;
            continue;
        }
        let end = bytes.iter().skip(at).position(|b| !is_word_byte(*b)).map_or(bytes.len(), |n| at + n);
        let name = text.get(at..end).unwrap_or_default();
        if name.is_empty() {
            return Err((at, format!("unexpected `{}` where an argument should begin", describe(b))));
        }
        let open = skip_blank(bytes, end, false);
        if bytes.get(open) != Some(&b'(') {
            return Err((at, format!("expected `(` after `{name}`")));
        }
        let Some(close) = balanced_end(bytes, open, b'(', b')') else {
            return Err((open, format!("the parenthesis after `{name}` is never closed")));
        };
        list.push(Piece {
            name: Some(name),
            offset: at,
            value: text.get(open + 1..close - 1).unwrap_or_default(),
        });
        at = close;
    }
}

fn describe(b: u8) -> char {
    if b.is_ascii_graphic() { char::from(b) } else { '?' }
}

fn skip_blank(bytes: &[u8], mut at: usize, commas: bool) -> usize {
    while let Some(&b) = bytes.get(at) {
        match b {
            b' ' | b'\t' | b'\r' | b'\n' => at += 1,
            b',' if commas => at += 1,
            b'#' => at = bytes.iter().skip(at).position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n),
            _ => break,
        }
    }
    at
}
