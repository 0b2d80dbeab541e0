//! The account of one producer: jobs taken, divided into batches of partitions, sent under numbers by which
//! brokers know what they have already, answered, and sent again in order where that is called for.
//!
//! What was sent and not answered is never given back: it is sent again under its number until a broker says
//! what became of it, so that nothing is written twice. What was not divided yet is given back when there is
//! no broker or no topic.

mod cluster;
mod divide;
mod fates;
mod followed;
mod held;
mod job;
mod sending;
#[cfg(test)]
mod tests;
mod topic;

use crate::compression::Compression;
use crate::partitioner::Partitioner;
pub use followed::Landed;
use job::Job;
pub use job::Parked;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use topic::Topic;

/// Requests on the way to a broker that keep their order with numbers: brokers remember so many.
pub const IN_FLIGHT_MAX: usize = 5;
/// Bytes of jobs that are held.
const HELD_BYTES_MAX: usize = 64 << 20;
/// Topics that are remembered; with more, those not in use are forgotten.
const TOPICS_MAX: usize = 4096;
/// Buffers that are kept for the next batches.
const SPARE_MAX: usize = 8;

#[derive(Clone, Debug)]
pub struct Options {
    /// Where messages go that name no topic.
    pub topic: Vec<u8>,
    /// Messages are [`crate::envelope`]s.
    pub enveloped: bool,
    pub partitioner: Partitioner,
    pub compression: Compression,
    /// The most bytes of a batch before it is compressed. A message that is larger goes alone.
    pub batch_bytes: usize,
    /// -1: of all replicas in sync; 1: of the leader.
    pub acks: i16,
    /// Batches carry numbers, so that none is written twice.
    pub numbered: bool,
    /// Requests on the way to a broker.
    pub in_flight: usize,
    /// How long a broker may wait for its replicas.
    pub timeout_ms: i32,
    /// Topics that are not there are made, where the cluster allows it.
    pub makes_topics: bool,
    /// The cluster is asked so often who leads what.
    pub refresh: Duration,
    /// The transactional id: batches go when their partitions are part of a transaction, see
    /// [`crate::Transactions`].
    pub transaction: Option<Arc<str>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            topic: Vec::new(),
            enveloped: false,
            partitioner: Partitioner::default(),
            compression: Compression::None,
            batch_bytes: 1_000_000,
            acks: -1,
            numbered: true,
            in_flight: IN_FLIGHT_MAX,
            timeout_ms: 30_000,
            makes_topics: true,
            refresh: Duration::from_secs(300),
            transaction: None,
        }
    }
}

/// What became of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Delivered,
    /// One for each message: `None` is delivered, or else the broker's words, and whether it may be sent
    /// again.
    Judged(Vec<Option<(Why, String)>>),
    /// The broker does not take the batch; what is in it has to be told apart.
    Split(String),
    /// There is no broker: nothing was sent.
    Away(String),
    /// Nothing goes until somebody has done something.
    Hold(String),
}

/// What of a message that is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Refused,
    Again,
}

/// A batch that goes.
#[derive(Clone, Debug)]
pub struct Going {
    pub topic: Arc<[u8]>,
    pub partition: i32,
    pub bytes: Arc<Vec<u8>>,
}

/// Batches that go to a broker together.
#[derive(Clone, Debug)]
pub struct Produce {
    pub tag: u64,
    pub acks: i16,
    pub timeout_ms: i32,
    pub transaction: Option<Arc<str>>,
    pub batches: Vec<Going>,
}

/// A broker of the cluster.
#[derive(Debug)]
struct Node {
    host: String,
    port: u16,
    ready: bool,
    /// Requests on the way.
    away: usize,
}

/// A request on the way: for each batch its topic, partition and number in the account.
#[derive(Debug)]
struct Request {
    node: i32,
    since: Instant,
    places: Vec<(usize, usize, u64)>,
}

/// How far a producer id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Wanted,
    Asked,
    Is(i64, i16),
    /// A new one is wanted as soon as nothing is on the way.
    Stale,
}

