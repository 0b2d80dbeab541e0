//! Drafts: what a template prints for an entry, before anybody knows its number.
//!
//! A draft has the length and the alphabet of its entry, so that whatever counts bytes or looks for line ends
//! (octet counting, padding, queues) sees what will leave. It is found again by a random word of this process
//! in its head, which no message can contain but by guessing 120 bits.

use crate::base64;
use crate::chain::{Chain, by_id};
use crate::entry::{COUNTER_CHARS, HEAD_BYTES, IV_BYTES, entry_bytes, write_counter};
use crate::key::random;
use memchr::memmem::Finder;
use std::sync::{Arc, OnceLock};

/// Room for a head that the caller of [`put`] leaves before the text.
pub const ROOM: usize = HEAD_BYTES;

/// The word is a multiple of three bytes, so that its characters are always the same ones.
const WORD_BYTES: usize = 15;
const WORD_CHARS: usize = base64::length(WORD_BYTES);

struct Word {
    bytes: [u8; WORD_BYTES],
    finder: Finder<'static>,
}

/// `None` when the system has no random numbers, which is found out when a chain is opened.
fn word() -> Option<&'static Word> {
    static WORD: OnceLock<Option<Word>> = OnceLock::new();
    let made = WORD.get_or_init(|| {
        let mut bytes = [0; WORD_BYTES];
        random(&mut bytes).ok()?;
        let mut chars = [0; WORD_CHARS];
        base64::encode(&bytes, &mut chars);
        Some(Word { bytes, finder: Finder::new(&chars).into_owned() })
    });
    made.as_ref()
}

/// Whether drafts can be made.
pub(crate) fn is_ready() -> bool {
    word().is_some()
}

/// Appends the draft of a text, which stands in `raw` behind [`ROOM`] bytes.
pub fn put(chain: &Chain, raw: &mut [u8], out: &mut Vec<u8>) {
    let Some(word) = word() else { return };
    let length = raw.len().saturating_sub(HEAD_BYTES);
    let numbers = chain.id().to_le_bytes().into_iter().chain((length as u32).to_le_bytes());
    let head = word.bytes.into_iter().chain(numbers).chain(std::iter::repeat(0));
    raw.iter_mut().take(HEAD_BYTES).zip(head).for_each(|(to, from)| *to = from);
    let start = out.len();
    out.resize(start + entry_bytes(length), 0);
    if let Some(place) = out.get_mut(start..) {
        write_counter(0, place);
        base64::encode(raw, place.get_mut(COUNTER_CHARS + 1..).unwrap_or_default());
    }
}

/// Turns all drafts in some messages into entries, in order; `ends` are the ends of the messages. When it
/// returns, the key file is already past them: whatever happens to the output, no number is given twice.
pub fn seal(bytes: &mut [u8], ends: &[u32]) {
    let Some(word) = word() else { return };
    let mut run: Option<(Arc<Chain>, Vec<Place>)> = None;
    let mut start = 0;
    for end in ends {
        let end = *end as usize;
        let mut at = start;
        while let Some(place) = bytes.get(at..end).and_then(|rest| find(word, rest, at)) {
            at = place.end;
            match &mut run {
                Some((chain, places)) if chain.id() == place.chain => places.push(place),
                _ => {
                    flush(run.take(), bytes);
                    // A draft of no chain there is: nothing was ever made so, and nothing readable leaves.
                    match by_id(place.chain) {
                        Some(chain) => run = Some((chain, vec![place])),
                        None => blank(&place, bytes),
                    }
                }
            }
        }
        start = end;
    }
    flush(run, bytes);
}

/// Where a draft stands.
pub(crate) struct Place {
    chain: u32,
    start: usize,
    end: usize,
    /// Bytes of its text, as many as are there.
    text: usize,
}

impl Place {
    /// The characters of a draft that is whole, of one that was cut as many as make whole bytes.
    fn chars(&self) -> std::ops::Range<usize> {
        let start = self.start + COUNTER_CHARS + 1;
        start..start + base64::length(HEAD_BYTES + self.text)
    }
}

/// The next draft in `rest`, which begins at `offset` of all.
fn find(word: &Word, rest: &[u8], offset: usize) -> Option<Place> {
    let mut from = 0;
    loop {
        let found = from + word.finder.find(rest.get(from..)?)?;
        from = found + 1;
        let Some(start) = found.checked_sub(COUNTER_CHARS + 1) else { continue };
        let chars = rest.get(found..)?;
        let mut head = Vec::with_capacity(HEAD_BYTES + 2);
        let numbers = chars.get(..base64::length(HEAD_BYTES)).and_then(|chars| {
            // The last character of the head belongs to the text too.
            base64::decode(chars.get(..chars.len() - 4)?, &mut head)?;
            head.get(WORD_BYTES..WORD_BYTES + 8)?.split_first_chunk::<4>()
        });
        let Some((chain, rest)) = numbers else {
            // Cut off in its head: nothing of the text is there.
            let end = offset + start + (rest.len() - start).min(entry_bytes(0));
            return Some(Place { chain: u32::MAX, start: offset + start, end, text: 0 });
        };
        let length = rest.first_chunk::<4>().map_or(0, |n| u32::from_le_bytes(*n)) as usize;
        let whole = base64::length(HEAD_BYTES + length);
        let there = chars.len().min(whole);
        let text = if there == whole { length } else { (there / 4 * 3).saturating_sub(HEAD_BYTES) };
        let end = offset + found + there;
        return Some(Place { chain: u32::from_le_bytes(*chain), start: offset + start, end, text });
    }
}

fn blank(place: &Place, bytes: &mut [u8]) {
    if let Some(place) = bytes.get_mut(place.start..place.end) {
        place.fill(b' ');
    }
}

fn flush(run: Option<(Arc<Chain>, Vec<Place>)>, bytes: &mut [u8]) {
    let Some((chain, places)) = run else { return };
    // One question to the system for all of them.
    let mut starts = vec![0; places.len() * IV_BYTES];
    if random(&mut starts).is_err() {
        starts.fill(0);
    }
    let mut raw = Vec::new();
    chain.advance(|position| {
        for (place, start) in places.iter().zip(starts.chunks_exact(IV_BYTES)) {
            raw.clear();
            let chars = bytes.get(place.chars()).unwrap_or_default();
            if base64::decode(chars, &mut raw).is_none() || raw.len() < HEAD_BYTES {
                // Cut off behind the head, before any text.
                blank(place, bytes);
                continue;
            }
            let mut iv = [0; IV_BYTES];
            iv.copy_from_slice(start);
            let Some(out) = bytes.get_mut(place.start..place.end) else { continue };
            position.seal_raw(iv, &mut raw, out);
            let used = entry_bytes(raw.len() - HEAD_BYTES);
            if let Some(rest) = out.get_mut(used..) {
                rest.fill(b' ');
            }
        }
    });
}

#[cfg(test)]
mod tests;
