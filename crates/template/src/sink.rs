//! The output of a template: copies from a batch's text are held back and joined, so that a message printed the way it was received
//! is one copy.

use record::Span;

pub(crate) struct Sink<'a> {
    pub out: &'a mut Vec<u8>,
    text: &'a [u8],
    /// The copy held back: `text[start..end]`. Both are `NONE` when there is none, so that nothing ever continues it.
    start: usize,
    end: usize,
}

const NONE: usize = usize::MAX;

impl<'a> Sink<'a> {
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, text: &'a [u8]) -> Sink<'a> {
        Sink { out, text, start: NONE, end: NONE }
    }

    #[inline]
    pub fn span(&mut self, span: Span) {
        if span.is_empty() {
            return;
        }
        if span.start as usize != self.end {
            self.flush();
            self.start = span.start as usize;
        }
        self.end = span.end();
    }

    #[inline]
    pub fn byte(&mut self, byte: u8) {
        if self.text.get(self.end) == Some(&byte) {
            self.end += 1;
        } else {
            self.flush();
            self.out.push(byte);
        }
    }

    #[inline]
    pub fn literal(&mut self, literal: &[u8]) {
        let follows = self.text.get(self.end..).is_some_and(|rest| rest.starts_with(literal));
        if follows {
            self.end += literal.len();
        } else {
            self.flush();
            self.out.extend_from_slice(literal);
        }
    }

    /// The output with nothing held back, for everything that is not a copy from the text.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.flush();
        self.out
    }

    #[inline]
    pub fn flush(&mut self) {
        if self.start != self.end {
            if let Some(bytes) = self.text.get(self.start..self.end) {
                self.out.extend_from_slice(bytes);
            }
            (self.start, self.end) = (NONE, NONE);
        }
    }
}
