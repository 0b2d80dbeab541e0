//! The outline of a text like `key=value key2="a value"`: where the separators behind keys stand, found 64
//! bytes at a time with bit operations that do not wait for each other, so that a reader passes over the
//! pairs that nobody reads without looking at their values.
//!
//! Only texts of the ordinary kind have an outline. For all others there is a reader that goes from sign to
//! sign.

mod endings;
mod picks;

pub use endings::Endings;
pub use picks::{Pick, start_of_key};

use crate::word::{Lanes, PairSigns, Places, Windowed, with_lanes};
use memchr::memchr2;
use picks::{Keep, KeepAll, KeepSome, Keyed};

/// Longer texts have no outline.
pub const TEXT_MAX: usize = 1 << 16;

/// Separators of one window that are written down without asking how many there are.
const MANY: usize = 4;

/// What separates keys from values, and pairs from each other.
#[derive(Clone, Debug)]
pub struct Separators {
    /// Between a key and its value.
    pub key: u8,
    /// Between a value and the next key, beside the blank.
    pub pair: Box<[u8]>,
}

impl Separators {
    /// Whether texts can have an outline: no byte of a separator has a meaning of its own, but for blanks in
    /// a pair separator.
    pub fn are_plain(&self) -> bool {
        let plain = |byte: u8| !is_word(byte) && !matches!(byte, b'"' | b'\'' | b'\\' | 0);
        let of_pairs = |byte: &u8| plain(*byte) && *byte != self.key;
        let first = self.pair.first().copied().unwrap_or(b' ');
        plain(self.key) && self.key != b' ' && first != b' ' && self.pair.iter().all(of_pairs)
    }
}

/// What keys are made of.
#[inline]
pub fn is_word(byte: u8) -> bool {
    WORDS[usize::from(byte)]
}

static WORDS: [bool; 256] = {
    let mut words = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let at = byte as u8;
        words[byte] = at.is_ascii_alphanumeric() || matches!(at, b'_' | b'.' | b'-');
        byte += 1;
    }
    words
};

/// Where the separators behind keys stand. Such a key is a word at the beginning of the text, behind a blank
/// or behind a pair separator of one byte, and is not part of a value in quotes.
#[derive(Default)]
pub struct Outline {
    places: Places<MANY>,
    picks: Vec<Pick>,
    quoted: Vec<Quoted>,
    /// Pair separators may stand between.
    broken: bool,
}

/// A value in quotes.
#[derive(Clone, Copy, Debug)]
pub struct Quoted {
    /// Where its quotes stand.
    pub open: u32,
    pub close: u32,
    /// There are backslashes in it.
    pub escaped: bool,
}

/// What was seen outside values in quotes; bits of any window.
#[derive(Default)]
struct Found {
    /// Separators behind keys.
    keyed: u64,
    /// Separators without such a key before them.
    strays: u64,
    /// Bytes with which a pair separator may begin.
    breaks: u64,
    quotes: u64,
    /// Values in quotes.
    quoted: u64,
    /// Blanks before values.
    gaps: u64,
    /// What no text with an outline has.
    faults: u64,
}

impl Outline {
    /// Draws the outline of `text`; false where it has none.
    #[inline]
    pub fn draw(&mut self, text: &[u8], separators: &Separators) -> bool {
        if text.len() > TEXT_MAX {
            return false;
        }
        self.places.begin(text.len());
        let found = find(text, separators, &mut self.quoted, KeepAll(&mut self.places));
        self.is_drawn(&found)
    }

    /// The same, of which only pairs are kept whose key has one of these endings, and may be read. They are
    /// the [`Outline::picks`]; there are no places.
    #[inline]
    pub fn draw_some(&mut self, text: &[u8], separators: &Separators, endings: &Endings) -> bool {
        if text.len() > TEXT_MAX {
            return false;
        }
        self.picks.clear();
        let keep = KeepSome { picks: &mut self.picks, endings, is_open: false };
        let found = find(text, separators, &mut self.quoted, keep);
        self.is_drawn(&found)
    }

    /// Whether a text of which this was found has an outline.
    #[inline]
    fn is_drawn(&mut self, found: &Found) -> bool {
        let Found { strays, breaks, quotes, quoted, gaps, faults, .. } = *found;
        self.broken = breaks != 0;
        // Behind a pair separator or a value in quotes, any word before a separator is a key; a value in
        // quotes may stand behind blanks.
        let doubtful = strays != 0 && (breaks | quoted) != 0 || gaps != 0 && quotes != 0;
        faults == 0 && !doubtful
    }

    /// The places of the separators.
    #[inline]
    pub fn places(&self) -> &[u32] {
        self.places.all()
    }

    /// The pairs that may be read, in order.
    #[inline]
    pub fn picks(&self) -> &[Pick] {
        &self.picks
    }

    /// The values in quotes behind these separators, in order.
    #[inline]
    pub fn quoted(&self) -> &[Quoted] {
        &self.quoted
    }

    /// Whether a pair separator may stand before a key.
    #[inline]
    pub fn is_broken(&self) -> bool {
        self.broken
    }
}

/// Looks at all windows of a text; what was seen in them.
#[inline]
fn find(text: &[u8], separators: &Separators, quoted: &mut Vec<Quoted>, keep: impl Keep) -> Found {
    quoted.clear();
    let mut found = Found::default();
    with_lanes(Draw { text, separators, quoted, found: &mut found, keep });
    found
}

