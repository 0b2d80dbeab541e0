//! Output into room that was made before: a short piece is copied in one size, and what follows writes over
//! the rest of it. That costs two stores, no call and no look at its length.

/// Pieces up to this size are copied with this size.
pub(crate) const SHORT_BYTES: usize = 32;
/// Room that is made at once, at least. Zeros are written there.
const ROOM_BYTES: usize = 512;

/// Appends to a vector. [`Writer::finish`] has to be the last call: until then the vector ends with zeros.
pub(crate) struct Writer<'a> {
    out: &'a mut Vec<u8>,
    /// Where the next byte goes, `at <= out.len()`.
    at: usize,
}

impl<'a> Writer<'a> {
    /// `expected` is how much is going to be written, roughly.
    #[inline]
    pub fn new(out: &'a mut Vec<u8>, expected: usize) -> Writer<'a> {
        let at = out.len();
        out.resize(at + expected, 0);
        Writer { out, at }
    }

    /// The length of the output, with what was there before.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.at
    }

    /// Ends the output at this length, of those it has had.
    #[inline]
    pub fn finish(self, len: usize) {
        self.out.truncate(len);
    }

    /// Where the next bytes go, as far as there is room already; [`Writer::written`] says how many were put
    /// there.
    #[inline(always)]
    pub fn room(&mut self) -> &mut [u8] {
        self.out.get_mut(self.at..).unwrap_or_default()
    }

    /// The same, with room for so many bytes at least.
    #[inline(always)]
    pub fn room_for(&mut self, bytes: usize) -> &mut [u8] {
        if self.out.len() - self.at < bytes {
            self.make_room(bytes);
        }
        self.room()
    }

    #[inline(always)]
    pub fn written(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.out.len());
    }

    /// The first `len` bytes of the chunk, 32 at most.
    #[inline(always)]
    pub fn chunk(&mut self, chunk: &[u8; SHORT_BYTES], len: usize) {
        match self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut::<SHORT_BYTES>) {
            Some(to) => *to = *chunk,
            None => self.chunk_at_end(chunk),
        }
        self.at += len.min(SHORT_BYTES);
    }

    #[cold]
    #[inline(never)]
    fn chunk_at_end(&mut self, chunk: &[u8; SHORT_BYTES]) {
        self.make_room(SHORT_BYTES);
        if let Some(to) = self.out.get_mut(self.at..).and_then(<[u8]>::first_chunk_mut) {
            *to = *chunk;
        }
    }

    #[inline(always)]
    pub fn byte(&mut self, byte: u8) {
        self.chunk(&[byte; SHORT_BYTES], 1);
    }

    #[inline(always)]
    pub fn two(&mut self, first: u8, second: u8) {
        let mut chunk = [second; SHORT_BYTES];
        chunk[0] = first;
        self.chunk(&chunk, 2);
    }

    /// A part of a text, which lets short parts be copied with what follows them. Nothing where it is not
    /// inside.
    #[inline(always)]
    pub fn part(&mut self, text: &[u8], start: usize, end: usize) {
        match text.get(start..).and_then(|rest| rest.first_chunk::<SHORT_BYTES>()) {
            Some(chunk) if end.wrapping_sub(start) <= SHORT_BYTES => self.chunk(chunk, end - start),
            _ => self.bytes(text.get(start..end).unwrap_or_default()),
        }
    }

    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        match bytes.len() {
            0..=SHORT_BYTES => self.chunk(&padded(bytes), bytes.len()),
            _ => self.long(bytes),
        }
    }

    #[inline(never)]
    fn long(&mut self, bytes: &[u8]) {
        if self.out.len() - self.at < bytes.len() {
            self.make_room(bytes.len());
        }
        if let Some(to) = self.out.get_mut(self.at..self.at + bytes.len()) {
            to.copy_from_slice(bytes);
            self.at += bytes.len();
        }
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) {
        self.out.resize(self.at + bytes + ROOM_BYTES, 0);
    }

    /// For what writes to a vector.
    pub fn with<R>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        self.out.truncate(self.at);
        let result = write(self.out);
        self.at = self.out.len();
        result
    }
}

/// The first bytes of a text, 32 at most, with zeros behind them.
#[inline]
pub(crate) fn padded(bytes: &[u8]) -> [u8; SHORT_BYTES] {
    let mut chunk = [0; SHORT_BYTES];
    match (bytes.len(), bytes) {
        // Two pieces that overlap.
        (16..SHORT_BYTES, _) => ends::<16>(bytes, &mut chunk),
        (8..16, _) => ends::<8>(bytes, &mut chunk),
        (4..8, _) => ends::<4>(bytes, &mut chunk),
        (2..4, _) => ends::<2>(bytes, &mut chunk),
        (_, []) => {}
        (_, [one]) => chunk[0] = *one,
        _ => {
            if let Some(first) = bytes.first_chunk() {
                chunk = *first;
            }
        }
    }
    chunk
}

#[inline(always)]
fn ends<const N: usize>(bytes: &[u8], chunk: &mut [u8; SHORT_BYTES]) {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return };
    if let Some(to) = chunk.get_mut(bytes.len() - N..).and_then(<[u8]>::first_chunk_mut) {
        *to = *last;
    }
    if let Some(to) = chunk.first_chunk_mut() {
        *to = *first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_texts_are_padded_with_zeros() {
        let text: Vec<u8> = (1..60).collect();
        for len in 0..text.len() {
            let mut expected = text[..len.min(SHORT_BYTES)].to_vec();
            expected.resize(SHORT_BYTES, 0);
            assert_eq!(padded(&text[..len]).to_vec(), expected, "{len}");
        }
    }

    proptest! {
        #[test]
        fn writes_what_a_vector_gets(
            parts in proptest::collection::vec((0usize..4, 0usize..700, 0usize..70), 0..60),
            expected in 0usize..100,
        ) {
            let text: Vec<u8> = (0..700).map(|n| (n % 251) as u8).collect();
            let (mut plain, mut out) = (b"before".to_vec(), b"before".to_vec());
            let mut writer = Writer::new(&mut out, expected);
            for (kind, start, len) in parts {
                let part = text.get(start..start + len).unwrap_or_default();
                match kind {
                    0 => writer.part(&text, start, start + len),
                    1 => writer.bytes(part),
                    2 => writer.with(|out| out.extend_from_slice(part)),
                    _ => part.iter().for_each(|byte| writer.byte(*byte)),
                }
                plain.extend_from_slice(part);
                prop_assert_eq!(writer.len(), plain.len());
            }
            let len = writer.len();
            writer.finish(len);
            prop_assert_eq!(out, plain);
        }
    }
}
