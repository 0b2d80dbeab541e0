//! Messages that lie in a chunk as they leave together: each with what stands between it and the next one. So
//! they can be sent from where they lie.

use super::{Chunk, Piece};

impl Chunk {
    /// Its messages have tails of so many bytes. Before the first message.
    pub fn set_tail(&mut self, bytes: usize) {
        self.tail = bytes;
    }

    pub fn tail(&self) -> usize {
        self.tail
    }

    /// Appends the messages of another one, with such tails as they have here: a reload came in between.
    pub fn append(&mut self, other: &Chunk) {
        let first = self.ends.first().map_or(0, |end| *end as usize);
        let tail = self.bytes.get(first.saturating_sub(self.tail)..first).unwrap_or_default().to_vec();
        for message in other.iter() {
            self.bytes.extend_from_slice(message);
            self.bytes.extend_from_slice(&tail);
            self.ends.push(self.bytes.len() as u32);
        }
        self.seal = other.seal.or(self.seal);
    }

    /// Those of its messages that were not sent, up to so many, as they lie there: where each has this tail.
    /// After [`Chunk::share`].
    pub fn piece(&self, messages: usize, tail: &[u8]) -> Option<Piece> {
        let from = self.done + self.sent;
        let range = self.end_of(from)..self.end_of((from + messages).min(self.ends.len()));
        let has_tail = tail.len() == self.tail && self.bytes.get(range.clone())?.ends_with(tail);
        let text = self.bytes.shared().filter(|_| has_tail)?;
        Some(Piece::of(text, range))
    }

    /// Others may have pieces of it from now on.
    pub fn share(&mut self) {
        self.bytes.share();
    }

    /// Bytes of so many messages from one on, without tails.
    pub(super) fn bytes_of(&self, from: usize, to: usize) -> usize {
        let tails = to.saturating_sub(from) * self.tail;
        self.end_of(to).saturating_sub(self.end_of(from)).saturating_sub(tails)
    }

    /// Of all its messages those with these places.
    pub fn messages_between(&self, from: usize, to: usize) -> impl Iterator<Item = &[u8]> {
        let from = from.min(to);
        let (text, tail, mut start) = (self.bytes.as_slice(), self.tail, self.end_of(from));
        self.ends.get(from..to).unwrap_or_default().iter().map(move |end| {
            let end = *end as usize;
            let message = text.get(start..end.saturating_sub(tail)).unwrap_or_default();
            start = end;
            message
        })
    }

    /// Some of all its messages, as a chunk of their own without tickets and tails.
    pub fn copy(&self, from: usize, to: usize) -> Chunk {
        let to = to.min(self.ends.len());
        if self.tail > 0 {
            let mut copy = self.copy_of(Vec::new(), Vec::new());
            for message in self.messages_between(from, to) {
                copy.bytes.extend_from_slice(message);
                copy.ends.push(copy.bytes.len() as u32);
            }
            return copy;
        }
        let (begin, ends) = (self.end_of(from), self.ends.get(from..to).unwrap_or_default());
        let bytes = self.bytes.get(begin..self.end_of(from + ends.len())).unwrap_or_default();
        self.copy_of(bytes.to_vec(), ends.iter().map(|end| end - begin as u32).collect())
    }

    fn copy_of(&self, bytes: Vec<u8>, ends: Vec<u32>) -> Chunk {
        Chunk {
            bytes: bytes.into(),
            ends,
            flow_control: self.flow_control,
            write_max: self.write_max,
            seal: self.seal,
            came: self.came,
            ..Chunk::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(tail: usize) -> Chunk {
        let mut chunk = Chunk::of(b"a;bb;;ccc;".to_vec(), vec![2, 5, 6, 10]).expect("whole");
        chunk.set_tail(tail);
        chunk
    }

    #[test]
    fn tails_are_no_part_of_messages() {
        let mut c = chunk(1);
        let texts: Vec<_> = c.iter().collect();
        assert_eq!(texts, [&b"a"[..], b"bb", b"", b"ccc"]);
        assert_eq!((c.waiting_bytes(), c.unsent_bytes(), c.front()), (6, 6, Some(&b"a"[..])));
        c.send(2);
        assert_eq!((c.unsent_bytes(), c.unsent().next()), (3, Some(&b""[..])));
        assert_eq!(c.acknowledge(2), crate::Whole { messages: 2, bytes: 3 });
        assert_eq!((c.waiting_bytes(), c.front()), (3, Some(&b""[..])));
        let copy = c.copy(1, 4);
        assert_eq!(
            (copy.bytes.as_slice(), copy.ends.as_slice(), copy.tail()),
            (&b"bbccc"[..], &[2, 2, 5][..], 0)
        );
        let mut rest = c.split(1);
        assert_eq!((c.iter().count(), rest.iter().collect::<Vec<_>>()), (1, vec![&b"ccc"[..]]));
        rest.clear();
        assert_eq!(rest.tail(), 0);
    }

    #[test]
    fn pieces_are_what_was_not_sent() {
        let mut c = chunk(1);
        assert!(c.piece(2, b";").is_none(), "it is not shared");
        c.share();
        assert!(c.piece(2, b"").is_none() && c.piece(2, b",").is_none());
        let first = c.piece(2, b";").expect("there");
        c.send(2);
        let mut second = c.piece(9, b";").expect("there");
        second.shorten(1);
        assert_eq!((first.as_ref(), second.as_ref()), (&b"a;bb;"[..], &b";ccc"[..]));
        // What becomes of the chunk is of no matter to whoever has them.
        c.take_out(0, 4);
        c.clear();
        assert_eq!((first.as_ref(), second.as_ref()), (&b"a;bb;"[..], &b";ccc"[..]));
        second.shorten(99);
        assert!(second.as_ref().is_empty());
    }

    #[test]
    fn what_comes_after_a_reload_gets_the_same_tails() {
        for (mut first, other) in [(chunk(1), chunk(0)), (chunk(0), chunk(1))] {
            let expected: Vec<Vec<u8>> = first.iter().chain(other.iter()).map(<[u8]>::to_vec).collect();
            first.append(&other);
            assert_eq!(first.iter().collect::<Vec<_>>(), expected);
            assert_eq!(first.ends.last().map(|end| *end as usize), Some(first.bytes.len()));
        }
    }
}
