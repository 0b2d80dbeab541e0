//! Notices parameters of STRUCTURED-DATA that may come twice, without comparing their names: a few
//! instructions a parameter.

use super::Part;
use crate::word::load8;

/// Parameters that are told apart; with more, a closer look is taken.
const MANY: usize = 16;

/// The keys of the parameters so far. Different names may have one key, equal names always have.
#[derive(Debug)]
pub(super) struct Repeats {
    keys: [u64; MANY],
    count: usize,
    /// Id and key of the last element.
    id: Part,
    id_key: u64,
    suspected: bool,
}

impl Repeats {
    #[inline(always)]
    pub fn new() -> Repeats {
        Repeats { keys: [0; MANY], count: 0, id: (0, 0), id_key: 0, suspected: false }
    }

    /// Notes a parameter; an element without any has an empty name.
    #[inline(always)]
    pub fn param(&mut self, text: &[u8], id: Part, name: Part) {
        if id != self.id {
            let key = key(text, id);
            // Neighbours of one id are one element.
            self.suspected |= key == self.id_key;
            (self.id, self.id_key) = (id, key);
        }
        let key = key(text, name).wrapping_add(self.id_key.rotate_left(17)) | 1;
        self.suspected |= self.keys.iter().fold(false, |found, other| found | (*other == key));
        match self.keys.get_mut(self.count) {
            Some(place) => *place = key,
            None => self.suspected = true,
        }
        self.count += 1;
    }

    /// Whether something may come twice.
    #[inline(always)]
    pub fn suspected(&self) -> bool {
        self.suspected
    }
}

/// A number made of the length, the first and the last eight bytes.
#[inline(always)]
fn key(text: &[u8], (start, end): Part) -> u64 {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
    let size = end - start;
    if size >= 8 {
        let first = load8(text, start).unwrap_or_default();
        let last = load8(text, end - 8).unwrap_or_default();
        return (first.wrapping_mul(SPREAD) ^ last.rotate_left(29)).wrapping_add(size as u64);
    }
    // The bytes that stand behind the name are cut off.
    let bytes = load8(text, start).map_or_else(
        || {
            text.get(start..end)
                .unwrap_or_default()
                .iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte))
        },
        |word| word & ((1u64 << (8 * size)) - 1),
    );
    bytes.wrapping_mul(SPREAD).wrapping_add(size as u64)
}
