//! What the kernel has taken for a TCP peer and the peer's kernel has not acknowledged: kept, and sent again
//! when the connection breaks.
//!
//! Such messages have left the queue of the outlet. They count as waiting until they are acknowledged, and
//! then as delivered. Until then a source that wants to hear what becomes of them waits, for they are in
//! memory only; the others got their credit back. What is kept is bounded by the kernel's send buffer.

use crate::single::SinkContext;
use engine::{Chunk, Ticket, Whole};
use std::collections::VecDeque;

/// With less than this nobody asks the kernel after each write: once a second is enough.
const LOOK_BYTES: u64 = 128 * 1024;
const LOOK_CHUNKS: usize = 8;

struct Sent {
    chunk: Chunk,
    /// Where it ends in all that was written to this connection.
    end: u64,
}

#[derive(Default)]
pub struct Kept {
    sent: VecDeque<Sent>,
    /// Bytes written to this connection.
    written: u64,
    /// Of these, the ones of the chunk that is being written.
    open: u64,
    /// The messages of that chunk that came before this connection, and those that are whole on it.
    before: usize,
    whole: Whole,
    /// To be sent before anything else.
    again: VecDeque<Chunk>,
    /// The connection broke: bytes of the chunk that was being written which the peer has.
    cut: Option<u64>,
}

impl Kept {
    /// Whether a look at the kernel's queue is due with so much under way.
    pub fn is_much(&self) -> bool {
        self.sent.len() >= LOOK_CHUNKS
            || self.sent.front().is_some_and(|first| self.written.saturating_sub(first.end) >= LOOK_BYTES)
    }

    /// Messages that count as waiting here.
    pub fn messages(&self) -> usize {
        let sent = self.sent.iter().map(|sent| sent.chunk.messages()).sum::<usize>();
        // Of the first one that is sent again, those that were written count as well.
        let again = self.again.iter().map(|chunk| chunk.messages() + chunk.done()).sum::<usize>();
        sent + again + self.whole.messages
    }

    /// Whether a source waits for any of them.
    pub fn is_awaited(&self) -> bool {
        let mut all = self.sent.iter().map(|sent| &sent.chunk).chain(&self.again);
        all.any(|chunk| !chunk.tickets.is_empty())
    }

    /// They are safe elsewhere too: no source waits for them any more.
    pub fn let_go(&mut self) {
        let all = self.sent.iter_mut().map(|sent| &mut sent.chunk).chain(&mut self.again);
        all.for_each(|chunk| chunk.tickets.settle());
    }

    /// Copies of those messages, in order, with tickets of their own; some are in the chunk that is being
    /// written, in the queue.
    pub fn copies(&self, queue: &VecDeque<Chunk>) -> Vec<Chunk> {
        let sent = self.sent.iter().map(|sent| held_copy(&sent.chunk, sent.chunk.done(), usize::MAX));
        let mut copies: Vec<Chunk> =
            sent.chain(self.again.iter().map(|chunk| held_copy(chunk, 0, usize::MAX))).collect();
        let done = self.before + self.whole.messages;
        if self.whole.messages > 0
            && let Some(chunk) = queue.iter().find(|chunk| chunk.done() == done)
        {
            copies.push(held_copy(chunk, self.before, done));
        }
        copies
    }

    /// Those that are to be sent again and came over paths with flow-control.
    pub fn guarded(&self) -> usize {
        self.again.iter().filter(|chunk| chunk.flow_control).map(Chunk::messages).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.again.is_empty()
    }

    /// The chunk at the front of the queue is about to be written.
    pub fn begin(&mut self, chunk: &Chunk, place: &SinkContext) {
        if chunk.done() != self.before + self.whole.messages {
            // Another one than before: of what was whole of that one nothing more is known.
            deliver(place, std::mem::take(&mut self.whole));
            self.before = chunk.done();
            self.open = 0;
        }
    }

    /// `bytes` more of that chunk were written, and these messages are whole by that.
    pub fn wrote(&mut self, bytes: usize, whole: Whole, place: &SinkContext) {
        self.written += bytes as u64;
        self.open += bytes as u64;
        self.whole += whole;
        place.counters.waiting.add(whole.messages);
    }

    /// All of that chunk was written.
    pub fn keep(&mut self, mut chunk: Chunk) {
        // What the kernel does not bring to the peer is sent again from here; after a kill, only by a source
        // that has not heard yet.
        match chunk.flow_control {
            true => chunk.tickets.settle_unless(Ticket::is_marked),
            false => chunk.tickets.settle(),
        }
        chunk.restart(self.before);
        self.sent.push_back(Sent { chunk, end: self.written });
        (self.open, self.before, self.whole) = (0, 0, Whole::default());
    }

    /// The chunk to be sent again next.
    pub fn again(&mut self) -> Option<&mut Chunk> {
        self.again.front_mut()
    }

