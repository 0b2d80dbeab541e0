//! Who leads what: asked of the cluster at first, now and then, and when something has moved.

use super::topic::{Partition, State, Topic};
use super::{Fate, Identity, Node, Producer};
use crate::answers::{Metadata, TopicMetadata};
use crate::code::{self, Class};
use std::time::{Duration, Instant};

/// Between two questions.
const AGAIN: Duration = Duration::from_millis(200);
/// An answer that takes longer does not come.
const ANSWER_MAX: Duration = Duration::from_secs(30);
/// A topic that the cluster does not know for so long is not only about to be made.
const UNKNOWN_MAX: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Asking {
    /// What is known is not right any more.
    pub is_stale: bool,
    /// When the question was asked that is not answered yet.
    pub asked: Option<Instant>,
    /// When the last one was answered.
    known: Option<Instant>,
    pub identity_not_before: Option<Instant>,
}

impl Producer {
    /// Topics to ask the cluster about, when it is time.
    pub fn wants_metadata(&self, now: Instant) -> Option<Vec<Box<[u8]>>> {
        let age = |at: Instant| now.saturating_duration_since(at);
        if self.cluster.asked.is_some_and(|asked| age(asked) < ANSWER_MAX) {
            return None;
        }
        let due = match self.cluster.known {
            None => true,
            Some(known) if self.cluster.is_stale => age(known) >= AGAIN,
            Some(known) => age(known) >= self.options.refresh,
        };
        due.then(|| self.topics.iter().map(|topic| Box::from(&*topic.name)).collect())
    }

    pub fn metadata_asked(&mut self, now: Instant) {
        self.cluster.asked = Some(now);
    }

    /// The first time after `now` at which something goes on although nobody says anything: the cluster is
    /// asked again, or batches have waited long enough.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let is_idle = self.cluster.is_stale && self.cluster.asked.is_none();
        let question = self.cluster.known.filter(|_| is_idle).map(|known| known + AGAIN);
        let wanted = self.identity == Identity::Wanted;
        let identity = self.cluster.identity_not_before.filter(|_| wanted);
        let partitions =
            self.active.iter().filter_map(|(topic, at)| self.topics.get(*topic)?.partitions.get(*at));
        let paused = partitions.filter(|partition| partition.away == 0).filter_map(|p| p.not_before);
        paused.chain(question).chain(identity).filter(|at| *at > now).min()
    }

    pub fn makes_topics(&self) -> bool {
        self.options.makes_topics
    }

    /// The cluster has said who leads what.
    pub fn metadata(&mut self, metadata: Metadata, time_ms: i64, now: Instant) {
        self.cluster.asked = None;
        self.cluster.known = Some(now);
        self.cluster.is_stale = false;
        for broker in metadata.brokers {
            let node = self.nodes.entry(broker.id).or_insert_with(|| Node {
                host: broker.host.clone(),
                port: broker.port,
                ready: false,
                away: 0,
            });
            (node.host, node.port) = (broker.host, broker.port);
        }
        let mut hold = None;
        for topic in metadata.topics {
            self.learn(topic, now, &mut hold);
        }
        // A topic that was named first while the question was on its way is not in the answer.
        self.cluster.is_stale |= self.topics.iter().any(Topic::is_new);
        self.divide_parked(time_ms);
        if let Some(why) = hold {
            self.give_back(&Fate::Hold(why));
        }
    }

    fn learn(&mut self, found: TopicMetadata, now: Instant, hold: &mut Option<String>) {
        let Some(at) = self.names.get(&*found.name).copied() else { return };
        if self.topics.get(at).is_some_and(|topic| topic.is_refused)
            || found.error == code::INVALID_TOPIC && self.refuse_topic(at)
        {
            // Nobody asks for it any more.
            self.topics.iter_mut().skip(at).take(1).for_each(|topic| topic.state = State::Known);
            return;
        }
        let Some(topic) = self.topics.get_mut(at) else { return };
        if found.error != 0 || found.partitions.is_empty() {
            let since = match topic.state {
                State::Unknown { since: Some(since), .. } => since,
                _ => now,
            };
            topic.state = State::Unknown { since: Some(since), error: found.error };
            topic.partitions.iter_mut().for_each(|partition| partition.leader = None);
            let text = format!("topic {}: {}", String::from_utf8_lossy(&found.name), code::name(found.error));
            let waits = now.saturating_duration_since(since);
            if code::class(found.error) == Class::Hold || waits >= UNKNOWN_MAX {
                *hold = Some(text.clone());
                self.hold_topic(at, &text);
            }
            self.trouble = Some(text);
            self.cluster.is_stale = true;
            return;
        }
        topic.state = State::Known;
        let mut count = 0;
        for partition in found.partitions {
            let Ok(at) = usize::try_from(partition.index) else { continue };
            // Partitions are numbered without gaps; more than there are items cannot be.
            if at > topic.partitions.len() + PARTITIONS_MAX {
                continue;
            }
            while topic.partitions.len() <= at {
                topic.partitions.push(Partition::new());
            }
            let Some(known) = topic.partitions.get_mut(at) else { continue };
            count = count.max(at + 1);
            known.leader = partition.leader;
            self.cluster.is_stale |= partition.leader.is_none();
        }
        topic.has(count, now);
        let shrunk = topic.shrunk;
        // A broker that hears late of new partitions names fewer for a moment.
        self.cluster.is_stale |= shrunk.is_some();
        if shrunk.is_some_and(|since| now.saturating_duration_since(since) >= UNKNOWN_MAX) {
            self.divide_anew(at, count);
        }
    }

    /// Divides jobs that have waited for their topics.
    fn divide_parked(&mut self, time_ms: i64) {
        while let Some(parked) = self.parked.pop_front() {
            let messages = parked.messages();
            if !self.is_known(&messages) {
                self.parked.push_front(parked);
                return;
            }
            self.parked_bytes = self.parked_bytes.saturating_sub(parked.bytes.len());
            self.divide(parked.id, &messages, time_ms);
        }
    }

    /// Brokers that are known: id, host, port.
    pub fn nodes(&self) -> impl Iterator<Item = (i32, &str, u16)> {
        self.nodes.iter().map(|(id, node)| (*id, node.host.as_str(), node.port))
    }

    /// A server that was asked in the name of the cluster is gone.
    pub fn cut_unknown(&mut self) {
        self.cluster.asked = None;
        self.forget_question();
    }

    /// Whether a broker leads anything.
    pub fn leads(&self, node: i32) -> bool {
        self.topics.iter().any(|topic| topic.partitions.iter().any(|p| p.leader == Some(node)))
    }

    /// There is a connection to a broker over which requests can go.
    pub fn ready(&mut self, node: i32) {
        if let Some(node) = self.nodes.get_mut(&node) {
            node.ready = true;
        }
    }
}

/// More partitions at a time than a topic can have.
const PARTITIONS_MAX: usize = 100_000;
