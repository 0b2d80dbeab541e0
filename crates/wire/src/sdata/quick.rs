//! One short element of STRUCTURED-DATA, `[id name="value" ...]`, checked with bit operations on 64 bytes at once. Whatever is unusual
//! (escapes, other than ASCII, a longer element, a mistake) is left to the check that looks at one field after the other.

use crate::word::Lanes;

/// Bytes a window has; no element found in it is longer.
pub(super) const WINDOW: usize = 64;

/// The length of the valid element at the start of the window; `None` when it takes a closer look.
#[inline(always)]
pub(super) fn element<L: Lanes>(window: &[u8; WINDOW]) -> Option<usize> {
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
    // What has to stand behind each value: the blank before the next name, or the end. The first blank ends the id.
    let behind = if blanks == 0 { 0 } else { (blanks & (blanks - 1)) | end };
    let sound = end != 0
        && signs.others & before == 0
        && signs.brackets & inside & before == 0
        && equals << 1 == opening
        && closing << 1 == behind
        && (blanks << 1) & equals == 0
        && (blanks | end) & 0b10 == 0;
    sound.then(|| end.trailing_zeros() as usize + 1)
}
