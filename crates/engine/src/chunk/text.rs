//! The bytes of a chunk. They can be shared with whoever sends them, and are one's own again when nobody else
//! has them any more.

use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;

enum Bytes {
    Own(Vec<u8>),
    Shared(Arc<Vec<u8>>),
}

/// Bytes that are written to as one's own: what is shared is copied first.
pub struct Text(Bytes);

impl Default for Text {
    fn default() -> Text {
        Text::from(Vec::new())
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Text {
        Text(Bytes::Own(bytes))
    }
}

impl From<Text> for Vec<u8> {
    fn from(Text(bytes): Text) -> Vec<u8> {
        match bytes {
            Bytes::Own(bytes) => bytes,
            Bytes::Shared(bytes) => Arc::unwrap_or_clone(bytes),
        }
    }
}

impl Deref for Text {
    type Target = Vec<u8>;

    #[inline]
    fn deref(&self) -> &Vec<u8> {
        match &self.0 {
            Bytes::Own(bytes) => bytes,
            Bytes::Shared(bytes) => bytes,
        }
    }
}

impl DerefMut for Text {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        if let Bytes::Shared(bytes) = &mut self.0 {
            self.0 = Bytes::Own(Arc::unwrap_or_clone(std::mem::take(bytes)));
        }
        match &mut self.0 {
            Bytes::Own(bytes) => bytes,
            Bytes::Shared(bytes) => Arc::make_mut(bytes),
        }
    }
}

impl Text {
    /// It can be for somebody else too from now on.
    pub(super) fn share(&mut self) {
        if let Bytes::Own(bytes) = &mut self.0 {
            self.0 = Bytes::Shared(Arc::new(std::mem::take(bytes)));
        }
    }

    /// For somebody else, after [`Text::share`].
    pub(super) fn shared(&self) -> Option<Arc<Vec<u8>>> {
        match &self.0 {
            Bytes::Shared(bytes) => Some(Arc::clone(bytes)),
            Bytes::Own(_) => None,
        }
    }

    /// Empty, with its allocation if that is nobody else's.
    pub(super) fn reset(&mut self) {
        let mut bytes = match std::mem::replace(&mut self.0, Bytes::Own(Vec::new())) {
            Bytes::Own(bytes) => bytes,
            Bytes::Shared(bytes) => Arc::into_inner(bytes).unwrap_or_default(),
        };
        bytes.clear();
        self.0 = Bytes::Own(bytes);
    }
}

/// Consecutive messages of a chunk as they lie there, each with its tail.
#[derive(Clone, Debug)]
pub struct Piece {
    text: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Piece {
    pub fn of(text: Arc<Vec<u8>>, range: Range<usize>) -> Piece {
        Piece { text, range }
    }

    /// Leaves out so many bytes at its end.
    pub fn shorten(&mut self, bytes: usize) {
        self.range.end = self.range.end.saturating_sub(bytes).max(self.range.start);
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        self.text.get(self.range.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_stays_what_it_was() {
        let mut text = Text::from(b"hello".to_vec());
        assert!(text.shared().is_none());
        text.share();
        let shared = text.shared().expect("shared");
        text.push(b'!');
        assert_eq!((shared.as_slice(), text.as_slice()), (&b"hello"[..], &b"hello!"[..]));
        let room = text.capacity();
        text.share();
        drop(text.shared());
        text.reset();
        assert_eq!((text.len(), text.capacity()), (0, room), "nobody else has it");
        text.extend_from_slice(b"more");
        text.share();
        let shared = text.shared().expect("shared");
        text.reset();
        assert_eq!((shared.as_slice(), text.capacity()), (&b"more"[..], 0));
    }
}
