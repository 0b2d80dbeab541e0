//! Output that is ready to be written: formatted messages in one buffer, with the tickets of the batches they
//! came from.

mod home;
mod numbers;
mod receipts;
mod tail;
mod text;

use crate::ledger::{REMAINS_MAX, Reason, Remains};
use crate::window::{Ticket, Tickets};
pub use home::Home;
use numbers::Numbers;
use receipts::Receipts;
use std::ops::Range;
use std::time::Instant;
use store::{Lot, Origin};
pub use text::{Piece, Text};

/// Finishes messages in their place, just before they leave in this order: the bytes, and the ends of the
/// messages.
pub type Seal = fn(&mut [u8], &[u32]);

/// Whole messages that were dealt with, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    pub messages: usize,
    pub bytes: usize,
}

impl std::ops::AddAssign for Whole {
    fn add_assign(&mut self, other: Whole) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

/// Consecutive messages for one outlet. `0 <= written <= bytes.len()`, `ends` ascending, `ends.last() ==
/// bytes.len()`.
#[derive(Default)]
pub struct Chunk {
    pub bytes: Text,
    /// End of each message in `bytes`, its tail included.
    pub ends: Vec<u32>,
    /// Bytes at the end of each message that are not part of it: what stands between it and the next one when
    /// they leave together.
    tail: usize,
    /// Ended by whoever ends the messages: see [`Tickets`].
    pub tickets: Tickets,
    /// Whether the path asked for flow-control: such messages are never dropped for want of room.
    pub flow_control: bool,
    /// `flush-lines()`: the most messages that [`Chunk::pending`] offers for one write; 0 is no limit.
    pub write_max: usize,
    /// What has to be done before anybody sees the bytes.
    seal: Option<Seal>,
    written: usize,
    done: usize,
    /// Of the messages not yet delivered, those at the front that were sent to a peer that has to acknowledge
    /// them.
    sent: usize,
    /// Of those that are on disk.
    numbers: Numbers,
    /// Where the messages come from, from the first on, if any of them count.
    lots: Vec<Lot>,
    /// Of those that somebody follows.
    receipts: Receipts,
    /// When it came to its outlet.
    came: Option<Instant>,
    /// Who gets its buffer when it is empty. `None`: it is freed.
    home: Option<Home>,
}

impl Chunk {
    /// Messages as another process has left them. `None` when `ends` are not those of messages in `bytes`.
    pub fn of(bytes: Vec<u8>, ends: Vec<u32>) -> Option<Chunk> {
        let whole = ends.is_sorted() && ends.last().is_some_and(|end| *end as usize == bytes.len());
        whole.then(|| Chunk { bytes: bytes.into(), ends, ..Chunk::default() })
    }

    /// Messages that were read back from disk, into a buffer of `home` if it is one of somebody's.
    pub fn read_back(bytes: Vec<u8>, ends: Vec<u32>, write_max: usize, home: Option<Home>) -> Chunk {
        Chunk { bytes: bytes.into(), ends, write_max, home, ..Chunk::default() }
    }

    /// It comes to an outlet; when it came to an earlier one counts.
    pub fn comes(&mut self) {
        self.came.get_or_insert_with(Instant::now);
    }

    /// When its messages came to an outlet, if that is known.
    pub fn came(&self) -> Option<Instant> {
        self.came
    }

    /// Whether a source cannot read on until messages such as these are dealt with.
    pub fn keeps_waiting(&self) -> bool {
        self.tickets.iter().any(Ticket::keeps_waiting)
    }

    /// Something of what it holds has to be finished when it leaves.
    pub fn seal_with(&mut self, seal: Seal) {
        self.seal = Some(seal);
    }

    /// Finishes its messages, unless that was done. Chunks of an outlet are finished in the order in which
    /// they leave.
    pub fn seal(&mut self) {
        if let Some(seal) = self.seal.take() {
            seal(&mut self.bytes, &self.ends);
        }
    }

    /// The same, with their numbers there, in runs: from this message on, beginning with this number.
    pub(crate) fn numbered_as(mut self, runs: Vec<(u32, u64)>) -> Chunk {
        self.numbers = Numbers::of(runs);
        self
    }

    /// The messages not yet delivered are on disk with these numbers, among which there may be others.
    pub(crate) fn number(&mut self, numbers: Range<u64>) {
        self.numbers.set(self.done..self.ends.len(), numbers);
    }

    /// Its messages from `at` on are of this origin.
    pub(crate) fn came_from(&mut self, origin: &Origin, at: usize) {
        let known: usize = self.lots.iter().map(|lot| lot.messages as usize).sum();
        if at > known {
            self.lots.push(Lot { origin: None, messages: (at - known) as u32 });
        }
        let messages = (self.ends.len() - at) as u32;
        self.lots.push(Lot { origin: Some(origin.clone()), messages });
    }

