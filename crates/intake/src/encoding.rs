//! `encoding()`: a stream in another character set, read as UTF-8.

use encoding_rs::{CoderResult, Decoder, Encoding};
use engine::reader::Input;
use std::io;

pub struct EncodedInput {
    inner: Box<dyn Input>,
    decoder: Decoder,
    raw: Vec<u8>,
    /// The last read brought all it was asked for: there may be more.
    full: bool,
}

impl EncodedInput {
    pub fn new(inner: Box<dyn Input>, encoding: &'static Encoding) -> EncodedInput {
        EncodedInput {
            inner,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: Vec::new(),
            full: false,
        }
    }
}

/// Bytes of UTF-8 one byte of any known encoding can become.
const GROWTH: usize = 3;

impl Input for EncodedInput {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        self.raw.clear();
        self.full = false;
        let read = self.inner.read(&mut self.raw, max / GROWTH)?;
        if read == 0 {
            return Ok(0);
        }
        self.full = read >= max / GROWTH;
        decode(&mut self.decoder, &self.raw, into);
        // An incomplete character may have produced nothing yet: that is not the end of the stream.
        Ok(read)
    }

    fn always_ready(&self) -> bool {
        // This input reads less than it is asked for; the reader must not take that for the end of what is
        // there.
        self.full || self.inner.always_ready()
    }

    fn deregister(&mut self, registry: &mio::Registry) {
        self.inner.deregister(registry);
    }

    fn farewell(&mut self) {
        self.inner.farewell();
    }

    fn at_end(&mut self) -> bool {
        self.inner.at_end()
    }
}

fn decode(decoder: &mut Decoder, mut raw: &[u8], into: &mut Vec<u8>) {
    let mut piece = [0u8; 4096];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf8(raw, &mut piece, false);
        into.extend_from_slice(piece.get(..written).unwrap_or_default());
        raw = raw.get(read..).unwrap_or_default();
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// One datagram, whole.
pub fn decode_datagram(encoding: &'static Encoding, raw: &[u8], into: &mut Vec<u8>) {
    let (text, _) = encoding.decode_without_bom_handling(raw);
    into.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(Vec<Vec<u8>>);
    impl Input for Bytes {
        fn read(&mut self, into: &mut Vec<u8>, _max: usize) -> io::Result<usize> {
            let piece = self.0.pop().unwrap_or_default();
            into.extend_from_slice(&piece);
            Ok(piece.len())
        }
        fn deregister(&mut self, _registry: &mio::Registry) {}
    }

    #[test]
    fn characters_split_between_reads() {
        let utf16: Vec<u8> = "é\n€".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (a, b) = utf16.split_at(3);
        let mut input =
            EncodedInput::new(Box::new(Bytes(vec![b.to_vec(), a.to_vec()])), encoding_rs::UTF_16LE);
        let mut text = Vec::new();
        while input.read(&mut text, 1000).expect("read") > 0 {
            assert!(!input.always_ready());
        }
        assert_eq!(String::from_utf8(text).expect("utf-8"), "é\n€");
    }

    #[test]
    fn a_full_read_is_not_the_last_one() {
        let pieces = vec![vec![b'b'; 5], vec![b'a'; 10]];
        let mut input = EncodedInput::new(Box::new(Bytes(pieces)), encoding_rs::WINDOWS_1252);
        let mut text = Vec::new();
        input.read(&mut text, 10 * GROWTH).expect("read");
        assert!(input.always_ready());
        input.read(&mut text, 10 * GROWTH).expect("read");
        assert!(!input.always_ready());
    }
}
