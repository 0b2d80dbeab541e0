//! Where messages came from, written in front of them: after a crash it is known of which senders what is
//! here, so that what these send again, because nobody could tell them, is not taken twice.

use crate::files::SegmentFile;
use crate::frame;
use crate::shared::Segment;
use crate::snapshot::NAME_MAX;
use crate::walk::{Found, Walk};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The control frame's first byte.
const LOTS: u8 = 5;
/// So much is looked at after a start, at the end of the log, and stays until then, whether it is delivered
/// or not. Senders know of all but what was under way, which is a group or two.
pub const LOOKED_AT: u64 = if cfg!(test) { 256 << 10 } else { 16 << 20 };
/// Messages of one stream may be under way in several batches at once, which come in any order: what is known
/// is kept for so many more.
const OUT_OF_ORDER: u64 = 100_000;

/// Messages of a sender that numbers them, or whose messages can be counted: some in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The sender and its numbering, at most 1024 bytes.
    pub stream: Arc<[u8]>,
    /// The number of the first of them.
    pub first: u64,
    /// How many they are, wherever they go.
    pub span: u32,
}

/// What an origin has brought for one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lot {
    /// `None`: of somebody who does not count.
    pub origin: Option<Origin>,
    pub messages: u32,
}

/// The payload of the control frame in front of messages that are these, in this order. Those behind the last
/// lot are nobody's.
pub fn encode(lots: &[Lot]) -> Vec<u8> {
    let mut out = vec![LOTS];
    for lot in lots {
        let (stream, first, span) = match &lot.origin {
            Some(origin) => (&*origin.stream, origin.first, origin.span),
            None => (&[][..], 0, 0),
        };
        out.extend_from_slice(&(stream.len() as u32).to_le_bytes());
        out.extend_from_slice(stream);
        out.extend_from_slice(&first.to_le_bytes());
        out.extend_from_slice(&span.to_le_bytes());
        out.extend_from_slice(&lot.messages.to_le_bytes());
    }
    out
}

fn decode(payload: &[u8]) -> Option<Vec<Lot>> {
    let mut rest = payload.strip_prefix(&[LOTS])?;
    let mut lots = Vec::new();
    while !rest.is_empty() {
        let (length, tail) = rest.split_first_chunk()?;
        let length = u32::from_le_bytes(*length) as usize;
        let (stream, tail) = tail.split_at_checked(length).filter(|_| length <= NAME_MAX)?;
        let (first, tail) = tail.split_first_chunk()?;
        let (span, tail) = tail.split_first_chunk()?;
        let (messages, tail) = tail.split_first_chunk()?;
        let span = u32::from_le_bytes(*span);
        let origin = Origin { stream: stream.into(), first: u64::from_le_bytes(*first), span };
        let origin = (!stream.is_empty()).then_some(origin);
        lots.push(Lot { origin, messages: u32::from_le_bytes(*messages) });
        rest = tail;
    }
    Some(lots)
}

/// What a queue was found to have.
#[derive(Debug, Default)]
pub struct Known(BTreeMap<Arc<[u8]>, Vec<Stretch>>);

/// Numbers of a stream in a row.
#[derive(Debug, PartialEq, Eq)]
struct Stretch {
    numbers: Range<u64>,
    /// Of the messages it had for the queue, the first so many are here.
    found: u32,
    /// Those are all.
    whole: bool,
    /// Up to which number it was asked for, in order.
    next: u64,
}

impl Known {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, lot: &Lot, found: u32) {
        let Some(Origin { stream, first, span }) = &lot.origin else { return };
        let numbers = *first..first.saturating_add(u64::from(*span));
        let whole = found == lot.messages;
        let stretches = self.0.entry(Arc::clone(stream)).or_default();
        match stretches.last_mut() {
            Some(last) if last.whole && whole && last.numbers.end == *first => {
                last.numbers.end = numbers.end;
                last.found = last.found.saturating_add(found);
            }
            _ => stretches.push(Stretch { next: *first, numbers, found, whole }),
        }
    }

    /// Of the messages that come again for the queue, how many of the first are here. When that cannot be
    /// told, 0: rather twice than never.
    pub fn repeated(&mut self, again: &Lot) -> u32 {
        let Some(origin) = &again.origin else { return 0 };
        let Some(stretches) = self.0.get_mut(&origin.stream) else { return 0 };
        let end = origin.first.saturating_add(u64::from(origin.span));
        stretches.retain(|s| s.numbers.end.saturating_add(OUT_OF_ORDER) > origin.first);
        let touched = stretches.iter_mut().find(|s| s.numbers.start < end && origin.first < s.numbers.end);
        let repeated = match touched {
            Some(all) if all.whole && all.numbers.start <= origin.first && end <= all.numbers.end => {
                again.messages
            }
            Some(some) if !some.whole && some.next == origin.first => {
                let repeated = again.messages.min(some.found);
                some.found -= repeated;
                some.next = end;
                repeated
            }
            Some(part) if !part.whole => {
                part.found = 0;
                0
            }
            _ => 0,
        };
        if stretches.is_empty() {
            self.0.remove(&origin.stream);
        }
        repeated
    }
}

/// What the end of the log says, by queue. A message counts when everything from the frame that tells its
/// origin up to it is intact.
pub fn recover(segments: &BTreeMap<u64, Segment>, key: u64) -> BTreeMap<u32, Known> {
    let mut left = LOOKED_AT;
    let mut parts: Vec<(&dyn SegmentFile, Range<u64>, Range<u64>)> = Vec::new();
    for (first, segment) in segments.iter().rev() {
        let data = segment.data_start.max(segment.data_end.saturating_sub(left))..segment.data_end;
        left = left.saturating_sub(data.end - data.start);
        // Where delivered frames were left out, their number says nothing.
        if !segment.sparse {
            parts.push((&*segment.file, data, *first..segment.next));
        }
        if left == 0 {
            break;
        }
    }
    let mut finding = Finding::default();
    for (file, data, seqs) in parts.into_iter().rev() {
        let mut walk = Walk::new(file, data, key, seqs);
        while let Some(found) = walk.next() {
            finding.look(&found);
        }
    }
    finding.end();
    finding.known
}

#[derive(Default)]
struct Finding {
    known: BTreeMap<u32, Known>,
    /// The lots whose messages come now, the one that is at hand, and how many of it have come, in all and by
    /// queue.
    lots: Vec<Lot>,
    at: usize,
    came: u32,
    counts: BTreeMap<u32, u32>,
    /// The number that has to be next.
    next: u64,
}

impl Finding {
    fn look(&mut self, found: &Found<'_>) {
        if found.queues == frame::CONTROL {
            self.end();
            self.lots = decode(found.payload).unwrap_or_default();
            self.next = found.seq + 1;
            return;
        }
        while self.lots.get(self.at).is_some_and(|lot| self.came == lot.messages) {
            self.take();
        }
        if self.lots.get(self.at).is_none() {
            return;
        }
        if found.seq != self.next {
            self.end();
            return;
        }
        self.next += 1;
        self.came += 1;
        for id in frame::ids(found.queues) {
            *self.counts.entry(id).or_default() += 1;
        }
    }

    /// The lot at hand is over.
    fn take(&mut self) {
        if let Some(lot) = self.lots.get(self.at) {
            for (id, found) in std::mem::take(&mut self.counts) {
                self.known.entry(id).or_default().add(lot, found);
            }
        }
        self.at += 1;
        self.came = 0;
    }

    fn end(&mut self) {
        self.take();
        self.lots.clear();
        self.at = 0;
    }
}

#[cfg(test)]
mod tests;
