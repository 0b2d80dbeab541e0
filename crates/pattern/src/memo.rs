//! Answers for short texts, remembered: a table of fixed size in which a new text takes the place of an old
//! one.

/// Longer texts are not remembered.
const TEXT_BYTES_MAX: usize = 31;
/// Places; a power of two.
const PLACES: usize = 256;

/// A text of at most [`TEXT_BYTES_MAX`] bytes, in words that overlap where it is not a multiple of their
/// size: with the length they say all of it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Key {
    words: [u64; 4],
    /// One more than the length: 0 marks an unused place.
    length: u32,
}

#[inline]
fn eight(text: &[u8], at: usize) -> u64 {
    text.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

#[inline]
fn four(text: &[u8], at: usize) -> u64 {
    text.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, |b| u64::from(u32::from_le_bytes(b)))
}

impl Key {
    #[inline]
    pub fn of(text: &[u8]) -> Option<Key> {
        let length = text.len();
        let words = match length {
            0 => [0; 4],
            1..4 => [text.iter().fold(0, |word, b| word << 8 | u64::from(*b)), 0, 0, 0],
            4..8 => [four(text, 0) | four(text, length - 4) << 32, 0, 0, 0],
            8..16 => [eight(text, 0), eight(text, length - 8), 0, 0],
            16..=TEXT_BYTES_MAX => {
                [eight(text, 0), eight(text, 8), eight(text, length - 16), eight(text, length - 8)]
            }
            _ => return None,
        };
        Some(Key { words, length: length as u32 + 1 })
    }

    #[inline]
    fn place(&self) -> usize {
        const K: u64 = 0x9e37_79b9_7f4a_7c15;
        let [a, b, c, d] = self.words;
        let first = (a ^ b.rotate_left(29) ^ u64::from(self.length)).wrapping_mul(K);
        let second = (c ^ d.rotate_left(31)).wrapping_mul(K);
        ((first ^ second.rotate_left(17)).wrapping_mul(K) >> 52) as usize & (PLACES - 1)
    }
}

pub struct Memo {
    places: Box<[(Key, u64)]>,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo { places: vec![(Key::default(), 0); PLACES].into_boxed_slice() }
    }
}

impl Memo {
    #[inline]
    pub fn get(&self, key: &Key) -> Option<u64> {
        self.places.get(key.place()).filter(|(k, _)| k == key).map(|(_, answer)| *answer)
    }

    pub fn set(&mut self, key: &Key, answer: u64) {
        if let Some(place) = self.places.get_mut(key.place()) {
            *place = (*key, answer);
        }
    }
}

/// Results for short texts, remembered: at most [`TEXTS_BYTES_MAX`] bytes of them.
#[derive(Default)]
pub struct TextMemo {
    memo: Memo,
    texts: Vec<u8>,
}

const TEXTS_BYTES_MAX: usize = 32 << 10;
/// No result: the text stays as it is.
const SAME: u64 = u64::MAX;

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered<'a> {
    Same,
    Changed(&'a [u8]),
}

impl TextMemo {
    /// What is remembered for a text.
    #[inline]
    pub fn get(&self, text: &[u8]) -> Option<Remembered<'_>> {
        match self.memo.get(&Key::of(text)?)? {
            SAME => Some(Remembered::Same),
            place => {
                let text = self.texts.get((place >> 32) as usize..(place & 0xffff_ffff) as usize);
                text.map(Remembered::Changed)
            }
        }
    }

    pub fn set(&mut self, text: &[u8], result: Option<&[u8]>) {
        let Some(key) = Key::of(text) else { return };
        let place = match result {
            None => SAME,
            Some(result) => {
                if result.len() > TEXTS_BYTES_MAX {
                    return;
                }
                if self.texts.len() + result.len() > TEXTS_BYTES_MAX {
                    *self = TextMemo::default();
                }
                let start = self.texts.len();
                self.texts.extend_from_slice(result);
                (start as u64) << 32 | self.texts.len() as u64
            }
        };
        self.memo.set(&key, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_and_forgets() {
        let mut memo = Memo::default();
        let keys: Vec<Key> =
            (0..2000).map(|n| Key::of(format!("host-{n}").as_bytes()).expect("short")).collect();
        for (n, key) in keys.iter().enumerate() {
            memo.set(key, n as u64);
            assert_eq!(memo.get(key), Some(n as u64));
        }
        let kept = keys.iter().enumerate().filter(|(n, k)| memo.get(k) == Some(*n as u64)).count();
        assert!(kept > PLACES / 2 && kept <= PLACES, "{kept}");
        assert!(keys.iter().enumerate().all(|(n, k)| memo.get(k).is_none_or(|a| a == n as u64)));
    }

    #[test]
    fn a_text_and_the_same_text_with_zeros_differ() {
        assert!(Key::of(b"a") != Key::of(b"a\0"));
        let texts: Vec<Vec<u8>> = (0..=31).flat_map(|n| [vec![7; n], vec![0; n]]).collect();
        for (i, a) in texts.iter().enumerate() {
            for (j, b) in texts.iter().enumerate() {
                assert_eq!(Key::of(a) == Key::of(b), i == j || a.is_empty() && b.is_empty());
            }
        }
        assert!(Key::of(&[7; 31]).is_some() && Key::of(&[7; 32]).is_none());
    }

    #[test]
    fn results_are_remembered_within_their_bound() {
        let mut memo = TextMemo::default();
        for n in 0..20_000 {
            let (text, result) = (format!("host{n}"), format!("result of {n}"));
            memo.set(text.as_bytes(), Some(result.as_bytes()).filter(|_| n % 3 != 0));
            let expected = if n % 3 == 0 { Remembered::Same } else { Remembered::Changed(result.as_bytes()) };
            assert_eq!(memo.get(text.as_bytes()), Some(expected));
        }
        assert!(memo.texts.len() <= TEXTS_BYTES_MAX);
        assert_eq!(memo.get(&[b'x'; 40]), None);
        memo.set(b"large", Some(&[0; 40_000]));
        assert_eq!(memo.get(b"large"), None);
    }
}
