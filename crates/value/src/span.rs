//! A piece of a batch's text, by offset: fields are spans, so a record is plain data and costs nothing to
//! copy.

/// `start..start + len` in the text of a batch. A batch's text is bounded to 4 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub len: u32,
}

impl Span {
    pub const EMPTY: Span = Span { start: 0, len: 0 };
    /// A field that was set to nothing, which is not the same as one that was not set.
    pub const NOTHING: Span = Span { start: u32::MAX, len: 0 };

    #[inline]
    pub fn new(start: usize, len: usize) -> Span {
        Span { start: start as u32, len: len as u32 }
    }

    /// The span from `start` up to `end`; empty when `end <= start`.
    #[inline]
    pub fn between(start: usize, end: usize) -> Span {
        Span { start: start as u32, len: end.saturating_sub(start) as u32 }
    }

    #[inline]
    pub fn end(self) -> usize {
        self.start as usize + self.len as usize
    }

    /// The same; where it is empty, a field that was set to nothing.
    #[inline]
    pub fn set(self) -> Span {
        if self.len == 0 { Span::NOTHING } else { self }
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The bytes of this span in `text`; empty when it does not lie inside (never a panic on the message
    /// path).
    #[inline]
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start as usize..self.end()).unwrap_or_default()
    }
}
