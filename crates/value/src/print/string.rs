//! Strings in quotes, as JSON has them.

use crate::Span;
use crate::word::{HIGH, LOW, equal};

/// What a byte of a JSON string needs: nothing, an escape, or a look at whether it is UTF-8.
static NEEDS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            0..0x20 | b'"' | b'\\' | 0x7f => 1,
            0x80.. => 2,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Texts from this length on are looked at before they are copied.
pub(super) const LONG: usize = 48;

/// Appends a text in quotes as JSON. A byte that is no UTF-8 becomes the text `\xNN`.
pub fn put_string(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    let plain = if text.len() < LONG { put_plain(text, out) } else { 0 };
    if plain < text.len() {
        put_rest(text.get(plain..).unwrap_or_default(), out);
    }
    out.push(b'"');
}

/// Appends the bytes at the beginning that need nothing, eight at a time; how many there were.
#[inline(always)]
fn put_plain(text: &[u8], out: &mut Vec<u8>) -> usize {
    let (words, rest) = text.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        if needs(u64::from_le_bytes(*word)) != 0 {
            return 8 * at;
        }
        out.extend_from_slice(word);
    }
    if let (Some(last), false) = (text.last_chunk::<8>(), rest.is_empty()) {
        // The last eight, some of which are there already.
        if needs(u64::from_le_bytes(*last)) == 0 {
            out.truncate(out.len() + rest.len() - 8);
            out.extend_from_slice(last);
            return text.len();
        }
        return 8 * words.len();
    }
    for (at, byte) in rest.iter().enumerate() {
        if NEEDS[usize::from(*byte)] != 0 {
            return 8 * words.len() + at;
        }
        out.push(*byte);
    }
    text.len()
}

/// Whether a short text needs nothing; of long ones nothing is known.
#[inline(always)]
pub(super) fn is_plain(text: &[u8], span: Span) -> bool {
    if span.len as usize >= LONG {
        return false;
    }
    let (mut at, mut left) = (span.start as usize, span.len);
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        if left <= 8 {
            // What stands behind it does not count.
            return needs(word) & u64::MAX.checked_shr(64 - 8 * left).unwrap_or(0) == 0;
        }
        if needs(word) != 0 {
            return false;
        }
        (at, left) = (at + 8, left - 8);
    }
    let rest = text.get(at..).and_then(|rest| rest.get(..left as usize)).unwrap_or_default();
    !rest.iter().any(|byte| NEEDS[usize::from(*byte)] != 0)
}

/// The high bit of each of eight bytes that needs an escape or a look, as exact as [`equal`].
#[inline(always)]
fn needs(word: u64) -> u64 {
    let control = word.wrapping_sub(LOW * 0x20) & !word;
    let high = word | word.wrapping_add(LOW);
    (control | high) & HIGH | equal(word, b'"') | equal(word, b'\\')
}

/// Appends a text with bytes that may need something.
#[inline(never)]
fn put_rest(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (before, from) = rest.split_at(plain_len(rest));
        out.extend_from_slice(before);
        let Some(byte) = from.first() else { return };
        if NEEDS[usize::from(*byte)] == 1 {
            escape(*byte, out);
            rest = from.get(1..).unwrap_or_default();
            continue;
        }
        let high = from.iter().position(|b| NEEDS[usize::from(*b)] != 2).unwrap_or(from.len());
        let (foreign, after) = from.split_at(high);
        for chunk in foreign.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                out.extend_from_slice(b"\\\\x");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
        }
        rest = after;
    }
}

/// How many bytes at the beginning need nothing.
pub(super) fn plain_len(text: &[u8]) -> usize {
    let needs = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\' || *byte >= 0x7f;
    // Without a branch for each byte, so that many are looked at at once.
    let (chunks, _) = text.as_chunks::<16>();
    let plain = |chunk: &&[u8; 16]| !chunk.iter().fold(false, |any, byte| any | needs(byte));
    let start = 16 * chunks.iter().take_while(plain).count();
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().position(|b| NEEDS[usize::from(*b)] != 0).unwrap_or(rest.len())
}

fn digit(value: u8) -> u8 {
    b"0123456789abcdef"[usize::from(value & 15)]
}

fn escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        0x0c => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            out.extend_from_slice(b"\\u00");
            return out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
