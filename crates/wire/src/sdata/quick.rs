//! One short element of STRUCTURED-DATA, `[id name="value" ...]`, checked with bit operations on 64 bytes at
//! once. Whatever is unusual (escapes, other than ASCII, a longer element, a mistake) is left to the check
//! that looks at one field after the other.

use super::Part;
use crate::word::Lanes;

/// Bytes a window has; no element found in it is longer.
pub(super) const WINDOW: usize = 64;

/// A valid element and the marks in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub size: usize,
    /// The blanks in front of its parameters' names, and the signs behind them.
    blanks: u64,
    equals: u64,
}

impl Element {
    #[inline(always)]
    pub fn params(&self) -> u32 {
        self.blanks.count_ones()
    }

    /// Calls with the id and the name of each parameter, as places in the text; without any, with an empty
    /// name.
    #[inline(always)]
    pub fn each(&self, at: usize, mut call: impl FnMut(Part, Part)) {
        let (mut blanks, mut equals) = (self.blanks, self.equals);
        let id_end = if blanks == 0 { self.size - 1 } else { blanks.trailing_zeros() as usize };
        let id = (at + 1, at + id_end);
        if blanks == 0 {
            return call(id, (0, 0));
        }
        while blanks != 0 {
            call(id, (at + blanks.trailing_zeros() as usize + 1, at + equals.trailing_zeros() as usize));
            blanks &= blanks - 1;
            equals &= equals.wrapping_sub(1);
        }
    }
}

/// The valid element at the start of the window; `None` when it takes a closer look.
#[inline(always)]
pub(super) fn element<L: Lanes>(window: &[u8; WINDOW]) -> Option<Element> {
    let signs = L::sdata_signs(window)?;
    // Set from each opening quote to the byte before the closing one.
    let mut inside = signs.quotes;
    for shift in [1, 2, 4, 8, 16, 32] {
        inside ^= inside << shift;
    }
    let ends = signs.brackets & !inside;
    let end = ends & ends.wrapping_neg();
    let before = end.wrapping_sub(1);
    let names = before & !inside;
    let (opening, closing) = (signs.quotes & inside & before, signs.quotes & names);
    let blanks = signs.blanks & names;
    let equals = signs.equals & names;
    // What has to stand behind each value: the blank before the next name, or the end. The first blank ends
    // the id.
    let behind = if blanks == 0 { 0 } else { (blanks & (blanks - 1)) | end };
    let sound = end != 0
        && signs.others & before == 0
        && signs.brackets & inside & before == 0
        && equals << 1 == opening
        && closing << 1 == behind
        && (blanks << 1) & equals == 0
        && (blanks | end) & 0b10 == 0;
    sound.then(|| Element { size: end.trailing_zeros() as usize + 1, blanks, equals })
}