    /// Where its messages come from; nothing when some of those are gone.
    pub(crate) fn lots(&self) -> &[Lot] {
        let known: usize = self.lots.iter().map(|lot| lot.messages as usize).sum();
        if self.done == 0 && known <= self.ends.len() { &self.lots } else { &[] }
    }

    /// Takes out messages before anybody has seen them: `count` of them from `at` on.
    pub(crate) fn take_out(&mut self, at: usize, count: usize) {
        let from = self.end_of(at);
        let gone = self.end_of(at + count) - from;
        self.bytes.drain(from..from + gone);
        self.ends.drain(at..at + count);
        self.receipts.take_out(at, count);
        self.ends.iter_mut().skip(at).for_each(|end| *end -= gone as u32);
    }

    /// It goes to another queue, where its numbers mean nothing.
    pub(crate) fn forget_numbers(&mut self) {
        self.numbers.clear();
    }

    /// The number on disk after that of the last of the first `count` messages not yet delivered. `None` when
    /// it has none, or it is not known.
    pub fn number_after(&self, count: usize) -> Option<u64> {
        self.numbers.after((self.done + count).checked_sub(1)?)
    }

    /// Messages not yet delivered with numbers before `until`.
    pub fn numbered_before(&self, until: u64) -> usize {
        self.numbers.before(until, self.ends.len()).saturating_sub(self.done)
    }

    /// Messages not yet delivered.
    pub fn messages(&self) -> usize {
        self.ends.len() - self.done
    }

    /// Bytes not yet written, as many as one write may take. Empty only when every byte was written.
    pub fn pending(&self) -> &[u8] {
        let mut end = self.bytes.len();
        if self.write_max > 0 {
            let mut at = (self.done + self.write_max).min(self.ends.len());
            // Messages without a byte never end a write.
            while at < self.ends.len() && self.end_of(at) <= self.written {
                at += 1;
            }
            end = self.end_of(at);
        }
        self.bytes.get(self.written..end).unwrap_or_default()
    }

    /// What is missing of a message that was begun and not finished; empty between two messages.
    pub fn rest(&self) -> &[u8] {
        if self.written == self.end_of(self.done) {
            return &[];
        }
        self.bytes.get(self.written..self.end_of(self.done + 1)).unwrap_or_default()
    }

    /// What is written of that message.
    pub fn begun(&self) -> &[u8] {
        self.bytes.get(self.end_of(self.done)..self.written).unwrap_or_default()
    }

