//! Answers for short texts, remembered: a table of fixed size in which a new text takes the place of an old one.

/// Longer texts are not remembered.
pub const TEXT_BYTES_MAX: usize = 31;
/// Places; a power of two.
const PLACES: usize = 256;

/// A text of at most [`TEXT_BYTES_MAX`] bytes, its length last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; TEXT_BYTES_MAX + 1]);

impl Key {
    #[inline]
    pub fn of(text: &[u8]) -> Option<Key> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let mut key = [0; TEXT_BYTES_MAX + 1];
        key.get_mut(..text.len())?.copy_from_slice(text);
        // No text has a length that another key could show: 0 marks an unused place.
        key[TEXT_BYTES_MAX] = text.len() as u8 + 1;
        Some(Key(key))
    }

    #[inline]
    fn place(&self) -> usize {
        let mut hash = 0u64;
        for chunk in self.0.chunks_exact(8) {
            let word = chunk.try_into().map_or(0, u64::from_le_bytes);
            hash = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
        (hash >> 40) as usize & (PLACES - 1)
    }
}

pub struct Memo {
    places: Box<[(Key, u64)]>,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo { places: vec![(Key([0; TEXT_BYTES_MAX + 1]), 0); PLACES].into_boxed_slice() }
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
        assert!(Key::of(&[7; 31]).is_some() && Key::of(&[7; 32]).is_none());
    }
}
