//! Messages that have no answer yet, in groups that came together and are answered together.

use super::super::received::Received;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::Instant;
use wire::protobuf::Malformed;

/// Names of deliveries in one group, and their bytes.
const GROUP_MESSAGES: usize = 1000;
const GROUP_BYTES: usize = 150_000;
/// The same in one call: Pub/Sub takes calls of 512 KiB.
const CALL_MESSAGES: usize = 2500;
const CALL_BYTES: usize = 300_000;

/// Names behind one another.
#[derive(Default)]
struct Ids {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Ids {
    fn push(&mut self, id: &[u8]) {
        self.bytes.extend_from_slice(id);
        self.ends.push(self.bytes.len() as u32);
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        begins
            .zip(&self.ends)
            .map(|(begin, end)| self.bytes.get(begin as usize..*end as usize).unwrap_or_default())
    }
}

/// One group.
pub struct Delivery {
    ids: Ids,
    /// Of the messages.
    bytes: usize,
    /// The server sends them again after this time.
    until: Instant,
    /// What becomes of them is known.
    is_settled: bool,
}

impl Delivery {
    /// The groups of an answer.
    pub fn all<'a>(
        messages: impl Iterator<Item = Result<Received<'a>, Malformed>>,
        until: Instant,
    ) -> Result<Vec<Delivery>, Malformed> {
        let mut all: Vec<Delivery> = Vec::new();
        for message in messages {
            let message = message?;
            let is_full = |group: &&mut Delivery| {
                group.ids.ends.len() >= GROUP_MESSAGES || group.ids.bytes.len() >= GROUP_BYTES
            };
            match all.last_mut().filter(|group| !is_full(group)) {
                Some(group) => group.add(&message),
                None => {
                    let mut group = Delivery { ids: Ids::default(), bytes: 0, until, is_settled: false };
                    group.add(&message);
                    all.push(group);
                }
            }
        }
        Ok(all)
    }

    fn add(&mut self, message: &Received<'_>) {
        self.ids.push(message.ack_id);
        self.bytes += message.bytes();
    }
}

#[derive(Default)]
pub struct Deliveries {
    all: BTreeMap<u64, Delivery>,
    next: u64,
    messages: usize,
    bytes: usize,
}

impl Deliveries {
    /// Gives them numbers.
    pub fn add(&mut self, groups: Vec<Delivery>) -> Range<u64> {
        let begin = self.next;
        for group in groups {
            self.messages += group.ids.ends.len();
            self.bytes += group.bytes;
            self.all.insert(self.next, group);
            self.next += 1;
        }
        begin..self.next
    }

    /// Messages and their bytes.
    pub fn held(&self) -> (usize, usize) {
        (self.messages, self.bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn settle(&mut self, numbers: Range<u64>) {
        self.all.range_mut(numbers).for_each(|(_, group)| group.is_settled = true);
    }

    pub fn remove(&mut self, numbers: &[u64]) {
        for number in numbers {
            if let Some(group) = self.all.remove(number) {
                self.messages -= group.ids.ends.len();
                self.bytes -= group.bytes;
            }
        }
    }

    pub fn extend(&mut self, numbers: &[u64], until: Instant) {
        for number in numbers {
            if let Some(group) = self.all.get_mut(number) {
                group.until = until;
            }
        }
    }

    /// As many as one call may be about of those that wait in a queue.
    pub fn some(&self, queue: &VecDeque<u64>) -> Vec<u64> {
        self.fitting(queue.iter().copied())
    }

    /// As many as one call may be about of those that are under way and end before this time.
    pub fn near(&self, time: Instant) -> Vec<u64> {
        let is_near = |group: &Delivery| !group.is_settled && group.until <= time;
        self.fitting(self.all.iter().filter(|(_, group)| is_near(group)).map(|(number, _)| *number))
    }

    fn fitting(&self, numbers: impl Iterator<Item = u64>) -> Vec<u64> {
        let (mut messages, mut bytes) = (0, 0);
        numbers
            .take_while(|number| {
                let is_first = messages == 0;
                if let Some(group) = self.all.get(number) {
                    messages += group.ids.ends.len();
                    bytes += group.ids.bytes.len();
                }
                is_first || messages <= CALL_MESSAGES && bytes <= CALL_BYTES
            })
            .collect()
    }

    pub fn ids(&self, numbers: &[u64]) -> impl Iterator<Item = &[u8]> {
        numbers.iter().filter_map(|number| self.all.get(number)).flat_map(|group| group.ids.iter())
    }
}
