//! What was sent to a peer that acknowledges, and is not acknowledged yet. It stays at the front of its
//! outlet's queue until then.
//!
//! So it counts as waiting, holds its sources back, goes to the successor of a reload, and is waited for when
//! the process ends, all by the outlet's own means. A chunk knows how many of its messages were sent
//! ([`Chunk::sent`]); here is the account over all of them. Messages are acknowledged in the order in which
//! they were sent.
//!
//! A sink calls [`Unacked::settle`] at the beginning of each `write`, sends from the chunk that
//! [`Unacked::next`] names, and says so with [`Unacked::sent`]. Acknowledgements come in at any time, in
//! `event` say, with [`Unacked::acknowledge`]. After a connection broke, [`Unacked::reset`] makes everything
//! be sent again. While something is not acknowledged `write` returns [`Unacked::status`].

use engine::ledger::Reason;
use engine::{Chunk, Progress, Status};
use std::collections::VecDeque;

#[derive(Debug, Default)]
pub struct Unacked {
    /// Messages sent and not settled. `acknowledged <= in_flight`.
    in_flight: usize,
    /// Of these, the ones the peer has acknowledged.
    acknowledged: usize,
    /// The connection broke: what the queue says about messages that were sent is over.
    stale: bool,
    /// Between the beginning and the end of a `write`.
    working: bool,
}

impl Unacked {
    /// Messages the peer has not acknowledged.
    pub fn messages(&self) -> usize {
        self.in_flight - self.acknowledged
    }

