//! A topic, its partitions, and the batches that wait for each.

use super::job::Places;
use crate::batch::Number;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// What the cluster says of a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing yet, since it was asked first; the last error.
    Unknown {
        since: Option<Instant>,
        error: i16,
    },
    Known,
}

pub struct Topic {
    pub name: Arc<[u8]>,
    pub state: State,
    pub partitions: Vec<Partition>,
    /// The first so many are there; the others were, until the topic was made anew with fewer.
    pub count: usize,
    /// Since when batches wait for others.
    pub shrunk: Option<Instant>,
    /// Brokers take nothing for a topic of this name.
    pub is_refused: bool,
    /// Where messages without a key went last.
    pub turn: usize,
}

/// A batch that waits or is on the way.
pub struct Entry {
    pub id: u64,
    pub job: u32,
    /// Which messages of the job.
    pub places: Places,
    pub count: i32,
    pub bytes: Arc<Vec<u8>>,
    pub number: Option<Number>,
    pub is_away: bool,
    /// How often brokers had no use for it.
    pub tries: u32,
}

pub struct Partition {
    pub leader: Option<i32>,
    /// In the order in which they are to be written.
    pub queue: VecDeque<Entry>,
    /// Where its batches are on the way to.
    pub node: i32,
    /// How many of them.
    pub away: usize,
    /// Something failed: what is behind it may be out of order, so nothing goes until all is answered.
    pub hurt: bool,
    /// The sequence of the next batch that is sent for the first time.
    pub next: i32,
    /// The sequence behind what is surely written.
    pub settled: i32,
    /// Something was written under the numbers in use, or there are none.
    pub is_begun: bool,
    pub not_before: Option<Instant>,
    /// Which of the batches that are being filled is for it.
    pub open: Option<usize>,
    /// It stands among those with batches.
    pub is_active: bool,
    /// The most bytes of a batch, once a broker has refused one as too large.
    pub batch_bytes: usize,
    /// So many messages go alone: one of them is bad, and nobody said which.
    pub singly: usize,
}

/// A sequence so many records later. Behind the largest comes 0.
pub fn later(sequence: i32, count: i32) -> i32 {
    sequence.wrapping_add(count) & i32::MAX
}

/// Whether `a` comes before `b`.
pub fn is_before(a: i32, b: i32) -> bool {
    (a.wrapping_sub(b) << 1) < 0
}

impl Topic {
    pub fn new(name: Arc<[u8]>) -> Topic {
        let state = State::Unknown { since: None, error: 0 };
        Topic { name, state, partitions: Vec::new(), count: 0, shrunk: None, is_refused: false, turn: 0 }
    }

    /// The cluster has never said anything of it.
    pub fn is_new(&self) -> bool {
        matches!(self.state, State::Unknown { since: None, .. })
    }

    /// The cluster has said that there are so many partitions.
    pub fn has(&mut self, count: usize, now: Instant) {
        self.count = count.min(self.partitions.len());
        let gone = self.partitions.iter_mut().skip(self.count);
        let mut waits = false;
        for partition in gone {
            partition.leader = None;
            waits |= !partition.queue.is_empty();
        }
        self.shrunk = if waits { self.shrunk.or(Some(now)) } else { None };
    }

    /// The partition for messages that may go anywhere: the next one in turn that has a leader and the fewest
    /// batches waiting.
    pub fn any(&mut self) -> usize {
        let count = self.count;
        let turned = (0..count).map(|at| (self.turn + 1 + at) % count);
        let load = |at: &usize| match self.partitions.get(*at) {
            Some(partition) if partition.leader.is_some() => partition.queue.len(),
            _ => usize::MAX,
        };
        self.turn = turned.min_by_key(load).unwrap_or(0);
        self.turn
    }
}

impl Partition {
    pub fn new() -> Partition {
        Partition {
            leader: None,
            queue: VecDeque::new(),
            node: -1,
            away: 0,
            hurt: false,
            next: 0,
            settled: 0,
            is_begun: false,
            not_before: None,
            open: None,
            is_active: false,
            batch_bytes: usize::MAX,
            singly: 0,
        }
    }

    /// The next batch to send, when one may go now to its leader.
    pub fn ready(&self, in_flight: usize, now: Instant) -> Option<usize> {
        // A broker that does not know the producer yet takes any number: the first batch goes alone. So does
        // one that goes again, since it may be written, and brokers remember the last few batches only.
        let goes_again = self.queue.front().is_some_and(|entry| entry.tries > 0);
        let in_flight = if self.is_begun && !goes_again { in_flight } else { 1 };
        let may = !self.hurt
            && self.away < in_flight
            && (self.away == 0 || self.leader == Some(self.node))
            && self.not_before.is_none_or(|at| at <= now);
        if !may {
            return None;
        }
        self.queue.iter().position(|entry| !entry.is_away)
    }

    /// Everything is answered and something failed: from here on all goes again, in order.
    pub fn mend(&mut self) {
        if self.hurt && self.away == 0 {
            self.hurt = false;
            self.next = self.settled;
        }
    }

    /// All numbers begin anew.
    pub fn renew(&mut self) {
        (self.next, self.settled, self.is_begun) = (0, 0, false);
        self.queue.iter_mut().for_each(|entry| entry.number = None);
    }

    /// So far everything is written.
    pub fn settle(&mut self, number: Option<Number>, count: i32) {
        self.is_begun = true;
        let Some(number) = number else { return };
        let end = later(number.sequence, count);
        if is_before(self.settled, end) {
            self.settled = end;
        }
    }
}