    /// Where the first `count` messages end.
    fn end_of(&self, count: usize) -> usize {
        match count.checked_sub(1) {
            Some(last) => self.ends.get(last).map_or(self.bytes.len(), |end| *end as usize),
            None => 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.messages() == 0
    }

    /// Whether nothing of it is left; its tickets are settled then, for all that it held was counted as
    /// delivered or dropped.
    pub(crate) fn settle_empty(&mut self) -> bool {
        if self.is_empty() {
            self.tickets.settle();
        }
        self.is_empty()
    }

    /// Notes that `n` more bytes were written; returns the messages that are complete by that.
    pub fn advance(&mut self, n: usize) -> Whole {
        self.written = (self.written + n).min(self.bytes.len());
        let (before, start) = (self.done, self.end_of(self.done));
        while self.ends.get(self.done).is_some_and(|end| *end as usize <= self.written) {
            self.done += 1;
        }
        Whole { messages: self.done - before, bytes: self.end_of(self.done) - start }
    }

    /// Forgets a message that was begun and not finished, and what was sent and not acknowledged, so that a
    /// new connection gets it whole.
    pub fn rewind(&mut self) {
        self.written = self.end_of(self.done);
        self.sent = 0;
    }

    /// Messages that were dealt with, of all that it was made with.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Bytes not yet written, however many writes they take.
    pub fn bytes_left(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Bytes of the messages not yet delivered, whole ones.
    pub fn waiting_bytes(&self) -> usize {
        self.bytes_of(self.done, self.ends.len())
    }

    /// Takes back that more than the first `done` messages were dealt with.
    pub fn restart(&mut self, done: usize) {
        self.done = done.min(self.ends.len());
        self.written = self.end_of(self.done);
        self.sent = 0;
    }

    /// Messages that were sent and are not acknowledged.
    pub fn sent(&self) -> usize {
        self.sent
    }

    /// The messages that were not sent, in order.
    pub fn unsent(&self) -> impl Iterator<Item = &[u8]> {
        self.iter_from(self.sent)
    }

    /// Notes that `n` more messages were sent; they are delivered when they are acknowledged.
    pub fn send(&mut self, n: usize) {
        self.sent = (self.sent + n).min(self.messages());
    }

    /// Up to `n` of the messages that were sent are delivered. Returns how many, and their bytes.
    pub fn acknowledge(&mut self, n: usize) -> Whole {
        let n = n.min(self.sent);
        let bytes = self.bytes_of(self.done, self.done + n);
        self.say_delivered(n);
        self.skip(n);
        self.sent -= n;
        Whole { messages: n, bytes }
    }

    /// The next message not yet delivered.
    pub fn front(&self) -> Option<&[u8]> {
        self.iter().next()
    }

    /// The messages not yet delivered, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.iter_from(0)
    }

    /// The same without the first `skip` of them.
    pub fn iter_from(&self, skip: usize) -> impl Iterator<Item = &[u8]> {
        self.messages_between(self.done.saturating_add(skip), self.ends.len())
    }

    /// Bytes of the messages that were not sent, whole ones.
    pub fn unsent_bytes(&self) -> usize {
        self.bytes_of((self.done + self.sent).min(self.ends.len()), self.ends.len())
    }

    /// Counts `n` messages from the front as dealt with, whole.
    pub fn skip(&mut self, n: usize) {
        self.done = (self.done + n).min(self.ends.len());
        self.written = if self.done == 0 { 0 } else { self.ends[self.done - 1] as usize };
    }

    /// Keeps the first `keep` undelivered messages, and those that were sent; returns how many were cut off.
    pub fn truncate(&mut self, keep: usize) -> usize {
        let keep = keep.max(self.sent);
        let cut = self.messages().saturating_sub(keep);
        if cut > 0 {
            self.ends.truncate(self.done + keep);
            self.receipts.truncate(self.done + keep);
            self.bytes.truncate(self.ends.last().map_or(0, |end| *end as usize));
        }
        cut
    }

    /// The same for want of room: the last of what is cut off can be looked at afterwards.
    pub(crate) fn cut_for_room(&mut self, keep: usize, remains: &Remains) -> usize {
        let keep = keep.max(self.sent);
        let cut = self.messages().saturating_sub(keep);
        if cut > 0 {
            let last = self.iter_from(keep + cut.saturating_sub(REMAINS_MAX));
            remains.keep(Reason::QueueFull, cut, last);
            self.say_dropped(keep..keep + cut, Reason::QueueFull, "");
        }
        self.truncate(keep)
    }

    /// Takes off everything behind the first `keep` undelivered messages, as a chunk of its own with the same
    /// tickets.
    pub fn split(&mut self, keep: usize) -> Chunk {
        let at = (self.done + keep).min(self.ends.len());
        let border = self.end_of(at);
        let text = &mut *self.bytes;
        let rest = Chunk {
            bytes: text.split_off(border.min(text.len())).into(),
            tail: self.tail,
            ends: self.ends.drain(at..).map(|end| end - border as u32).collect(),
            tickets: self.tickets.another(),
            flow_control: self.flow_control,
            write_max: self.write_max,
            seal: self.seal,
            written: 0,
            done: 0,
            sent: self.sent.saturating_sub(keep),
            numbers: self.numbers.split_off(at),
            receipts: self.receipts.split_off(at),
            lots: Vec::new(),
            came: self.came,
            home: None,
        };
        self.written = self.written.min(border);
        self.sent = self.sent.min(keep);
        rest
    }

    /// Makes the buffer ready for new messages, keeping its allocation.
    pub fn clear(&mut self) {
        self.bytes.reset();
        self.ends.clear();
        self.tail = 0;
        self.tickets.reset();
        self.flow_control = false;
        self.write_max = 0;
        self.seal = None;
        self.written = 0;
        self.done = 0;
        self.sent = 0;
        self.numbers.clear();
        self.receipts.clear();
        self.lots.clear();
        self.came = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(messages: &[&str]) -> Chunk {
        let mut chunk = Chunk::default();
        for message in messages {
            chunk.bytes.extend_from_slice(message.as_bytes());
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        chunk
    }

    #[test]
    fn partial_writes_complete_messages_and_rewind_to_a_border() {
        let mut c = chunk(&["aa\n", "bbb\n", "c\n"]);
        assert_eq!(c.advance(4).messages, 1);
        assert_eq!((c.messages(), c.pending()), (2, &b"bb\nc\n"[..]));
        c.rewind();
        assert_eq!((c.front(), c.pending()), (Some(&b"bbb\n"[..]), &b"bbb\nc\n"[..]));
        assert_eq!(c.advance(6).messages, 2);
        assert!(c.is_empty() && c.pending().is_empty());
    }

    #[test]
    fn a_write_takes_as_many_messages_as_allowed() {
        let mut c = chunk(&["", "aa", "b", "cc"]);
        c.write_max = 1;
        assert_eq!(c.pending(), b"aa");
        assert_eq!((c.advance(1).messages, c.pending(), c.rest()), (1, &b"a"[..], &b"a"[..]));
        assert_eq!((c.advance(1).messages, c.pending(), c.rest()), (1, &b"b"[..], &b""[..]));
        c.write_max = 2;
        assert_eq!(c.pending(), b"bcc");
        assert_eq!((c.advance(3).messages, c.pending()), (2, &b""[..]));
    }

    #[test]
    fn splitting_keeps_every_message_once() {
        let mut c = chunk(&["a", "bb", "ccc", "d"]);
        c.skip(1);
        let rest = c.split(1);
        assert_eq!(c.iter().collect::<Vec<_>>(), [b"bb"]);
        assert_eq!(rest.iter().collect::<Vec<_>>(), [&b"ccc"[..], b"d"]);
        assert_eq!((c.pending(), rest.pending()), (&b"bb"[..], &b"cccd"[..]));
    }

    #[test]
    fn parts_are_copied_and_taken_back() {
        let mut c = chunk(&["a", "bb", "ccc", "d"]);
        c.advance(4);
        assert_eq!((c.done(), c.bytes_left()), (2, 3));
        assert_eq!(c.copy(1, 3).iter().collect::<Vec<_>>(), [&b"bb"[..], b"ccc"]);
        assert_eq!(c.copy(3, 9).iter().collect::<Vec<_>>(), [b"d"]);
        assert!(c.copy(9, 9).is_empty());
        c.restart(1);
        assert_eq!((c.messages(), c.pending()), (3, &b"bbcccd"[..]));
    }

    #[test]
    fn what_was_sent_is_delivered_when_it_is_acknowledged() {
        let mut c = chunk(&["a", "bb", "ccc", "d", "e"]);
        c.send(3);
        assert_eq!(c.unsent().collect::<Vec<_>>(), [b"d", b"e"]);
        assert_eq!((c.acknowledge(2), c.sent(), c.messages()), (Whole { messages: 2, bytes: 3 }, 1, 3));
        assert_eq!(c.truncate(0), 2, "what was sent stays");
        assert_eq!((c.acknowledge(9), c.is_empty()), (Whole { messages: 1, bytes: 3 }, true));
        let mut c = chunk(&["a", "bb", "ccc"]);
        c.send(2);
        let rest = c.split(1);
        assert_eq!((c.sent(), rest.sent()), (1, 1));
        c.rewind();
        assert_eq!(c.unsent().count(), 1);
    }

    #[test]
    fn messages_are_finished_once() {
        let mut c = chunk(&["a", "bb", "ccc"]);
        c.seal_with(|bytes, ends| {
            assert!(bytes.is_ascii() && !ends.is_empty());
            bytes.iter_mut().for_each(|b| *b += 1);
        });
        let mut rest = c.split(2);
        c.seal();
        c.seal();
        assert_eq!((c.pending(), rest.pending()), (&b"bcc"[..], &b"ccc"[..]));
        rest.seal();
        assert_eq!(rest.pending(), b"ddd");
        rest.clear();
        rest.bytes.push(b'x');
        rest.ends.push(1);
        rest.seal();
        assert_eq!(rest.pending(), b"x");
    }

    #[test]
    fn truncating_keeps_the_front() {
        let mut c = chunk(&["a", "b", "c"]);
        c.skip(1);
        assert_eq!((c.truncate(1), c.iter().collect::<Vec<_>>()), (1, vec![&b"b"[..]]));
    }

    #[test]
    fn where_messages_come_from_is_told_while_all_of_them_are_there() {
        let origin = |first| Origin { stream: (*b"s").into(), first, span: 9 };
        let mut chunk = chunk(&["a", "bb", "ccc", "dddd", "e"]);
        chunk.came_from(&origin(7), 3);
        let lots = [Lot { origin: None, messages: 3 }, Lot { origin: Some(origin(7)), messages: 2 }];
        assert_eq!(chunk.lots(), lots);
        let rest = chunk.split(4);
        assert!(chunk.lots().is_empty() && rest.lots().is_empty());
    }

    #[test]
    fn messages_are_taken_out_of_the_middle() {
        let mut chunk = chunk(&["a", "bb", "ccc", "dddd"]);
        chunk.take_out(1, 2);
        assert_eq!((chunk.bytes.as_slice(), chunk.ends.as_slice()), (&b"adddd"[..], &[1, 5][..]));
        chunk.take_out(0, 2);
        assert!(chunk.is_empty() && chunk.bytes.is_empty());
    }
}