    /// Whether nothing is on the way, and the queue says so too.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0 && !self.stale
    }

    /// Acknowledgements that [`Unacked::settle`] has not taken into account.
    pub fn acknowledged(&self) -> usize {
        self.acknowledged
    }

    /// The peer has acknowledged `n` more messages. `false` when so many were never sent.
    #[must_use]
    pub fn acknowledge(&mut self, n: usize) -> bool {
        let sum = self.acknowledged.saturating_add(n);
        self.acknowledged = sum.min(self.in_flight);
        sum <= self.in_flight
    }

    /// The connection is gone: what is acknowledged is delivered, everything else is sent again.
    pub fn reset(&mut self) {
        self.stale = true;
        self.in_flight = self.acknowledged;
    }

    /// The first message that the peer has not acknowledged, where the queue has it at hand.
    pub fn first<'a>(&self, chunks: &'a mut VecDeque<Chunk>) -> Option<(usize, &'a mut Chunk)> {
        if self.acknowledged > 0 || self.stale || self.in_flight == 0 {
            return None;
        }
        chunks.iter_mut().enumerate().find(|(_, chunk)| chunk.sent() > 0)
    }

    /// The peer will never take that message: it is dropped.
    pub fn drop_first(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>, why: &str) {
        let Some((at, chunk)) = self.first(chunks) else { return };
        chunk.say_dropped(0..1, Reason::Refused, why);
        progress.refused(why, chunk.front().unwrap_or_default());
        let gone = chunk.acknowledge(1).messages;
        let is_empty = chunk.is_empty();
        self.in_flight -= gone;
        if is_empty && let Some(chunk) = chunks.remove(at) {
            progress.finished(chunk);
        }
    }

    /// Delivers what is acknowledged. Returns `false` when the last `write` did not come to its end: the
    /// connection has to be left, and everything will be sent again.
    #[must_use]
    pub fn settle(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> bool {
        let whole = !std::mem::replace(&mut self.working, true);
        if !whole {
            // A panic has cost the first chunk, and nobody knows what of it was sent.
            self.acknowledged = 0;
            self.stale = true;
        }
        let mut at = 0;
        while self.acknowledged > 0
            && let Some(chunk) = chunks.get_mut(at)
        {
            // Chunks of a predecessor may have come before those that were sent.
            if chunk.sent() == 0 {
                at += 1;
                continue;
            }
            let whole = chunk.acknowledge(self.acknowledged);
            self.acknowledged -= whole.messages;
            self.in_flight -= whole.messages;
            progress.delivered(whole);
            if chunk.is_empty()
                && let Some(chunk) = chunks.remove(at)
            {
                progress.finished(chunk);
            }
        }
        // Where not all of the queue is at hand, the rest of what is acknowledged comes later.
        if self.acknowledged == 0 && std::mem::take(&mut self.stale) {
            chunks.iter_mut().for_each(Chunk::rewind);
            self.in_flight = 0;
        }
        whole
    }

    /// The index of the chunk that has the next messages to send. `None` when there is nothing to send now:
    /// all was sent, or what was sent before has to be acknowledged first, because other messages came before
    /// it in the queue.
    pub fn next(&self, chunks: &VecDeque<Chunk>) -> Option<usize> {
        let mut sent = 0;
        for (at, chunk) in chunks.iter().enumerate() {
            sent += chunk.sent();
            if chunk.sent() < chunk.messages() {
                return (sent == self.in_flight && !self.stale).then_some(at);
            }
        }
        None
    }

    /// `n` messages from the chunk that [`Unacked::next`] named were sent.
    pub fn sent(&mut self, chunk: &mut Chunk, n: usize) {
        let before = chunk.sent();
        chunk.send(n);
        self.in_flight += chunk.sent() - before;
    }

    /// What a `write` returns that has sent what it could: ends it.
    pub fn status(&mut self, chunks: &VecDeque<Chunk>) -> Status {
        self.working = false;
        // With acknowledgements left over, another part of the queue has to be offered.
        match chunks.is_empty() || self.acknowledged > 0 {
            true => Status::Done,
            false => Status::Blocked,
        }
    }

    /// The same for one that cannot write now.
    pub fn ended(&mut self, status: Status) -> Status {
        self.working = false;
        status
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chunk;
    use engine::ledger::DestinationCounters;

    struct Desk {
        unacked: Unacked,
        chunks: VecDeque<Chunk>,
        counters: DestinationCounters,
    }

    impl Desk {
        fn new(chunks: &[&[&str]]) -> Desk {
            let chunks = chunks.iter().map(|messages| chunk(messages)).collect();
            Desk { unacked: Unacked::default(), chunks, counters: DestinationCounters::default() }
        }

        /// One `write` that sends up to `max` messages; returns them.
        fn write(&mut self, mut max: usize) -> String {
            let mut progress = Progress::new(&self.counters);
            assert!(self.unacked.settle(&mut self.chunks, &mut progress));
            let mut out = Vec::new();
            while max > 0
                && let Some(at) = self.unacked.next(&self.chunks)
            {
                let chunk = &mut self.chunks[at];
                let taken: Vec<Vec<u8>> = chunk.unsent().take(max).map(<[u8]>::to_vec).collect();
                max -= taken.len();
                self.unacked.sent(chunk, taken.len());
                out.extend(taken.concat());
            }
            self.unacked.status(&self.chunks);
            String::from_utf8(out).expect("text")
        }

        fn delivered(&self) -> (u64, u64) {
            (self.counters.delivered.value(), self.counters.delivered_bytes.value())
        }
    }

    #[test]
    fn messages_are_delivered_when_they_are_acknowledged_and_not_before() {
        let mut desk = Desk::new(&[&["a", "b"], &["c", "d", "ee"]]);
        assert_eq!(desk.write(4), "abcd");
        assert_eq!((desk.delivered(), desk.unacked.messages()), ((0, 0), 4));
        assert!(desk.unacked.acknowledge(3));
        assert_eq!(desk.write(9), "ee");
        assert_eq!((desk.delivered(), desk.chunks.len()), ((3, 3), 1));
        assert!(desk.unacked.acknowledge(2));
        assert_eq!(desk.write(9), "");
        assert_eq!((desk.delivered(), desk.chunks.len()), ((5, 6), 0));
        assert!(!desk.unacked.acknowledge(1), "it was never sent");
    }

    #[test]
    fn after_a_cut_all_that_is_not_acknowledged_is_sent_again() {
        let mut desk = Desk::new(&[&["a", "b"], &["c", "d"]]);
        assert_eq!(desk.write(9), "abcd");
        assert!(desk.unacked.acknowledge(1));
        desk.unacked.reset();
        assert_eq!(desk.unacked.messages(), 0);
        assert_eq!(desk.write(2), "bc");
        assert_eq!(desk.delivered(), (1, 1));
        desk.unacked.reset();
        desk.unacked.reset();
        assert_eq!(desk.write(9), "bcd");
        assert!(desk.unacked.acknowledge(3));
        assert_eq!((desk.write(9), desk.delivered()), (String::new(), (4, 4)));
    }

    #[test]
    fn what_a_predecessor_left_is_not_taken_for_what_was_sent() {
        let mut desk = Desk::new(&[&["x", "y"]]);
        assert_eq!(desk.write(1), "x");
        desk.chunks.push_front(chunk(&["a", "b"]));
        assert_eq!(desk.write(9), "", "acknowledgements would be mistaken");
        assert!(desk.unacked.acknowledge(1));
        assert_eq!(desk.write(9), "aby");
        assert_eq!(desk.delivered(), (1, 1));
        assert!(desk.unacked.acknowledge(3));
        assert_eq!((desk.write(9), desk.chunks.len()), (String::new(), 0));
    }

    #[test]
    fn a_part_of_the_queue_settles_what_is_in_it() {
        let mut desk = Desk::new(&[&["a"], &["b", "c", "d"]]);
        assert_eq!(desk.write(9), "abcd");
        assert!(desk.unacked.acknowledge(4));
        let rest = desk.chunks.pop_back().expect("two chunks");
        desk.write(0);
        assert_eq!((desk.delivered().0, desk.unacked.acknowledged()), (1, 3));
        assert_eq!(desk.unacked.status(&desk.chunks), Status::Done, "the rest is to be offered");
        desk.unacked.reset();
        desk.chunks.push_back(rest);
        assert_eq!((desk.write(9), desk.delivered().0), (String::new(), 4));
    }

    #[test]
    fn the_first_message_is_dropped_where_it_is_at_hand() {
        let mut desk = Desk::new(&[&["a", "b"], &["c"]]);
        assert_eq!(desk.write(9), "abc");
        assert!(desk.unacked.acknowledge(1));
        assert!(desk.unacked.first(&mut desk.chunks).is_none(), "what is acknowledged comes first");
        assert_eq!(desk.write(0), "");
        assert_eq!(desk.unacked.first(&mut desk.chunks).expect("at hand").1.front(), Some(&b"b"[..]));
        let mut progress = Progress::new(&desk.counters);
        desk.unacked.drop_first(&mut desk.chunks, &mut progress, "no");
        assert_eq!((desk.counters.dropped.value(Reason::Refused), desk.unacked.messages()), (1, 1));
        assert!(desk.unacked.acknowledge(1));
        assert_eq!((desk.write(9), desk.delivered().0, desk.chunks.len()), (String::new(), 2, 0));
    }

    #[test]
    fn a_write_that_did_not_end_is_noticed() {
        let mut desk = Desk::new(&[&["a"]]);
        let mut progress = Progress::new(&desk.counters);
        assert!(desk.unacked.settle(&mut desk.chunks, &mut progress));
        desk.unacked.sent(&mut desk.chunks[0], 1);
        assert!(!desk.unacked.settle(&mut desk.chunks, &mut progress));
        assert_eq!((desk.unacked.messages(), desk.chunks[0].sent()), (0, 0));
    }
}
