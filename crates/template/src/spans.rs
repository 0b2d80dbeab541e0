//! Templates that print one piece of a message as it came, `$HOST` or `$MSG`: columns and keys mostly are.
//! Their texts are copied one after the other, without what joins pieces and counts what is printed.

use crate::budget::FAIR_BYTES;
use crate::op::{Op, Step};
use crate::render::{BSD_STAMP_BYTES, count};
use crate::sink::push_span;
use crate::{Msg, RenderContext, Template};
use record::{Batch, Record, Span};

impl Template {
    /// Prints a selection as [`Template::render_selection`] does. `false`, and nothing is done, where not
    /// each text can be such a piece.
    #[inline]
    pub(crate) fn render_spans(
        &self,
        (batch, selection): (&Batch, &[u32]),
        cx: &mut RenderContext,
        out: &mut Vec<u8>,
        ends: &mut Vec<u32>,
    ) -> bool {
        let [Step { op, then: None }] = &*self.steps else { return false };
        // No piece is larger than what a message may print in any case.
        if self.escape || !is_span(op) || batch.text.len() > FAIR_BYTES {
            return false;
        }
        // What was given up before is not one of these.
        cx.budget.begin(out.len());
        let start = out.len();
        cx.budget.end(out, start, &self.text);
        for index in selection {
            if let Some(record) = batch.records.get(*index as usize) {
                match span(op, record) {
                    Some(span) if span.is_empty() => {}
                    // A span that does not lie in the text prints nothing.
                    Some(span) => _ = push_span(out, &batch.text, span.start as usize, span.end()),
                    None => self.render(Msg { batch, record }, cx, out),
                }
                count(record, cx);
            }
            ends.push(out.len() as u32);
        }
        true
    }
}

/// Whether it mostly prints a piece of the message.
fn is_span(op: &Op) -> bool {
    matches!(
        op,
        Op::Host
            | Op::Program
            | Op::Pid
            | Op::Msgid
            | Op::LegacyMsghdr
            | Op::Message
            | Op::Msghdr
            | Op::StampText(_)
    )
}

/// What MESSAGE prints: nothing where it is bytes or protobuf.
#[inline]
pub(crate) fn message(record: &Record) -> Span {
    if record.types.has_binary_message() { Span::EMPTY } else { record.message }
}

/// The piece; `None` where it has to be put together.
#[inline]
fn span(op: &Op, record: &Record) -> Option<Span> {
    match op {
        Op::Host => Some(record.host),
        Op::Program => Some(record.program),
        Op::Pid => Some(record.pid),
        Op::Msgid => Some(record.msgid),
        Op::LegacyMsghdr => Some(record.msghdr),
        Op::Message => Some(message(record)),
        Op::Msghdr => Some(record.msghdr).filter(|span| !span.is_empty()),
        Op::StampText(date) if date.zone.is_none() && record.stamp_text != Record::NO_TEXT => {
            Some(Span { start: record.stamp_text, len: BSD_STAMP_BYTES })
        }
        _ => None,
    }
}

/// Bytes of a span before its first blank, eight at a time where the text goes on long enough.
#[inline(always)]
pub(crate) fn before_blank(text: &[u8], span: Span) -> u32 {
    let mut done = 0;
    while done < span.len {
        let rest = text.get(span.start as usize + done as usize..).unwrap_or_default();
        let Some(eight) = rest.first_chunk::<8>() else {
            let rest = rest.get(..(span.len - done) as usize).unwrap_or_default();
            return done + rest.iter().take_while(|b| **b != b' ').count() as u32;
        };
        let differs = u64::from_le_bytes(*eight) ^ 0x2020_2020_2020_2020;
        // The lowest byte that is zero has its top bit set here; bits above it may be wrong.
        let blanks = differs.wrapping_sub(0x0101_0101_0101_0101) & !differs & 0x8080_8080_8080_8080;
        if blanks != 0 {
            return (done + blanks.trailing_zeros() / 8).min(span.len);
        }
        done = done.saturating_add(8);
    }
    span.len
}
