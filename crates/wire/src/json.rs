//! The outline of a JSON text: where its signs stand outside strings, found 64 bytes at a time with bit
//! operations that do not wait for each other. What may stand beside what is checked on the way; which sign
//! closes which, the reader of the outline sees.
//!
//! Only texts of the ordinary kind have an outline: no comments, no blanks but the blank itself, no strings
//! in single quotes. For all others there is a reader that goes byte by byte.

use crate::word::{JsonSigns, Lanes, Places, Windowed, with_lanes};

/// Longer texts have no outline.
pub const TEXT_MAX: usize = 1 << 16;

/// Signs of one window that are written down without asking how many there are.
const MANY: usize = 12;

/// Where `{`, `}`, `[`, `]`, `:` and `,` stand outside strings, and the first of each row of bytes that are
/// no part of a string, no sign, no blank and no digit.
///
/// Between two of these places is at most one operand: a string, or a row of digits; none where the first
/// place is a closing bracket, or the second one is that of an empty object or array. A closing bracket may
/// stand behind a separator: that is for the reader to see.
#[derive(Default)]
pub struct Outline {
    places: Places<MANY>,
    escapes: bool,
    /// A bit for each place in a window where a blank stood outside strings.
    blanks: u64,
    faults: u64,
}

impl Outline {
    /// Draws the outline of `text` from `from` on; false where it has none.
    #[inline]
    pub fn draw(&mut self, text: &[u8], from: usize) -> bool {
        if text.len() > TEXT_MAX || from > text.len() {
            return false;
        }
        self.places.begin(text.len());
        (self.escapes, self.blanks, self.faults) = (false, 0, 0);
        with_lanes(Draw { text, from, outline: self });
        self.faults == 0
    }

    #[inline]
    pub fn places(&self) -> &[u32] {
        self.places.all()
    }

    /// Whether there is a backslash anywhere. What follows it has not been looked at.
    #[inline]
    pub fn has_escapes(&self) -> bool {
        self.escapes
    }

    /// Whether there is a blank outside strings.
    #[inline]
    pub fn has_blanks(&self) -> bool {
        self.blanks != 0
    }
}

struct Draw<'a> {
    text: &'a [u8],
    from: usize,
    outline: &'a mut Outline,
}

impl Windowed for Draw<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Draw { text, from, outline } = self;
        let mut edge = Edge { operator: 1, ..Edge::default() };
        let (windows, rest) = text.get(from..).unwrap_or_default().as_chunks::<64>();
        let mut base = from;
        for window in windows {
            edge.window(&L::json_signs(window), base, outline);
            base += 64;
        }
        if !rest.is_empty() {
            let blanks = outline.blanks;
            let mut window = [b' '; 64];
            if let Some(to) = window.get_mut(..rest.len()) {
                to.copy_from_slice(rest);
            }
            edge.window(&L::json_signs(&window), base, outline);
            // Those behind the text do not count.
            let new = outline.blanks & !blanks & !(u64::MAX << rest.len());
            outline.blanks = blanks | new;
        }
        // A string without an end.
        outline.faults |= edge.string;
    }
}

/// What a window has to know of the one before it: the lowest bit, of `string` all.
#[derive(Default)]
struct Edge {
    string: u64,
    /// An operand has to come: the last sign was `{`, `[`, `:` or `,`.
    operator: u64,
    scalar: u64,
    odd: u64,
    /// The first byte belongs to an escape.
    escaped: bool,
}

impl Edge {
    #[inline(always)]
    fn window(&mut self, signs: &JsonSigns, base: usize, outline: &mut Outline) {
        let mut quotes = signs.quotes;
        if signs.backslashes != 0 || self.escaped {
            outline.escapes = true;
            quotes &= !self.escaped(signs.backslashes);
        }
        // From an opening quote to the byte before the closing one.
        let inside = prefix_xor(quotes) ^ self.string;
        self.string = (inside as i64 >> 63) as u64;
        let outside = !inside;
        let (opens, closes) = (signs.opens & outside, signs.closes & outside);
        let (separators, blanks) = (signs.separators & outside, signs.blanks & outside);
        // The first byte behind an operator that is no blank: a sum runs through a row of blanks as a carry.
        let operators = opens | separators;
        let behind = operators << 1 | self.operator;
        let (passed, over) = (behind & blanks).overflowing_add(blanks);
        let expected = (behind | passed) & !blanks;
        self.operator = operators >> 63 | u64::from(over);
        let scalars = !(inside | quotes | operators | closes | blanks);
        let firsts = scalars & !(scalars << 1 | self.scalar);
        self.scalar = scalars >> 63;
        let odd = scalars & !signs.digits;
        let odd_firsts = odd & !(odd << 1 | self.odd);
        self.odd = odd >> 63;
        let operands = quotes & inside | opens | firsts;
        outline.faults |= operands & !expected | separators & expected;
        outline.blanks |= blanks;
        if outline.places.put(base, operators | closes | odd_firsts).is_none() {
            outline.faults = 1;
        }
    }

    /// The bytes behind backslashes that are no such bytes themselves.
    #[cold]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let mut escaped = u64::from(self.escaped);
        let mut left = backslashes & !escaped;
        self.escaped = false;
        while left != 0 {
            let at = left.trailing_zeros();
            if at == 63 {
                self.escaped = true;
                break;
            }
            escaped |= 2 << at;
            left &= !(3 << at);
        }
        escaped
    }
}

/// Each bit says whether the number of bits up to and with it is odd.
#[inline(always)]
fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests;
