//! What speaks to a cluster: connections to the brokers that are needed, with the account of what is read,
//! and that of the group.

use super::topics::Topics;
use delivery::link::Owner;
use kafka::{Consumer, ConsumerOptions, Fault, Group, GroupOptions, Heard, TopicPartition};
use kafka_client::{Broker, Connections, Dial, News, Server};
use oplog::Level;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

pub struct Brokers {
    topics: Arc<Topics>,
    pub consumer: Consumer,
    pub group: Option<Group>,
    connections: Connections,
    /// Topics that other members of the group read, and this one has to divide.
    others: BTreeSet<Arc<[u8]>>,
    said: oplog::OnceAMinute,
}

impl Brokers {
    pub fn new(
        seat: Owner,
        (dial, servers, topics): (Arc<Dial>, Arc<[Server]>, Arc<Topics>),
        options: ConsumerOptions,
        group: Option<GroupOptions>,
    ) -> Brokers {
        Brokers {
            topics,
            consumer: Consumer::new(options),
            group: group.map(Group::new),
            connections: Connections::new(seat, dial, servers),
            others: BTreeSet::new(),
            said: oplog::OnceAMinute::default(),
        }
    }

    /// Does whatever can be done without waiting. `unread`: bytes that wait to be read.
    pub fn drive(&mut self, unread: usize, now: Instant) {
        self.keep_connections(now);
        for at in 0..self.connections.count() {
            while let Some(news) = self.look_at(at, now) {
                match news {
                    News::Heard(heard) => self.hear(at, heard, now),
                    News::Lost(fault) => {
                        self.lost(at, &fault, now);
                        break;
                    }
                }
            }
        }
        self.keep_connections(now);
        self.ask_about_the_cluster(now);
        self.ask_the_group(now);
        self.fetch(unread, now);
    }

    fn look_at(&mut self, at: usize, now: Instant) -> Option<News> {
        let node = self.connections.get(at)?.node;
        let waits = node.and_then(|node| self.consumer.waits_since(node));
        self.connections.turn(at, waits, now)
    }

    /// Connections to brokers of which something is read; to one of the configured servers while there is
    /// none.
    fn keep_connections(&mut self, now: Instant) {
        let consumer = &self.consumer;
        let brokers = consumer.nodes().map(|(id, host, port)| {
            let is_needed = consumer.needs(id);
            Broker { id, host, port, is_needed }
        });
        if self.connections.keep(brokers, now) {
            self.consumer.cut_unknown();
            self.group.iter_mut().for_each(|group| group.cut(None));
        }
    }

    fn lost(&mut self, at: usize, fault: &Fault, now: Instant) {
        let (Fault::Broken(why) | Fault::Refused(why)) = fault;
        let node = self.connections.lost(at);
        match node {
            Some(node) => self.consumer.cut(node, now),
            None => self.consumer.cut_unknown(),
        }
        self.group.iter_mut().for_each(|group| group.cut(node));
        self.say("Connection to a Kafka broker failed", why, now);
    }

    fn hear(&mut self, at: usize, heard: Vec<Heard>, now: Instant) {
        let Some(connection) = self.connections.get(at) else { return };
        let (node, name) = (connection.node, connection.name());
        for heard in heard {
            match (heard, node) {
                (Heard::Ready, node) => {
                    oplog::notice("Kafka broker connected", &[("broker", &name)]);
                    if node.is_some() {
                        self.said = oplog::OnceAMinute::default();
                    }
                }
                (Heard::Metadata(metadata), _) => {
                    self.consumer.metadata(metadata, now);
                    self.look_at_topics();
                }
                (Heard::Offsets(offsets), Some(node)) => self.consumer.offsets(node, offsets, now),
                (Heard::Fetched(fetched), Some(node)) => self.consumer.fetched(node, fetched, now),
                (Heard::OfGroup(said), _) => self.hear_of_group(said, now),
                // A consumer asks nothing of these.
                (Heard::Offsets(_) | Heard::Fetched(_) | Heard::Identity(_) | Heard::Written(..), _) => {}
                (Heard::OfTransaction(_), _) => {}
            }
        }
    }

