//! The output of a template. Copies from a batch's text are held back and joined, so that a message printed the way it was received
//! is one copy; short pieces are gathered in a small buffer, where copies of fixed size are cheaper than exact ones.

use record::Span;

pub(crate) struct Sink<'a> {
    out: &'a mut Vec<u8>,
    text: &'a [u8],
    /// The copy held back: `text[start..end]`. Both are `NONE` when there is none, so that nothing ever continues it.
    start: usize,
    end: usize,
    /// `head[..at]` comes after `out` and before the copy held back.
    head: [u8; HEAD_BYTES],
    at: usize,
}

const NONE: usize = usize::MAX;
const HEAD_BYTES: usize = 192;
/// Pieces up to this size are copied with this size.
const SHORT_BYTES: usize = 32;

impl<'a> Sink<'a> {
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, text: &'a [u8]) -> Sink<'a> {
        Sink { out, text, start: NONE, end: NONE, head: [0; HEAD_BYTES], at: 0 }
    }

    #[inline]
    pub fn span(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        if span.start as usize != self.end {
            self.settle();
            self.start = span.start as usize;
        }
        self.end = span.end();
    }

    #[inline]
    pub fn byte(&mut self, byte: u8) {
        if self.text.get(self.end) == Some(&byte) {
            self.end += 1;
            return;
        }
        self.settle();
        match self.head.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => {
                self.spill();
                self.out.push(byte);
            }
        }
    }

    #[inline]
    pub fn literal(&mut self, literal: &[u8]) {
        let follows = self.text.get(self.end) == literal.first()
            && self.text.get(self.end..).is_some_and(|rest| rest.starts_with(literal));
        if follows {
            self.end += literal.len();
        } else {
            self.bytes(literal);
        }
    }

    /// Bytes from elsewhere.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.settle();
        match self.head.get_mut(self.at..self.at + bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.at += bytes.len();
            }
            None => {
                self.spill();
                self.out.extend_from_slice(bytes);
            }
        }
    }

    /// The first `len` bytes of a longer buffer.
    #[inline]
    pub fn padded<const N: usize>(&mut self, buffer: &[u8; N], len: usize) {
        self.settle();
        match self.head.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut::<N>()) {
            Some(place) => {
                *place = *buffer;
                self.at += len.min(N);
            }
            None => {
                self.spill();
                self.out.extend_from_slice(buffer.get(..len).unwrap_or(buffer));
            }
        }
    }

    /// What [`Sink::out`] would be long, had it to be made.
    #[inline]
    pub fn len(&self) -> usize {
        self.out.len() + self.at + self.end.wrapping_sub(self.start)
    }

    /// The output with everything so far in it, for whatever is not a copy.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.finish();
        self.out
    }

    /// Brings the output up to date.
    #[inline]
    pub fn finish(&mut self) {
        if self.at == 0 && self.end.wrapping_sub(self.start) > SHORT_BYTES {
            self.long();
            return;
        }
        self.settle();
        self.spill();
    }

    /// Puts the copy held back behind the rest.
    #[inline]
    fn settle(&mut self) {
        if self.start == self.end {
            return;
        }
        if self.end - self.start <= SHORT_BYTES
            && let Some(from) = self.text.get(self.start..).and_then(|rest| rest.first_chunk::<SHORT_BYTES>())
            && let Some(place) = self.head.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut())
        {
            *place = *from;
            self.at += self.end - self.start;
            (self.start, self.end) = (NONE, NONE);
        } else {
            self.long();
        }
    }

    #[inline]
    fn long(&mut self) {
        self.spill();
        if let Some(bytes) = self.text.get(self.start..self.end) {
            self.out.extend_from_slice(bytes);
        }
        (self.start, self.end) = (NONE, NONE);
    }

    #[inline]
    fn spill(&mut self) {
        if self.at > 0 {
            self.out.extend_from_slice(self.head.get(..self.at).unwrap_or_default());
            self.at = 0;
        }
    }
}
