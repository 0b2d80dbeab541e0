//! The output of a template. Copies from a batch's text are held back and joined, so that a message printed
//! the way it was received is one copy; short pieces are copied with a fixed size, which is cheaper than the
//! exact one.

use crate::writer::SHORT_BYTES;
use record::Span;

pub(crate) struct Sink<'a> {
    out: &'a mut Vec<u8>,
    text: &'a [u8],
    /// The copy held back: `text[start..end]`. Both are `NONE` when there is none, so that nothing ever
    /// continues it.
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
            self.settle();
            self.start = span.start as usize;
        }
        self.end = span.end();
    }

    #[inline]
    pub fn byte(&mut self, byte: u8) {
        if self.text.get(self.end) == Some(&byte) {
            self.end += 1;
        } else {
            self.out().push(byte);
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

    /// Bytes that mostly stand in the text.
    #[inline]
    pub fn value(&mut self, bytes: &[u8]) {
        let start = (bytes.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        match start < self.text.len() {
            true => self.span(Span::new(start, bytes.len())),
            false => self.bytes(bytes),
        }
    }

    /// Bytes from elsewhere.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.out().extend_from_slice(bytes);
    }

    /// The first `len` bytes of a longer buffer.
    #[inline]
    pub fn padded<const N: usize>(&mut self, buffer: &[u8; N], len: usize) {
        push_padded(self.out(), buffer, len);
    }

    /// What [`Sink::out`] would be long, had it to be made.
    #[inline]
    pub fn len(&self) -> usize {
        self.out.len() + self.end.wrapping_sub(self.start)
    }

    /// The output with everything so far in it, for whatever is not a copy.
    #[inline]
    pub fn out(&mut self) -> &mut Vec<u8> {
        self.settle();
        self.out
    }

    /// Appends the copy held back.
    #[inline]
    pub fn settle(&mut self) {
        if self.start != self.end {
            push_span(self.out, self.text, self.start, self.end);
            (self.start, self.end) = (NONE, NONE);
        }
    }
}

/// Appends the first `len` bytes of a longer buffer.
#[inline(always)]
pub(crate) fn push_padded<const N: usize>(out: &mut Vec<u8>, buffer: &[u8; N], len: usize) {
    let before = out.len();
    out.extend_from_slice(buffer);
    out.truncate(before + len);
}

/// Appends `text[start..end]`; `None`, with nothing appended, when that is not inside.
#[inline(always)]
pub(crate) fn push_span(out: &mut Vec<u8>, text: &[u8], start: usize, end: usize) -> Option<()> {
    if end.wrapping_sub(start) <= SHORT_BYTES
        && let Some(chunk) = text.get(start..).and_then(|rest| rest.first_chunk::<SHORT_BYTES>())
    {
        push_padded(out, chunk, end - start);
    } else {
        out.extend_from_slice(text.get(start..end)?);
    }
    Some(())
}