struct Draw<'a, K> {
    text: &'a [u8],
    separators: &'a Separators,
    quoted: &'a mut Vec<Quoted>,
    found: &'a mut Found,
    keep: K,
}

impl<K: Keep> Windowed for Draw<'_, K> {
    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let (mut edge, mut seen) = (Edge { key_may_begin: 1, ..Edge::default() }, Found::default());
        let (windows, rest) = self.text.as_chunks::<64>();
        let mut base = 0;
        for window in windows {
            match edge.quoted_to >= base + 64 {
                // All of it stands in quotes.
                true => edge = Edge { quoted_to: edge.quoted_to, ..Edge::default() },
                false => self.window::<L>(&mut edge, &mut seen, window, base),
            }
            base += 64;
        }
        if !rest.is_empty() {
            let mut window = [0; 64];
            if let Some(to) = window.get_mut(..rest.len()) {
                to.copy_from_slice(rest);
            }
            self.window::<L>(&mut edge, &mut seen, &window, base);
        }
        *self.found = seen;
    }
}

/// What a window has to know of the one before it, as the lowest bit.
#[derive(Default)]
struct Edge {
    /// The last byte was a blank or a pair separator, or there was none.
    key_may_begin: u64,
    /// A word that may be a key goes on.
    key: u64,
    word: u64,
    /// The last byte was the separator behind a key.
    value: u64,
    blank: u64,
    /// Where the last value in quotes ends.
    quoted_to: usize,
}

impl<K: Keep> Draw<'_, K> {
    #[inline(always)]
    fn window<L: Lanes>(&mut self, edge: &mut Edge, seen: &mut Found, window: &[u8; 64], base: usize) {
        let pair = self.separators.pair.first().copied().unwrap_or(0);
        let signs = L::pair_signs(window, self.separators.key, pair);
        let PairSigns { not_words, blanks, separators: all, pairs, quotes } = signs;
        let words = !not_words;
        let before = if self.separators.pair.len() == 1 { blanks | pairs } else { blanks };
        let starts = words & !(words << 1 | edge.word) & (before << 1 | edge.key_may_begin);
        // A word and a bit at its beginning add up to a bit behind its end.
        let (sum, over) = words.overflowing_add(starts | edge.key);
        let keyed = sum & not_words & all;
        let mut outside = edge.outside(base);
        let mut found = keyed & outside;
        let mut opening = quotes & (found << 1 | edge.value) & outside;
        while opening != 0 {
            let at = opening.trailing_zeros();
            seen.quoted = 1;
            let Some(quoted) = quoted(self.text, base + at as usize, self.separators) else {
                seen.faults = 1;
                return;
            };
            self.quoted.push(quoted);
            edge.quoted_to = quoted.close as usize + 1;
            let behind = edge.outside(base);
            outside &= behind | !(u64::MAX << at);
            found &= outside;
            opening = quotes & (found << 1) & behind;
        }
        let strays = all & outside & !found;
        // Blanks between a key and its separator; a separator before the first key.
        seen.faults |= strays & (blanks << 1 | edge.blank);
        if seen.keyed == 0 {
            seen.faults |= strays & (found & found.wrapping_neg()).wrapping_sub(1);
        }
        seen.keyed |= found;
        seen.strays |= strays;
        seen.breaks |= pairs & outside;
        seen.quotes |= quotes & outside;
        seen.gaps |= blanks & outside & (found << 1 | edge.value);
        *edge = Edge {
            key_may_begin: before >> 63,
            key: u64::from(over),
            word: words >> 63,
            value: found >> 63,
            blank: blanks >> 63,
            quoted_to: edge.quoted_to,
        };
        let keyed = Keyed { base, separators: found, starts };
        if self.keep.keep::<L>(self.text, window, keyed).is_none() {
            seen.faults = 1;
        }
    }
}

impl Edge {
    /// The bytes of a window that are not part of the last value in quotes.
    #[inline(always)]
    fn outside(&self, base: usize) -> u64 {
        match self.quoted_to.saturating_sub(base) {
            bits @ 0..64 => u64::MAX << bits,
            _ => 0,
        }
    }
}

/// The value in quotes opened at `open`: behind it a blank, a pair separator or nothing has to follow.
#[inline]
fn quoted(text: &[u8], open: usize, separators: &Separators) -> Option<Quoted> {
    let (close, escaped) = closed(text, open)?;
    let rest = text.get(close + 1..)?;
    let is_end = rest.first().is_none_or(|byte| *byte == b' ') || rest.starts_with(&separators.pair);
    is_end.then_some(Quoted { open: open as u32, close: close as u32, escaped })
}

/// The place of the quote that closes the one at `open`.
#[inline]
pub fn closing_quote(text: &[u8], open: usize) -> Option<usize> {
    closed(text, open).map(|(close, _)| close)
}

/// The same, and whether there are backslashes before it.
#[inline]
fn closed(text: &[u8], open: usize) -> Option<(usize, bool)> {
    let quote = *text.get(open)?;
    let mut at = open + 1;
    let mut escaped = false;
    loop {
        at += memchr2(quote, b'\\', text.get(at..)?)?;
        if text.get(at) == Some(&quote) {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

#[cfg(test)]
mod tests;