    fn hear_of_group(&mut self, said: kafka::OfGroup, now: Instant) {
        let Brokers { group: Some(group), consumer, others, .. } = self else { return };
        let unknown = RefCell::new(BTreeSet::new());
        let partitions = |topic: &[u8]| {
            let all: Vec<i32> = consumer
                .known()
                .filter(|place| *place.topic == *topic)
                .map(|place| place.partition)
                .collect();
            if all.is_empty() {
                unknown.borrow_mut().insert(Arc::from(topic));
            }
            all
        };
        group.heard(said, &partitions, now);
        if group.wants_names() {
            consumer.is_out_of_date();
        }
        others.append(&mut unknown.into_inner());
    }

    /// The topics of a subscription, as far as they are known. When their partitions are others than they
    /// were, a group that this one leads divides them anew.
    fn look_at_topics(&mut self) {
        let Brokers { group: Some(group), consumer, topics, .. } = self else { return };
        if !topics.is_subscription() {
            return;
        }
        let mut all: Vec<Arc<[u8]>> = consumer.known().map(|place| Arc::clone(&place.topic)).collect();
        all.dedup();
        all.retain(|topic| topics.has(topic));
        group.subscribe(all);
        if consumer.take_changed() && group.leads() {
            group.rejoin();
        }
    }

    fn ask_about_the_cluster(&mut self, now: Instant) {
        if !self.consumer.wants_metadata(now) {
            return;
        }
        let Some(at) = self.connections.ready(|_| true) else { return };
        let Some(session) = self.connections.session(at) else { return };
        let names = self.topics.names().map(|names| -> Vec<Box<[u8]>> {
            names.iter().chain(&self.others).map(|name| Box::from(&**name)).collect()
        });
        let is_ruled = self.group.as_ref().is_some_and(Group::is_ruled);
        let outcome = match names {
            names if is_ruled => session.ask_numbers(names.as_deref()),
            None => session.ask_all_metadata(),
            Some(names) => session.ask_metadata(&names, false),
        };
        self.consumer.metadata_asked(now);
        self.after(at, outcome, now);
    }

    fn ask_the_group(&mut self, now: Instant) {
        let Some(group) = &mut self.group else { return };
        let coordinator = group.coordinator();
        let is_it = |node: Option<i32>| coordinator.is_none() || node == coordinator;
        let Some(at) = self.connections.ready(|connection| is_it(connection.node)) else { return };
        let Some(ask) = group.next(now) else { return };
        let Some(session) = self.connections.session(at) else { return };
        let outcome = session.consume(&ask);
        self.after(at, outcome, now);
    }

    fn fetch(&mut self, unread: usize, now: Instant) {
        for at in 0..self.connections.count() {
            let Some(node) = self.connections.get(at).and_then(|connection| connection.node) else {
                continue;
            };
            let Some(session) = self.connections.session(at) else { continue };
            let Some(ask) = self.consumer.next(node, unread, now) else { continue };
            let outcome = session.consume(&ask);
            self.after(at, outcome, now);
        }
    }

    fn after(&mut self, at: usize, outcome: Result<(), Fault>, now: Instant) {
        if let Some(fault) = self.connections.said(at, outcome, now) {
            self.lost(at, &fault, now);
        }
    }

    /// Once a minute.
    pub fn say(&mut self, text: &'static str, why: &str, now: Instant) {
        if !self.said.is_due(now) {
            return;
        }
        oplog::limited("kafka-source", Level::Error, text, &[("reason", &why)]);
    }

    /// Partitions of the topics that are known.
    pub fn places(&self) -> Vec<TopicPartition> {
        self.consumer.known().filter(|place| self.topics.has(&place.topic)).cloned().collect()
    }

    pub fn close(&mut self) {
        self.connections.close();
    }
}