    /// `bytes` more of it were written; its messages count as waiting already.
    pub fn wrote_again(&mut self, bytes: usize) {
        self.written += bytes as u64;
        let Some(chunk) = self.again.front_mut() else { return };
        chunk.advance(bytes);
        if chunk.is_empty()
            && let Some(mut chunk) = self.again.pop_front()
        {
            chunk.restart(0);
            self.sent.push_back(Sent { chunk, end: self.written });
        }
    }

    /// The peer has all but the last `left` bytes.
    pub fn acknowledged(&mut self, left: usize, place: &SinkContext) {
        let acknowledged = self.written.saturating_sub(left as u64);
        while let Some(first) = self.sent.front_mut() {
            let missing = first.end.saturating_sub(acknowledged);
            let size = first.chunk.bytes_left();
            deliver(place, first.chunk.advance(size.saturating_sub(missing as usize)));
            if missing > 0 {
                return;
            }
            let Some(Sent { mut chunk, .. }) = self.sent.pop_front() else { return };
            chunk.tickets.settle();
            chunk.go_home();
        }
    }

    /// Bytes of the messages it keeps.
    pub fn bytes(&self) -> usize {
        let again = self.again.iter().map(Chunk::waiting_bytes).sum::<usize>();
        again + self.sent.iter().map(|sent| sent.chunk.waiting_bytes()).sum::<usize>()
    }

    /// The connection broke with `left` bytes not acknowledged: everything behind the last message border
    /// before them is sent again. Returns how many messages that is, without those of the chunk in the queue.
    pub fn broke(&mut self, left: usize, place: &SinkContext) -> usize {
        self.acknowledged(left, place);
        let open = self.open;
        self.cut = Some(open.saturating_sub(left as u64));
        // One that was being sent again comes after those that were.
        if let Some(chunk) = self.again.front_mut() {
            let written = chunk.bytes.len() - chunk.bytes_left();
            chunk.restart(0);
            deliver(place, chunk.advance(written.saturating_sub(left)));
            drop_done(chunk);
            if chunk.is_empty() {
                chunk.tickets.settle();
                self.again.pop_front();
            }
        }
        for Sent { mut chunk, .. } in self.sent.drain(..).rev() {
            drop_done(&mut chunk);
            self.again.push_front(chunk);
        }
        (self.written, self.open) = (0, 0);
        self.again.iter().map(Chunk::messages).sum()
    }

    /// After a break, with the queue at hand: what the peer has not of the chunk that was being written goes
    /// before the rest of it.
    pub fn rewind(&mut self, chunks: &mut VecDeque<Chunk>, place: &SinkContext) {
        let Some(acknowledged) = self.cut.take() else { return };
        let done = self.before + self.whole.messages;
        let found = chunks.iter_mut().find(|chunk| chunk.done() == done);
        let whole = std::mem::take(&mut self.whole);
        let before = std::mem::take(&mut self.before);
        let Some(chunk) = found else {
            deliver(place, whole);
            return;
        };
        chunk.rewind();
        if whole.messages > 0 {
            let mut again = held_copy(chunk, before, done);
            deliver(place, again.advance(acknowledged as usize));
            drop_done(&mut again);
            match again.is_empty() {
                true => again.tickets.settle(),
                false => self.again.push_back(again),
            }
        }
        self.before = done;
    }

    /// The connection ends in order: the kernel goes on with what it has.
    pub fn left(&mut self, place: &SinkContext) {
        let mut sent = std::mem::take(&mut self.whole);
        for Sent { mut chunk, .. } in self.sent.drain(..) {
            sent += Whole { messages: chunk.messages(), bytes: chunk.waiting_bytes() };
            chunk.tickets.settle();
        }
        if let Some(chunk) = self.again.front_mut() {
            sent += Whole { messages: chunk.done(), bytes: chunk.bytes.len() - chunk.waiting_bytes() };
            drop_done(chunk);
        }
        deliver(place, sent);
        (self.written, self.open, self.before) = (0, 0, 0);
    }

    /// There will be no connection any more: what was to be sent again goes to the front of the queue. It
    /// counts as waiting there.
    pub fn put_back(&mut self, queue: &mut VecDeque<Chunk>) {
        while let Some(chunk) = self.again.pop_back() {
            queue.push_front(chunk);
        }
    }

    /// What is to be sent again, by somebody else.
    pub fn take_again(&mut self) -> VecDeque<Chunk> {
        std::mem::take(&mut self.again)
    }
}

/// Some of a chunk's messages once more, for which its sources wait as for the chunk.
fn held_copy(chunk: &Chunk, from: usize, to: usize) -> Chunk {
    let mut copy = chunk.copy(from, to);
    if chunk.flow_control {
        copy.tickets = chunk.tickets.another();
    }
    copy
}

/// Leaves only what is not dealt with, whole messages.
fn drop_done(chunk: &mut Chunk) {
    let rest = chunk.split(0);
    chunk.tickets.settle();
    *chunk = rest;
}

fn deliver(place: &SinkContext, whole: Whole) {
    if whole.messages > 0 {
        place.counters.waiting.sub(whole.messages);
        place.counters.delivered(whole);
    }
}

#[cfg(test)]
mod tests;
