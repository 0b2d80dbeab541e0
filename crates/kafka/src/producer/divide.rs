//! Messages divided into batches: each into that of its topic and partition.

use super::job::Places;
use super::topic::{Entry, State};
use super::{Producer, SPARE_MAX, Why};
use crate::batch::{Batch, RECORD_EXTRA_BYTES, Record, envelope};
use std::sync::Arc;

/// A batch that is being filled.
pub(super) struct Open {
    topic: usize,
    partition: usize,
    batch: Batch,
    places: Places,
    bytes_max: usize,
}

/// Where a message goes, and what of it.
struct Message<'a> {
    topic: usize,
    key: Option<&'a [u8]>,
    record: Record<'a>,
}

impl Producer {
    /// Whether all topics of these messages are known. Those that are not will be asked for.
    pub(super) fn is_known(&mut self, messages: &[&[u8]]) -> bool {
        if !self.options.enveloped {
            return self.is_topic_known(0);
        }
        self.forget_topics();
        let (mut known, mut last, mut at) = (true, &[][..], usize::MAX);
        for message in messages {
            let topic = envelope::read(message).map_or(&[][..], |parts| parts.topic);
            if at == usize::MAX || topic != last {
                at = self.topic_of(topic);
                last = topic;
                known &= self.is_topic_known(at);
            }
        }
        known
    }

    fn is_topic_known(&self, at: usize) -> bool {
        self.topics.get(at).is_some_and(|topic| topic.state == State::Known && topic.count > 0)
    }

    /// What the brokers call no topic is for the one of all messages, which is fallback-topic() then.
    fn topic_of(&mut self, name: &[u8]) -> usize {
        if name.is_empty() {
            return 0;
        }
        let at = self.topic(name);
        if self.topics.get(at).is_some_and(|topic| topic.is_refused) { 0 } else { at }
    }

    /// `None`: the message is not whole.
    fn read<'a>(&mut self, message: &'a [u8]) -> Option<Message<'a>> {
        if !self.options.enveloped {
            return Some(Message { topic: 0, key: None, record: Record::Value(message) });
        }
        let parts = envelope::read(message)?;
        let topic = self.topic_of(parts.topic);
        Some(Message { topic, key: parts.key, record: Record::Parts(parts.record) })
    }

    /// Divides a job whose topics are known.
    pub(super) fn divide(&mut self, id: u32, messages: &[&[u8]], time_ms: i64) {
        let mut open: Vec<Open> = Vec::new();
        // Messages that may go anywhere go together: one partition of each topic.
        let mut anywhere: Vec<(usize, usize)> = Vec::new();
        for (place, message) in messages.iter().enumerate() {
            let Some(message) = self.read(message) else {
                self.refuse(id, place, "it is not stored as kafka() stores messages");
                continue;
            };
            let count = self.topics.get(message.topic).map_or(0, |topic| topic.count);
            let partition = match self.options.partitioner.partition(message.key, count as u32) {
                Some(partition) => partition as usize,
                None => self.anywhere(&mut anywhere, message.topic),
            };
            self.add(&mut open, partition, &message, place as u32);
        }
        for open in open {
            self.close(id, open, time_ms);
        }
        self.conclude(id);
    }

    fn refuse(&mut self, id: u32, place: usize, words: &str) {
        if let Some(job) = self.jobs.get_mut(&id) {
            job.judge(place as u32, Why::Refused, words);
        }
    }

    fn anywhere(&mut self, chosen: &mut Vec<(usize, usize)>, topic: usize) -> usize {
        if let Some((_, partition)) = chosen.iter().rev().find(|(at, _)| *at == topic) {
            return *partition;
        }
        let partition = self.topics.get_mut(topic).map_or(0, |topic| topic.any());
        chosen.push((topic, partition));
        partition
    }

    fn add(&mut self, open: &mut Vec<Open>, partition: usize, message: &Message<'_>, place: u32) {
        let target = self.topics.get_mut(message.topic).and_then(|topic| topic.partitions.get_mut(partition));
        let Some(target) = target else { return };
        let bytes = RECORD_EXTRA_BYTES
            + match message.record {
                Record::Value(bytes) | Record::Parts(bytes) => bytes.len(),
            };
        let alone = target.singly > 0;
        target.singly = target.singly.saturating_sub(1);
        let fits = |open: &Open| !alone && open.batch.size() + bytes <= open.bytes_max;
        let current = target.open.and_then(|at| open.get_mut(at)).filter(|open| fits(open));
        let current = match current {
            Some(current) => current,
            None => {
                target.open = Some(open.len());
                let batch = Batch::new(self.spare.pop().unwrap_or_default());
                let bytes_max = target.batch_bytes.min(self.options.batch_bytes);
                let places = Places::Range(0, 0);
                open.push(Open { topic: message.topic, partition, batch, places, bytes_max });
                let Some(last) = open.last_mut() else { return };
                last
            }
        };
        current.batch.add(message.record);
        current.places.add(place);
    }

    /// A batch is full: it waits for its turn.
    fn close(&mut self, id: u32, open: Open, time_ms: i64) {
        let Open { topic, partition, batch, places, .. } = open;
        let target = self.topics.get_mut(topic).and_then(|topic| topic.partitions.get_mut(partition));
        let (Some(target), Some(job)) = (target, self.jobs.get_mut(&id)) else { return };
        target.open = None;
        let count = batch.count() as i32;
        let bytes = match batch.finish(self.options.compression, time_ms) {
            Ok(bytes) => bytes,
            Err(why) => return places.each(|place| job.judge(place, Why::Refused, &why)),
        };
        self.held_bytes += bytes.len();
        self.next += 1;
        job.left += 1;
        job.batches += 1;
        target.queue.push_back(Entry {
            id: self.next,
            job: id,
            places,
            count,
            bytes: Arc::new(bytes),
            number: None,
            is_away: false,
            tries: 0,
        });
        if !std::mem::replace(&mut target.is_active, true) {
            self.active.push_back((topic, partition));
        }
    }

    /// A buffer that is not needed any more.
    pub(super) fn spare(&mut self, bytes: Arc<Vec<u8>>) {
        if self.spare.len() < SPARE_MAX
            && let Ok(bytes) = Arc::try_unwrap(bytes)
        {
            self.spare.push(bytes);
        }
    }
}
