//! `multi-line-mode()` of streams: whole messages, handed on with their lengths before them, as octet
//! counting has it.

use crate::cut::Cutter;
use crate::multi_line::Mode;
use engine::reader::{Input, Peeled};
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

    /// What comes up to the beginning of the next message is part of none.
    pub fn skip_to_next(&mut self) {
        self.cutter.skip_to_next();
    }
}

/// Added to how a connection is read that is handed over between two messages.
pub const BETWEEN: &str = " between";

/// In the place of an input that was taken out.
struct Gone;

impl Input for Gone {
    fn read(&mut self, _: &mut Vec<u8>, _: usize) -> io::Result<usize> {
        Ok(0)
    }

    fn deregister(&mut self, _: &mio::Registry) {}
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

    fn shut(&mut self) {
        self.inner.shut();
    }

    fn farewell(&mut self) {
        self.inner.farewell();
    }

    fn always_ready(&self) -> bool {
        // This input reads less than it is asked for; the reader must not take that for the end of what is
        // there.
        self.full || self.inner.always_ready()
    }

    fn deregister(&mut self, registry: &mio::Registry) {
        self.inner.deregister(registry);
    }

    fn at_end(&mut self) -> bool {
        self.inner.at_end()
    }

    fn peel(&mut self) -> Peeled {
        let Some(between) = self.cutter.is_at_border() else { return Peeled::Busy };
        let inner = std::mem::replace(&mut self.inner, Box::new(Gone));
        Peeled::Of(inner, std::mem::take(&mut self.text), if between { BETWEEN } else { "" })
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
            is_text: false,
        }
    }

    fn joined(pieces: Vec<Vec<u8>>) -> String {
        let (mut input, framing) = JoinedInput::new(Box::new(Pieces(pieces)), &Mode::Indented, framing());
        assert_eq!(framing.framing, Framing::OctetCounting);
        let mut text = Vec::new();
        while input.read(&mut text, 1000).expect("read") > 0 {}
        String::from_utf8(text).expect("text")
    }

    /// A second input goes on where a first one was stopped.
    fn handed_over(mode: &Mode, text: &[u8], at: usize) -> String {
        let (before, after) = text.split_at(at);
        let mut out = Vec::new();
        let (mut first, _) = JoinedInput::new(Box::new(Pieces(vec![before.to_vec()])), mode, framing());
        if at > 0 {
            first.read(&mut out, 1000).expect("read");
        }
        let Peeled::Of(_, received, state) = first.peel() else { panic!("it can be handed over") };
        let pieces = [received, after.to_vec()].into_iter().filter(|piece| !piece.is_empty());
        let (mut second, _) = JoinedInput::new(Box::new(Pieces(pieces.collect())), mode, framing());
        if state == BETWEEN {
            second.skip_to_next();
        }
        while second.read(&mut out, 1000).expect("read") > 0 {}
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn handed_over_anywhere_it_is_the_same() {
        let pattern = |text| {
            Some(std::sync::Arc::new(pattern::Pattern::compile(text, &Default::default()).expect("good")))
        };
        let modes = [
            (Mode::Indented, &b"one\n two\nthree\n\tfour\n"[..]),
            (Mode::EmptyLineSeparated, b"one\ntwo\n\nthree\n\n"),
            (
                Mode::PrefixGarbage { prefix: pattern("^>"), garbage: pattern("^-") },
                b">one\ntwo\n-no\nno\n>three\n",
            ),
            (
                Mode::PrefixSuffix { prefix: pattern("^>"), suffix: pattern("^<").expect("one") },
                b">one\ntwo\n<\nno\n>three\n<\n",
            ),
        ];
        for (mode, text) in modes {
            let whole = handed_over(&mode, text, 0);
            for at in 0..text.len() {
                assert_eq!(
                    handed_over(&mode, text, at),
                    whole,
                    "at {at} of {:?}",
                    text.escape_ascii().to_string()
                );
            }
        }
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
