//! Messages cut out of a file's text: lines, records of one size, or several lines together.

use super::multi_line::{Mode, MultiLine};
use record::Span;
use wire::{Framer, FramerOptions, Framing};

pub enum Cutter {
    Framed(Framer),
    Joined(Box<MultiLine>),
}

impl Cutter {
    pub fn new(framing: FramerOptions, mode: Option<&Mode>) -> Cutter {
        match mode {
            None => Cutter::Framed(Framer::new(framing)),
            Some(mode) => Cutter::Joined(Box::new(MultiLine::new(mode.clone(), framing))),
        }
    }

    /// Hands out complete messages; returns where the tail begins, with which the next text has to begin.
    #[inline]
    pub fn scan(&mut self, text: &[u8], mut sink: impl FnMut(Span)) -> usize {
        match self {
            // Lines and records cannot be wrong.
            Cutter::Framed(framer) => framer.scan(text, 0, sink).unwrap_or(text.len()),
            Cutter::Joined(joiner) => joiner.scan(text, &mut sink),
        }
    }

    /// The tail is all there will be.
    pub fn finish(&mut self, text: &[u8], mut sink: impl FnMut(Span)) {
        match self {
            // Half a record is cut off from the file: its bytes are a message, as a line without its end is.
            Cutter::Framed(framer) => {
                if framer.finish(text, 0, &mut sink).is_err() {
                    sink(Span::new(0, text.len()));
                }
            }
            Cutter::Joined(joiner) => joiner.finish(text, &mut sink),
        }
    }

    /// What comes up to the beginning of the next message is part of none.
    pub fn skip_to_next(&mut self) {
        if let Cutter::Joined(joiner) = self {
            joiner.skip_to_next();
        }
    }

    /// Whether what was handed out ends where a message does, so that another one can go on with the tail;
    /// then whether what comes is part of none up to the next message.
    pub fn is_at_border(&self) -> Option<bool> {
        match self {
            Cutter::Framed(framer) => (!framer.is_skipping()).then_some(false),
            Cutter::Joined(joiner) => joiner.is_at_border(),
        }
    }

    pub fn take_truncated(&mut self) -> u64 {
        match self {
            Cutter::Framed(framer) => framer.take_truncated(),
            Cutter::Joined(joiner) => joiner.take_truncated(),
        }
    }
}

/// The framing that text has once it was decoded: its records were told apart before.
pub fn decoded(framing: FramerOptions) -> FramerOptions {
    match framing.framing {
        Framing::Records(_) => FramerOptions { framing: Framing::Lines, ..framing },
        _ => framing,
    }
}
