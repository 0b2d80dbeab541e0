//! Batches cut out of the chunks of a queue.

use crate::limits::Limits;
use engine::{Chunk, Piece, Receipt};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;

/// A batch, and where it comes from.
pub struct Cut<'a> {
    pub messages: Vec<&'a [u8]>,
    pub bytes: usize,
    pub key: &'a [u8],
    pub number: Option<u64>,
    /// Of each message, where that is asked for.
    pub numbers: Vec<Option<u64>>,
    /// Chunks it has messages of, and how many.
    pub shares: Vec<(usize, usize)>,
    /// Of messages that somebody follows, with their places in the batch.
    pub receipts: Vec<(usize, Receipt)>,
    /// Nothing more may be added to it.
    pub is_full: bool,
    /// When its first message came.
    pub since: Option<Instant>,
}

impl<'a> Cut<'a> {
    fn new() -> Cut<'a> {
        Cut {
            messages: Vec::new(),
            bytes: 0,
            key: &[],
            number: None,
            numbers: Vec::new(),
            shares: Vec::new(),
            receipts: Vec::new(),
            is_full: false,
            since: None,
        }
    }

    /// Whether the message was added; otherwise the batch is full.
    fn add(&mut self, message: &'a [u8], limits: &Limits, lines_max: usize) -> bool {
        let (key, message) = if limits.keyed { opened(message) } else { (&[][..], message) };
        let bytes = message.len() + limits.extra;
        let fits = self.messages.is_empty()
            || self.messages.len() < lines_max
                && self.bytes.saturating_add(bytes) <= limits.bytes_max()
                // Without keys there is nothing to compare, not even two texts of no bytes.
                && (!limits.keyed || key == self.key);
        if !fits {
            self.is_full = true;
            return false;
        }
        self.key = key;
        self.bytes += bytes;
        self.messages.push(message);
        true
    }

    /// All of it as it lies in the queue, when its messages were never sent and have this between them.
    pub fn pieces(&self, chunks: &VecDeque<Chunk>, between: &[u8]) -> Option<Vec<Piece>> {
        self.shares.iter().map(|(at, count)| chunks.get(*at)?.piece(*count, between)).collect()
    }

    /// Takes the receipts of messages of a chunk, the first of which stands at `at` in the batch.
    fn follow(&mut self, chunk: &Chunk, places: Range<usize>, at: usize) {
        let begin = places.start;
        let receipts = chunk.receipts(places);
        self.receipts.extend(receipts.map(|(place, receipt)| (at + place - begin, receipt.clone())));
    }

    /// Notes the numbers of the messages from `before` on, which are the first of a chunk that were not sent.
    /// Where others lie between them on disk, not every one has a number: the batch is made shorter, or
    /// longer when it would be empty.
    fn end_with_a_number(&mut self, chunk: &'a Chunk, before: usize, extra: usize) {
        let number = |place: usize| {
            chunk.number_after(chunk.sent() + place + 1).and_then(|after| after.checked_sub(1))
        };
        let unsent = chunk.messages() - chunk.sent();
        if unsent.checked_sub(1).and_then(number).is_some() {
            let mut share = self.messages.len() - before;
            while share > 0 && number(share - 1).is_none() {
                let last = self.messages.pop().map_or(0, <[u8]>::len);
                self.bytes = self.bytes.saturating_sub(last + extra);
                share -= 1;
            }
            if share == 0 && before == 0 {
                for (place, message) in chunk.unsent().enumerate() {
                    self.bytes += message.len() + extra;
                    self.messages.push(message);
                    if number(place).is_some() {
                        break;
                    }
                }
            }
        }
        self.numbers.extend((0..self.messages.len() - before).map(number));
    }
}

/// Where the next message stands that was not sent. `None`: there is none, or others came before those that
/// were.
pub fn first_unsent(chunks: &VecDeque<Chunk>, in_flight: usize) -> Option<usize> {
    let mut sent = 0;
    for (at, chunk) in chunks.iter().enumerate() {
        sent += chunk.sent();
        if chunk.sent() < chunk.messages() {
            return (sent == in_flight).then_some(at);
        }
    }
    None
}

