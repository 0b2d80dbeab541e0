//! The separators that an outline keeps: all of them, or only those behind keys that somebody may read.

use super::{Endings, is_word};
use crate::word::{Lanes, Places};

/// A pair whose key may be one that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// Where its key begins, and the separator behind it stands.
    pub key: u32,
    pub separator: u32,
    /// Where the next key begins, or the text ends.
    pub limit: u32,
}

/// The separators behind keys of one window.
pub(super) struct Keyed {
    pub base: usize,
    /// A bit for each separator.
    pub separators: u64,
    /// A bit for each byte where a word begins that may be a key.
    pub starts: u64,
}

/// Whoever keeps separators.
pub(super) trait Keep {
    /// Keeps those of a window. `None` when there is no room.
    fn keep<L: Lanes>(&mut self, text: &[u8], window: &[u8; 64], keyed: Keyed) -> Option<()>;
}

/// Keeps the places of all separators.
pub(super) struct KeepAll<'a, const MANY: usize>(pub &'a mut Places<MANY>);

impl<const MANY: usize> Keep for KeepAll<'_, MANY> {
    #[inline(always)]
    fn keep<L: Lanes>(&mut self, _text: &[u8], _window: &[u8; 64], keyed: Keyed) -> Option<()> {
        self.0.put(keyed.base, keyed.separators)
    }
}

/// Keeps pairs whose keys have one of these endings.
pub(super) struct KeepSome<'a> {
    pub picks: &'a mut Vec<Pick>,
    pub endings: &'a Endings,
    /// The last pick has no limit yet.
    pub is_open: bool,
}

impl Keep for KeepSome<'_> {
    #[inline(always)]
    fn keep<L: Lanes>(&mut self, text: &[u8], window: &[u8; 64], keyed: Keyed) -> Option<()> {
        let picked = keyed.separators & L::behind_keys(window, self.endings);
        if picked != 0 || self.is_open && keyed.separators != 0 {
            self.is_open = pick(self.picks, text, &keyed, picked, self.is_open);
        }
        Some(())
    }
}

/// Adds the pairs of a window whose separators are `picked`. Where the last pair before them is open, it ends
/// with the first key. Whether the last pair is open then.
#[inline(never)]
fn pick(picks: &mut Vec<Pick>, text: &[u8], keyed: &Keyed, mut picked: u64, is_open: bool) -> bool {
    if let (true, Some(open)) = (is_open, picks.last_mut()) {
        open.limit = keyed.key_before(text, keyed.separators.trailing_zeros());
    }
    let mut behind = keyed.separators;
    while picked != 0 {
        let bit = picked.trailing_zeros();
        picked &= picked.wrapping_sub(1);
        behind = keyed.separators & (!1 << bit);
        let limit = match behind {
            0 => text.len() as u32,
            behind => keyed.key_before(text, behind.trailing_zeros()),
        };
        let separator = (keyed.base + bit as usize) as u32;
        picks.push(Pick { key: keyed.key_before(text, bit), separator, limit });
    }
    behind == 0
}

impl Keyed {
    /// Where the key begins whose separator has this bit: with the last word that begins before it, or in an
    /// earlier window.
    #[inline]
    fn key_before(&self, text: &[u8], bit: u32) -> u32 {
        match (self.starts & !(u64::MAX << bit)).checked_ilog2() {
            Some(start) => self.base as u32 + start,
            None => start_of_key(text, self.base + bit as usize) as u32,
        }
    }
}

/// Where the word in front of a separator begins.
#[inline]
pub fn start_of_key(text: &[u8], separator: usize) -> usize {
    let before = text.get(..separator).unwrap_or_default();
    before.iter().rposition(|byte| !is_word(*byte)).map_or(0, |at| at + 1)
}
