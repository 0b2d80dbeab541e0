//! Which message a confirmation is about: the server counts those that it gets on a channel from 1 on.

use crate::publish::ID_BYTES;
use std::collections::VecDeque;

#[derive(Default)]
pub struct Sent {
    /// Number and id of each that was sent from `answered` on; `None`: it was answered.
    messages: VecDeque<Option<(u64, [u8; ID_BYTES])>>,
    /// Those before, all answered.
    answered: u64,
}

impl Sent {
    pub fn add(&mut self, number: u64, id: &[u8]) {
        let mut kept = [0; ID_BYTES];
        id.iter().zip(&mut kept).for_each(|(from, to)| *to = *from);
        self.messages.push_back(Some((number, kept)));
    }

    /// The number of the message with an id, in hexadecimal.
    pub fn number_of(&self, text: &[u8]) -> Option<u64> {
        let digit = |at: usize| text.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let mut id = [0; ID_BYTES];
        for (at, byte) in id.iter_mut().enumerate() {
            *byte = (digit(2 * at)? * 16 + digit(2 * at + 1)?) as u8;
        }
        self.messages.iter().flatten().find(|(_, known)| *known == id).map(|(number, _)| *number)
    }

    /// The one of this count is answered, or all up to it; 0 is all that were sent.
    pub fn answered(&mut self, tag: u64, multiple: bool, mut each: impl FnMut(u64)) {
        let end = match tag {
            0 => self.messages.len(),
            tag => usize::try_from(tag.saturating_sub(self.answered)).unwrap_or(0).min(self.messages.len()),
        };
        let known = tag == 0 || tag > self.answered && tag - self.answered <= self.messages.len() as u64;
        if multiple {
            self.messages.drain(..end).flatten().for_each(|(number, _)| each(number));
            self.answered += end as u64;
        } else if known && let Some(place) = end.checked_sub(1).and_then(|at| self.messages.get_mut(at)) {
            place.take().into_iter().for_each(|(number, _)| each(number));
        }
        while let Some(None) = self.messages.front() {
            self.messages.pop_front();
            self.answered += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confirmations_find_their_messages() {
        let mut sent = Sent::default();
        (10..16).for_each(|number| sent.add(number, &[number as u8; ID_BYTES]));
        assert_eq!(sent.number_of("0c".repeat(12).as_bytes()), Some(12));
        assert_eq!((sent.number_of(b"0c"), sent.number_of("ff".repeat(12).as_bytes())), (None, None));
        let mut answered = |tag, multiple| {
            let mut all = Vec::new();
            sent.answered(tag, multiple, |number| all.push(number));
            all
        };
        assert_eq!(answered(2, false), [11]);
        assert_eq!(answered(3, true), [10, 12]);
        assert_eq!(answered(3, false), [] as [u64; 0]);
        assert_eq!(answered(99, false), [] as [u64; 0]);
        assert_eq!(answered(4, false), [13]);
        assert_eq!(answered(0, true), [14, 15]);
        assert_eq!(answered(u64::MAX, true), [] as [u64; 0]);
    }
}