/// Whether what waits unsent from there on is surely more than a batch holds, and how much it is, counted by
/// chunks.
pub fn fills(chunks: &VecDeque<Chunk>, from: usize, limits: &Limits) -> bool {
    let (mut messages, mut bytes) = (0, 0usize);
    for chunk in chunks.iter().skip(from) {
        messages += chunk.messages() - chunk.sent();
        bytes = bytes.saturating_add(chunk.unsent_bytes());
        if messages >= limits.lines_max()
            || bytes.saturating_add(messages * limits.extra) >= limits.bytes_max()
        {
            return true;
        }
    }
    false
}

/// The next batch of messages that were never sent.
pub fn fresh<'a>(chunks: &'a VecDeque<Chunk>, from: usize, limits: &Limits, allowed: usize) -> Cut<'a> {
    let mut cut = Cut::new();
    let lines_max = limits.lines_max().min(allowed).max(1);
    for (at, chunk) in chunks.iter().enumerate().skip(from) {
        let before = cut.messages.len();
        if before == 0 {
            cut.since = chunk.came();
            cut.number = chunk.number_after(chunk.sent() + 1).and_then(|after| after.checked_sub(1));
        }
        let whole = chunk.unsent().all(|message| cut.add(message, limits, lines_max));
        if limits.numbered {
            cut.end_with_a_number(chunk, before, limits.extra);
        }
        let share = cut.messages.len() - before;
        if share > 0 {
            cut.shares.push((at, share));
        }
        if chunk.is_followed() {
            cut.follow(chunk, chunk.sent()..chunk.sent() + share, before);
        }
        if !whole || share < chunk.messages() - chunk.sent() {
            break;
        }
    }
    cut.is_full |= cut.messages.len() >= lines_max || cut.bytes >= limits.bytes_max();
    cut
}

/// Messages that were sent before, by their places among those.
pub fn again<'a>(chunks: &'a VecDeque<Chunk>, places: &[(usize, usize)], limits: &Limits) -> Cut<'a> {
    let mut cut = Cut::new();
    let mut sent = chunks.iter().filter(|chunk| chunk.sent() > 0);
    let (mut chunk, mut begin) = (sent.next(), 0);
    for (place, count) in places {
        let (mut place, mut left) = (*place, *count);
        while left > 0
            && let Some(current) = chunk
        {
            let Some(skip) = place.checked_sub(begin).filter(|skip| *skip < current.sent()) else {
                begin += current.sent();
                chunk = sent.next();
                continue;
            };
            if cut.messages.is_empty() {
                cut.number = current.number_after(skip + 1).and_then(|after| after.checked_sub(1));
            }
            let n = left.min(current.sent() - skip);
            if limits.numbered {
                let number = |at: usize| current.number_after(at + 1).and_then(|after| after.checked_sub(1));
                cut.numbers.extend((skip..skip + n).map(number));
            }
            if current.is_followed() {
                cut.follow(current, skip..skip + n, cut.messages.len());
            }
            for message in current.iter_from(skip).take(n) {
                let (key, message) = if limits.keyed { opened(message) } else { (&[][..], message) };
                cut.key = key;
                cut.bytes += message.len() + limits.extra;
                cut.messages.push(message);
            }
            left -= n;
            place += n;
        }
    }
    cut
}

/// Puts a key in front of the message that begins at `start`: its length, `u32` little endian, and itself.
pub fn enclose(out: &mut Vec<u8>, key: &[u8], message: &[u8]) {
    out.extend_from_slice(&(key.len() as u32).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(message);
}

/// Key and message of such a one. What has no whole key has none.
pub fn opened(message: &[u8]) -> (&[u8], &[u8]) {
    let whole = message.split_first_chunk::<4>();
    whole
        .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize))
        .unwrap_or((&[], message))
}
