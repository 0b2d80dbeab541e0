//! What the cluster says of itself: who leads what, and what is not there yet. All that is in a topic that is
//! made later was written after reading began.

use super::{AGAIN, Consumer, EARLIEST, LATEST, News, Position};
use crate::answers::Metadata;
use crate::code;
use crate::requests::consuming::TopicPartition;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An answer that takes longer does not come.
const ANSWER_MAX: Duration = Duration::from_secs(30);
const UNKNOWN_TOPIC: i16 = 3;
/// A topic is gone when it is missing in so many answers in a row.
const GONE: u8 = 2;

/// What there was when the cluster was asked first.
#[derive(Default)]
pub(super) struct First {
    topics: Option<BTreeSet<Arc<[u8]>>>,
}

impl First {
    /// A broker that names no broker knows nothing yet.
    fn note(&mut self, metadata: &Metadata) {
        if self.topics.is_none() && !metadata.brokers.is_empty() {
            let there = metadata.topics.iter().filter(|topic| topic.error != UNKNOWN_TOPIC);
            self.topics = Some(there.map(|topic| topic.name.as_slice().into()).collect());
        }
    }
}

impl Consumer {
    /// Whether it is time to ask who leads what.
    pub fn wants_metadata(&self, now: Instant) -> bool {
        let age = |at: Instant| now.saturating_duration_since(at);
        if self.asked.is_some_and(|asked| age(asked) < ANSWER_MAX) {
            return false;
        }
        match self.known {
            None => true,
            Some(known) if self.is_stale => age(known) >= AGAIN,
            Some(known) => age(known) >= self.options.refresh,
        }
    }

    pub fn metadata_asked(&mut self, now: Instant) {
        self.asked = Some(now);
    }

    /// The cluster has said who leads what.
    pub fn metadata(&mut self, metadata: Metadata, now: Instant) {
        (self.asked, self.known, self.is_stale) = (None, Some(now), false);
        self.first.note(&metadata);
        let has_brokers = !metadata.brokers.is_empty();
        for broker in metadata.brokers {
            let node = self.nodes.entry(broker.id).or_default();
            (node.host, node.port) = (broker.host, broker.port);
        }
        for topic in metadata.topics {
            let name: Arc<[u8]> = topic.name.into();
            if topic.error == UNKNOWN_TOPIC && has_brokers {
                self.is_to_come(&name, 0);
            }
            if topic.error != 0 {
                let shown = String::from_utf8_lossy(&name).into_owned();
                self.news.push(News::Trouble(format!("topic {shown}: {}", code::name(topic.error))));
                self.is_stale = true;
                continue;
            }
            self.is_to_come(&name, topic.partitions.len());
            self.is_there(&name, topic.partitions.len());
            for partition in topic.partitions {
                self.is_stale |= partition.leader.is_none();
                let place = TopicPartition { topic: Arc::clone(&name), partition: partition.index };
                self.has_changed |= self.leaders.insert(place, partition.leader).is_none();
            }
        }
        self.is_stale |= self.partitions.keys().any(|place| !self.leaders.contains_key(place));
    }

    /// Whether a topic was made since the cluster was asked first.
    pub fn is_new(&self, topic: &[u8]) -> bool {
        self.first.topics.as_ref().is_some_and(|topics| !topics.contains(topic))
    }

    /// Partitions of a topic from this number on are not there: who waits to begin at their ends begins at
    /// their beginnings. So does who was reading a topic that is gone, once it is made anew.
    fn is_to_come(&mut self, topic: &[u8], count: usize) {
        if self.first.topics.is_none() {
            return;
        }
        for (_, partition) in self
            .partitions
            .iter_mut()
            .filter(|(place, _)| *place.topic == *topic && place.partition as usize >= count)
        {
            partition.missing = partition.missing.saturating_add(1);
            let missed = match partition.position {
                Position::Wanted { time: LATEST, missed: None } => None,
                Position::At(offset) if partition.missing >= GONE => Some(offset),
                _ => continue,
            };
            partition.position = Position::Wanted { time: EARLIEST, missed };
        }
    }

    fn is_there(&mut self, topic: &[u8], count: usize) {
        let there = self
            .partitions
            .iter_mut()
            .filter(|(place, _)| *place.topic == *topic && (place.partition as usize) < count);
        there.for_each(|(_, partition)| partition.missing = 0);
    }
}
