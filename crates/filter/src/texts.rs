//! Texts that a configuration compares a value with, found with one look-up however many they are.

/// No place, and no text of the table.
const NONE: u16 = u16::MAX;

/// Different texts with their numbers, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    list: Vec<Box<[u8]>>,
    /// Numbers of texts by their hash; what is taken is looked for in the next place. At least half of the
    /// places are free.
    places: Box<[u16]>,
}

impl Texts {
    /// Texts a table holds at most.
    pub const MAX: usize = 1 << 14;

    /// The number of a text, which is added if it is not there; `None` when there is no room.
    pub fn add(&mut self, text: &[u8]) -> Option<u16> {
        if let Some(number) = self.find(text) {
            return Some(number);
        }
        let number = u16::try_from(self.list.len()).ok().filter(|n| usize::from(*n) < Texts::MAX)?;
        self.list.push(text.into());
        if self.places.len() < self.list.len() * 2 {
            self.places = vec![NONE; (self.list.len() * 4).next_power_of_two()].into();
            (0..number).for_each(|known| self.place(known));
        }
        self.place(number);
        Some(number)
    }

    fn place(&mut self, number: u16) {
        let Some(text) = self.list.get(usize::from(number)) else { return };
        let mask = self.places.len() - 1;
        let mut at = hash(text) & mask;
        while self.places[at] != NONE {
            at = (at + 1) & mask;
        }
        self.places[at] = number;
    }

    /// The number of a text that is in the table.
    #[inline]
    pub fn find(&self, text: &[u8]) -> Option<u16> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = hash(text) & mask;
        loop {
            let number = *self.places.get(at)?;
            if number == NONE {
                return None;
            }
            if self.list.get(usize::from(number)).is_some_and(|known| **known == *text) {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.list.iter().map(|text| &**text)
    }
}

/// Only the configuration puts texts into a table, so nobody can make them collide from outside.
#[inline]
fn hash(text: &[u8]) -> usize {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = text.len() as u64;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(K);
    }
    for byte in rest {
        hash = (hash.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(K);
    }
    (hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::Texts;

    #[test]
    fn every_text_is_found_again() {
        let mut texts = Texts::default();
        assert_eq!(texts.find(b""), None);
        let all: Vec<String> = (0..1000).map(|n| "x".repeat(n % 40) + &n.to_string()).collect();
        for round in 0..2 {
            for (number, text) in all.iter().enumerate() {
                assert_eq!(texts.add(text.as_bytes()), Some(number as u16), "round {round}");
            }
        }
        assert!(all.iter().enumerate().all(|(n, text)| texts.find(text.as_bytes()) == Some(n as u16)));
        assert_eq!(texts.find(b"nothing like it"), None);
        assert_eq!(texts.iter().count(), 1000);
    }

    #[test]
    fn a_full_table_takes_no_more() {
        let mut texts = Texts::default();
        assert!((0..Texts::MAX).all(|n| texts.add(n.to_string().as_bytes()).is_some()));
        assert_eq!((texts.add(b"one more"), texts.add(b"7")), (None, Some(7)));
    }
}
