//! Walks from one byte of interest to the next, found 64 bytes at a time.

/// Says which bytes of a window are of interest, the first byte lowest.
pub trait Class {
    fn mask(&self, window: &[u8; 64]) -> u64;
}

/// Any byte that is no letter, digit, `_`, `.` or `-`.
pub struct NotWord;

impl Class for NotWord {
    #[inline(always)]
    fn mask(&self, window: &[u8; 64]) -> u64 {
        wire::not_word64(window)
    }
}

/// These bytes.
pub struct Any<const N: usize>(pub [u8; N]);

impl<const N: usize> Class for Any<N> {
    #[inline(always)]
    fn mask(&self, window: &[u8; 64]) -> u64 {
        wire::mask64(window, self.0)
    }
}

/// Further than any text is long.
const FAR: usize = usize::MAX / 2;

/// What is known of one text.
pub struct Marks<C> {
    class: C,
    base: usize,
    bits: u64,
}

impl<C: Class> Marks<C> {
    #[inline]
    pub fn new(class: C) -> Marks<C> {
        Marks { class, base: FAR, bits: 0 }
    }

    /// The next byte of interest at `at` or later; the text's end when there is none. Always of the same
    /// text.
    #[inline(always)]
    pub fn next(&mut self, text: &[u8], at: usize) -> usize {
        let ahead = at.wrapping_sub(self.base);
        if ahead < 64 {
            let bits = self.bits >> ahead;
            if bits != 0 {
                return at + bits.trailing_zeros() as usize;
            }
            return self.load(text, self.base + 64);
        }
        self.load(text, at)
    }

    #[inline]
    fn load(&mut self, text: &[u8], from: usize) -> usize {
        let mut at = from;
        loop {
            let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) else { return text.len() };
            self.base = at;
            self.bits = match rest.first_chunk::<64>() {
                Some(window) => self.class.mask(window),
                None => {
                    // The end of the text is marked.
                    let mut window = [0; 64];
                    window.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
                    self.class.mask(&window) | u64::MAX << rest.len()
                }
            };
            if self.bits != 0 {
                return at + self.bits.trailing_zeros() as usize;
            }
            at += 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_what_a_loop_finds(text in proptest::collection::vec(prop_oneof![4 => Just(b'x'), 1 => any::<u8>()], 0..300)) {
            let word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
            let (mut not_word, mut any) = (Marks::new(NotWord), Marks::new(Any([b',', 0])));
            for at in 0..=text.len() {
                let find = |f: &dyn Fn(&u8) -> bool| text[at..].iter().position(f).map_or(text.len(), |n| at + n);
                prop_assert_eq!(not_word.next(&text, at), find(&|b| !word(b)));
                prop_assert_eq!(any.next(&text, at), find(&|b| *b == b',' || *b == 0));
            }
        }
    }
}
