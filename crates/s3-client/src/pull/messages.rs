//! The account of the messages of a queue: for which objects each of them waits, until when it is ours, and
//! which are to be answered.

use super::listing::Id;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Instant;

#[derive(Default)]
pub struct Messages {
    /// By the order in which they came.
    all: BTreeMap<u64, Message>,
    of_object: HashMap<Id, Vec<u64>>,
    /// Those that wait for nothing any more.
    done: VecDeque<u64>,
    next: u64,
}

struct Message {
    receipt: String,
    waits: HashSet<Id>,
    until: Instant,
}

/// A message as the queue is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub number: u64,
    pub receipt: String,
}

impl Messages {
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn add(&mut self, receipt: String, waits: Vec<Id>, until: Instant) {
        let number = self.next;
        self.next += 1;
        waits.iter().for_each(|id| self.of_object.entry(*id).or_default().push(number));
        let waits: HashSet<Id> = waits.into_iter().collect();
        if waits.is_empty() {
            self.done.push_back(number);
        }
        self.all.insert(number, Message { receipt, waits, until });
    }

    /// An object is finished, or there is nothing of it to read.
    pub fn finished(&mut self, id: &Id) {
        for number in self.of_object.remove(id).unwrap_or_default() {
            let Some(message) = self.all.get_mut(&number) else { continue };
            if message.waits.remove(id) && message.waits.is_empty() {
                self.done.push_back(number);
            }
        }
    }

    fn told(&self, numbers: impl Iterator<Item = u64>) -> Vec<Told> {
        let told = |number| Some(Told { number, receipt: self.all.get(&number)?.receipt.clone() });
        numbers.filter_map(told).collect()
    }

    /// Some of those that are to be deleted.
    pub fn take_done(&mut self, count: usize) -> Vec<Told> {
        let taken: Vec<u64> = self.done.drain(..count.min(self.done.len())).collect();
        self.told(taken.into_iter())
    }

    /// They could not be deleted: it is tried again.
    pub fn put_back(&mut self, told: &[Told]) {
        self.done.extend(told.iter().map(|told| told.number));
    }

    /// The queue has heard that they are done, or does not want to hear it.
    pub fn forget(&mut self, told: &[Told]) {
        for told in told {
            let Some(message) = self.all.remove(&told.number) else { continue };
            for id in message.waits {
                if let Some(numbers) = self.of_object.get_mut(&id) {
                    numbers.retain(|number| *number != told.number);
                    if numbers.is_empty() {
                        self.of_object.remove(&id);
                    }
                }
            }
        }
    }

    /// Some of those that wait and would be given to others before that time.
    pub fn near(&self, until: Instant, count: usize) -> Vec<Told> {
        let near = self.all.iter().filter(|(_, message)| !message.waits.is_empty() && message.until < until);
        self.told(near.map(|(number, _)| *number).take(count))
    }

    /// They are ours until then.
    pub fn extend(&mut self, told: &[Told], until: Instant) {
        for told in told {
            if let Some(message) = self.all.get_mut(&told.number) {
                message.until = until;
            }
        }
    }

    /// Whether some are done of which the queue has not heard.
    pub fn has_done(&self) -> bool {
        self.all.values().any(|message| message.waits.is_empty())
    }

    /// Some of those that wait, for giving them back.
    pub fn waiting(&self, count: usize) -> Vec<Told> {
        let waiting = self.all.iter().filter(|(_, message)| !message.waits.is_empty());
        self.told(waiting.map(|(number, _)| *number).take(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_message_is_done_when_all_its_objects_are() {
        let now = Instant::now();
        let later = now + Duration::from_secs(60);
        let mut messages = Messages::default();
        let id = |n: u8| [n; 16];
        messages.add("one".to_owned(), vec![id(1), id(2), id(2)], now);
        messages.add("two".to_owned(), vec![id(2)], later);
        messages.add("nothing".to_owned(), vec![], now);
        let receipts = |told: Vec<Told>| told.into_iter().map(|told| told.receipt).collect::<Vec<_>>();
        let nothing = messages.take_done(10);
        messages.forget(&nothing);
        assert_eq!(receipts(nothing), ["nothing"]);
        messages.finished(&id(2));
        assert_eq!(receipts(messages.near(later, 10)), ["one"]);
        let two = messages.take_done(10);
        assert_eq!(two[0].receipt, "two");
        assert!(messages.take_done(1).is_empty() && messages.has_done());
        messages.put_back(&two);
        let two = messages.take_done(1);
        messages.forget(&two);
        let near = messages.near(later, 10);
        messages.extend(&near, later);
        assert!(messages.near(later, 10).is_empty());
        messages.finished(&id(1));
        let one = messages.take_done(10);
        messages.forget(&one);
        assert_eq!(receipts(one), ["one"]);
        messages.add("three".to_owned(), vec![id(9)], now);
        let three = messages.waiting(10);
        messages.forget(&three);
        messages.finished(&id(9));
        assert!(!messages.has_done() && messages.of_object.is_empty());
    }
}
