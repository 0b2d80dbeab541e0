//! `multi-line-mode()` of streams: whole messages, handed on with their lengths before them, as octet counting has it.

use super::file::{Cutter, Mode};
use engine::reader::Input;
use std::io::{self, Write};
use wire::{FramerOptions, Framing};

pub struct JoinedInput {
    inner: Box<dyn Input>,
    cutter: Cutter,
    /// What was read of a message that is not complete.
    text: Vec<u8>,
    /// The last read brought all it was asked for: there may be more.
    full: bool,
    ended: bool,
}

impl JoinedInput {
    /// The input, and the framing that its messages have then.
    pub fn new(inner: Box<dyn Input>, mode: &Mode, framing: FramerOptions) -> (JoinedInput, FramerOptions) {
        let cutter = Cutter::new(framing, Some(mode));
        let input = JoinedInput { inner, cutter, text: Vec::new(), full: false, ended: false };
        (input, FramerOptions { framing: Framing::OctetCounting, ..framing })
    }
}

/// A message of one byte becomes three.
const GROWTH: usize = 3;

impl Input for JoinedInput {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        self.full = false;
        let wanted = (max / GROWTH).max(1);
        let read = self.inner.read(&mut self.text, wanted)?;
        let text = &self.text;
        let frame = |span: record::Span| {
            let message = span.of(text);
            if !message.is_empty() {
                // Writing to memory cannot fail.
                let _ = write!(into, "{} ", message.len());
                into.extend_from_slice(message);
            }
        };
        if read == 0 {
            // What was begun is a message; the end itself is seen with the next read.
            if std::mem::replace(&mut self.ended, true) || text.is_empty() {
                return Ok(0);
            }
            let rest = text.len();
            self.cutter.finish(text, frame);
            self.text.clear();
            self.full = true;
            return Ok(rest);
        }
        self.full = read >= wanted;
        let consumed = self.cutter.scan(text, frame);
        self.text.drain(..consumed);
        // A message that is not complete has brought nothing yet: that is not the end of the stream.
        Ok(read)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.inner.send(bytes)
    }

    fn unwatch(&mut self, registry: &mio::Registry) {
        self.inner.unwatch(registry);
    }

    fn farewell(&mut self) {
        self.inner.farewell();
    }

    fn always_ready(&self) -> bool {
        // This input reads less than it is asked for; the reader must not take that for the end of what is there.
        self.full || self.inner.always_ready()
    }

    fn deregister(&mut self, registry: &mio::Registry) {
        self.inner.deregister(registry);
    }

    fn at_end(&mut self) -> bool {
        self.inner.at_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Pieces(Vec<Vec<u8>>);

    impl Input for Pieces {
        fn read(&mut self, into: &mut Vec<u8>, _max: usize) -> io::Result<usize> {
            let piece = if self.0.is_empty() { Vec::new() } else { self.0.remove(0) };
            into.extend_from_slice(&piece);
            Ok(piece.len())
        }
        fn deregister(&mut self, _registry: &mio::Registry) {}
    }

    fn framing() -> FramerOptions {
        FramerOptions {
            framing: Framing::Lines,
            log_msg_size: 100,
            empty_lines: false,
            trim_large_messages: false,
        }
    }

    fn joined(pieces: Vec<Vec<u8>>) -> String {
        let (mut input, framing) = JoinedInput::new(Box::new(Pieces(pieces)), &Mode::Indented, framing());
        assert_eq!(framing.framing, Framing::OctetCounting);
        let mut text = Vec::new();
        while input.read(&mut text, 1000).expect("read") > 0 {}
        String::from_utf8(text).expect("text")
    }

    proptest! {
        /// However the bytes are split.
        #[test]
        fn messages_with_their_lengths(cuts in prop::collection::vec(1usize..6, 0..20)) {
            let mut rest = &b"one\n two\nthree\nfour\n\tfive\n six"[..];
            let mut pieces = Vec::new();
            for cut in cuts {
                let (piece, after) = rest.split_at(cut.min(rest.len()));
                rest = after;
                if !piece.is_empty() {
                    pieces.push(piece.to_vec());
                }
            }
            if !rest.is_empty() {
                pieces.push(rest.to_vec());
            }
            prop_assert_eq!(joined(pieces), "8 one\n two5 three15 four\n\tfive\n six");
        }
    }
}