pub struct Producer {
    options: Options,
    topics: Vec<Topic>,
    names: HashMap<Arc<[u8]>, usize>,
    nodes: HashMap<i32, Node>,
    identity: Identity,
    /// Batches may go.
    is_open: bool,
    /// Brokers know another one under the transactional id.
    is_fenced: bool,
    jobs: HashMap<u32, Job>,
    parked: VecDeque<Parked>,
    parked_bytes: usize,
    held_bytes: usize,
    /// Partitions with batches, in the order in which they are looked at.
    active: VecDeque<(usize, usize)>,
    requests: HashMap<u64, Request>,
    next: u64,
    cluster: cluster::Asking,
    fates: Vec<(u32, Fate)>,
    /// Messages that somebody follows: job, and place in it.
    followed: Vec<(u32, u32)>,
    /// Of those, the ones that a broker has.
    landed: Vec<Landed>,
    spare: Vec<Vec<u8>>,
    /// What was said last of why something does not go.
    trouble: Option<String>,
}

impl Producer {
    pub fn new(options: Options) -> Producer {
        let identity = if options.numbered { Identity::Wanted } else { Identity::Is(-1, -1) };
        let mut producer = Producer {
            topics: Vec::new(),
            names: HashMap::new(),
            nodes: HashMap::new(),
            identity,
            is_open: options.transaction.is_none(),
            is_fenced: false,
            jobs: HashMap::new(),
            parked: VecDeque::new(),
            parked_bytes: 0,
            held_bytes: 0,
            active: VecDeque::new(),
            requests: HashMap::new(),
            next: 0,
            cluster: cluster::Asking::default(),
            fates: Vec::new(),
            followed: Vec::new(),
            landed: Vec::new(),
            spare: Vec::new(),
            trouble: None,
            options,
        };
        if !producer.options.topic.is_empty() {
            let name = producer.options.topic.clone();
            producer.topic(&name);
        }
        producer
    }

    /// Jobs that it could take now.
    pub fn room(&self) -> usize {
        if self.held_bytes() >= HELD_BYTES_MAX {
            return 0;
        }
        let ready = self.nodes.values().filter(|node| node.ready).count().max(1);
        (self.options.in_flight * ready).saturating_sub(self.jobs.len())
    }

    /// Takes messages as a job, whose fate is said under this number. `time_ms`: milliseconds since 1970.
    pub fn begin(&mut self, id: u32, messages: &[&[u8]], time_ms: i64) {
        self.jobs.insert(id, Job::new(messages.len()));
        if self.parked.is_empty() && self.is_known(messages) {
            self.divide(id, messages, time_ms);
        } else {
            let parked = Parked::new(id, messages);
            self.parked_bytes += parked.bytes.len();
            self.parked.push_back(parked);
        }
    }

    /// What became of jobs.
    pub fn fates(&mut self) -> Vec<(u32, Fate)> {
        std::mem::take(&mut self.fates)
    }

    /// Bytes of messages that are held.
    pub fn held_bytes(&self) -> usize {
        self.parked_bytes + self.held_bytes
    }

    /// Nothing is on the way.
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Batches wait for an answer, or for somebody to send them to: they cannot be given back.
    pub fn is_bound(&self) -> bool {
        self.jobs.len() > self.parked.len()
    }

    /// Why something does not go, once.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// A broker refuses this side, or there is none: what was not sent yet is given back.
    pub fn give_back(&mut self, fate: &Fate) {
        for parked in self.parked.drain(..) {
            self.jobs.remove(&parked.id);
            self.fates.push((parked.id, fate.clone()));
        }
        self.parked_bytes = 0;
    }

    /// The topic of this name, which is remembered from now on.
    fn topic(&mut self, name: &[u8]) -> usize {
        if let Some(at) = self.names.get(name) {
            return *at;
        }
        let name: Arc<[u8]> = name.into();
        let at = self.topics.len();
        self.topics.push(Topic::new(Arc::clone(&name)));
        self.names.insert(name, at);
        self.cluster.is_stale = true;
        at
    }

    /// Forgets topics that are not in use when there are too many. Their numbers are gone too, so all begin
    /// anew.
    fn forget_topics(&mut self) {
        if self.topics.len() < TOPICS_MAX || self.is_bound() || !self.parked.is_empty() {
            return;
        }
        self.topics.clear();
        self.names.clear();
        self.active.clear();
        if self.options.numbered {
            self.identity = Identity::Wanted;
        }
        self.cluster.is_stale = true;
        let name = self.options.topic.clone();
        if !name.is_empty() {
            self.topic(&name);
        }
    }
}
