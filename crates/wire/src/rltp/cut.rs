//! A message of a batch, cut as the framer cuts a line: without the line end its template gave it, and no
//! longer than `log-msg-size()`.

use crate::framing::{FramerOptions, trimmed};
use record::Span;

/// Hands out what `message` comes to; returns how many times it was cut.
#[inline]
pub fn cut(options: &FramerOptions, text: &[u8], message: Span, mut sink: impl FnMut(Span)) -> u64 {
    let mut at = message.start as usize;
    let end = trimmed(text, at, message.end().min(text.len()));
    let limit = options.log_msg_size.max(1);
    let mut cuts = 0;
    while end.saturating_sub(at) > limit {
        let piece = options.piece(text, at);
        cuts += 1;
        sink(Span::new(at, piece));
        if options.trim_large_messages {
            return cuts;
        }
        at += piece;
    }
    if end > at || options.empty_lines {
        sink(Span::between(at, end));
    }
    cuts
}
