//! `encoding()`: a stream in another character set, read as UTF-8.

use conf_schema::{Decoder, Encoding};
use engine::reader::{Decode, Input};
use record::{Batch, Record};
use std::borrow::Cow;
use std::io;
use wire::Framing;

pub struct EncodedInput {
    inner: Box<dyn Input>,
    stage: Stage,
    raw: Vec<u8>,
    /// The last read brought all it was asked for: there may be more.
    full: bool,
}

enum Stage {
    Decoding(Decoder),
    /// `transport(auto)`: the beginning, which will say whether there are counts.
    Open(Encoding, Vec<u8>),
    /// Messages with their lengths before them pass as they are: lengths count the bytes of this encoding, so
    /// [`decode_frames`] comes after they were found.
    Counted,
}

impl EncodedInput {
    pub fn new(inner: Box<dyn Input>, encoding: Encoding, framing: Framing) -> EncodedInput {
        let stage = match framing {
            Framing::OctetCounting => Stage::Counted,
            Framing::Auto => Stage::Open(encoding, Vec::new()),
            _ => Stage::Decoding(encoding.decoder()),
        };
        EncodedInput { inner, stage, raw: Vec::new(), full: false }
    }

    /// What was read, on to who asked for it.
    fn pass(&mut self, into: &mut Vec<u8>) {
        match &mut self.stage {
            Stage::Decoding(decoder) => decoder.decode(&self.raw, into),
            Stage::Counted => into.extend_from_slice(&self.raw),
            Stage::Open(encoding, begun) => {
                begun.extend_from_slice(&self.raw);
                let Some(framing) = wire::framing::detect(begun) else { return };
                self.raw = std::mem::take(begun);
                self.stage = match framing {
                    Framing::OctetCounting => Stage::Counted,
                    _ => Stage::Decoding(encoding.decoder()),
                };
                self.pass(into);
            }
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
            // What has not said yet whether there are counts is text.
            if let Stage::Open(encoding, begun) = &mut self.stage {
                let text = encoding.decode(begun).into_owned();
                begun.clear();
                into.extend_from_slice(text.as_bytes());
                return Ok(text.len());
            }
            return Ok(0);
        }
        self.full = read >= max / GROWTH;
        self.pass(into);
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

/// What is done to messages that were found by their lengths, where there are such.
pub fn of_frames(encoding: Encoding, framing: Framing, size_max: usize) -> Option<Decode> {
    match framing {
        Framing::OctetCounting | Framing::Auto => {
            Some(Box::new(move |batch| decode_frames(encoding, size_max, batch)))
        }
        _ => None,
    }
}

/// Messages that were found by their lengths, which count the bytes of this encoding. Those of `size_max`
/// bytes may have been cut, within a character too.
pub fn decode_frames(encoding: Encoding, size_max: usize, batch: &mut Batch) {
    for at in 0..batch.records.len() {
        let Some(span) = batch.records.get(at).map(|record| record.frame) else { continue };
        let frame = span.of(&batch.text);
        let end = if frame.len() < size_max { frame.len() } else { encoding.whole(frame) };
        let text = encoding.decode(frame.get(..end).unwrap_or(frame));
        // What is UTF-8 already, and whole, stays where it is.
        if end < frame.len() || matches!(text, Cow::Owned(_)) {
            let text = text.into_owned();
            let span = batch.append(text.as_bytes());
            if let Some(record) = batch.records.get_mut(at) {
                *record = Record::new(span);
            }
        }
    }
}

/// One datagram, whole.
pub fn decode_datagram(encoding: Encoding, raw: &[u8], into: &mut Vec<u8>) {
    into.extend_from_slice(encoding.decode(raw).as_bytes());
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
        let mut input = EncodedInput::new(
            Box::new(Bytes(vec![b.to_vec(), a.to_vec()])),
            Encoding::UTF_16LE,
            Framing::Lines,
        );
        let mut text = Vec::new();
        while input.read(&mut text, 1000).expect("read") > 0 {
            assert!(!input.always_ready());
        }
        assert_eq!(String::from_utf8(text).expect("utf-8"), "é\n€");
    }

    #[test]
    fn a_full_read_is_not_the_last_one() {
        let pieces = vec![vec![b'b'; 5], vec![b'a'; 10]];
        let mut input = EncodedInput::new(Box::new(Bytes(pieces)), Encoding::LATIN_1, Framing::Lines);
        let mut text = Vec::new();
        input.read(&mut text, 10 * GROWTH).expect("read");
        assert!(input.always_ready());
        input.read(&mut text, 10 * GROWTH).expect("read");
        assert!(!input.always_ready());
    }

    /// All that comes of these pieces.
    fn read(framing: Framing, pieces: &[&[u8]]) -> String {
        let pieces = pieces.iter().rev().map(|piece| piece.to_vec()).collect();
        let mut input = EncodedInput::new(Box::new(Bytes(pieces)), Encoding::LATIN_1, framing);
        let mut text = Vec::new();
        while input.read(&mut text, 1000).expect("read") > 0 {}
        text.iter().map(|byte| char::from(*byte)).collect()
    }

    #[test]
    fn counted_messages_are_decoded_once_they_were_found() {
        let (counted, text) = ("2 a\u{e9}", "a\u{c3}\u{a9}");
        assert_eq!(read(Framing::OctetCounting, &[b"2 a\xe9"]), counted);
        assert_eq!(read(Framing::Auto, &[b"2", b" a", b"\xe9"]), counted);
        assert_eq!(read(Framing::Auto, &[b"a\xe9"]), text);
        assert_eq!(read(Framing::Auto, &[b"1", b"2"]), "12");
        let mut batch = Batch::default();
        let frame = batch.append(b"a\xe9");
        batch.records.push(Record::new(frame));
        decode_frames(Encoding::LATIN_1, 100, &mut batch);
        assert_eq!(batch.records.first().map(|record| batch.bytes(record.frame)), Some("a\u{e9}".as_bytes()));
    }

    #[test]
    fn a_counted_message_that_was_cut_ends_with_a_character() {
        for (encoding, expected) in [("Shift_JIS", "\u{30c6}"), ("UTF-8", "a")] {
            let encoding = Encoding::named(encoding).expect("known");
            let mut batch = Batch::default();
            let cut: &[u8] = if expected == "a" { b"a\xe2\x82" } else { b"\x83e\x83" };
            let frame = batch.append(cut);
            batch.records.push(Record::new(frame));
            decode_frames(encoding, 3, &mut batch);
            assert_eq!(batch.bytes(batch.records[0].frame), expected.as_bytes());
        }
    }
}
