//! Where each partition is read from, and what brokers are asked next for it. One request is on its way to
//! each broker at a time; what it brings is read while the next one is away.

mod cluster;

use crate::answers::consuming::{Fetched, Offset, Part};
use crate::code::{self, Class};
use crate::records::{Batches, Reading, end_offset};
use crate::requests::consuming::{Ask, FetchSize, TopicPartition};
use cluster::First;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After an error, for a partition; and between two questions about the cluster when something has moved.
const AGAIN: Duration = Duration::from_millis(500);
/// So long leaders are read after a nearer copy could not be: they would name it again.
const LEADERS_FOR: Duration = Duration::from_secs(30);
const OUT_OF_RANGE: i16 = 1;
/// Times that stand for the beginning and the end.
const EARLIEST: i64 = -2;
const LATEST: i64 = -1;

#[derive(Clone, Debug)]
pub struct Options {
    pub size: FetchSize,
    pub reading: Reading,
    /// How often the cluster is asked who leads what.
    pub refresh: Duration,
    /// Bytes that may wait to be read before brokers are asked for more.
    pub unread_bytes_max: usize,
    /// `client.rack`: where this is, for brokers that know which copy is near. Empty: nothing is said.
    pub rack: Arc<str>,
}

/// Where reading a partition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    At(i64),
    Earliest,
    Latest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// The offset is not known yet. `missed`: the one that the partition does not have.
    Wanted {
        time: i64,
        missed: Option<i64>,
    },
    At(i64),
}

struct Partition {
    position: Position,
    not_before: Option<Instant>,
    /// How often in a row the cluster has said that there is no such topic.
    missing: u8,
    /// The broker of a copy that its leader has called nearer, and until when that is read.
    nearer: Option<(i32, Instant)>,
}

impl Partition {
    /// The broker that is asked for records, where it is not the leader.
    fn nearer(&self) -> Option<i32> {
        let (node, _) = self.nearer.filter(|_| matches!(self.position, Position::At(_)))?;
        Some(node)
    }
}

enum Away {
    Offsets,
    Fetch(Vec<(TopicPartition, i64)>),
}

#[derive(Default)]
struct Node {
    host: String,
    port: u16,
    /// What was asked, and when.
    away: Option<(Away, Instant)>,
}

/// What has come of answers.
pub enum News {
    /// Records of a partition, to be read in this order.
    Batches(TopicPartition, Batches),
    /// Reading begins there.
    Begins(TopicPartition, i64),
    /// What lay between was there no more, or the partition was made anew.
    Missed { place: TopicPartition, wanted: i64, begins: i64 },
    /// It is tried again.
    Trouble(String),
}

pub struct Consumer {
    options: Options,
    partitions: BTreeMap<TopicPartition, Partition>,
    nodes: BTreeMap<i32, Node>,
    /// Of all partitions that are known; `None`: there is no leader at the moment.
    leaders: BTreeMap<TopicPartition, Option<i32>>,
    /// Needed although it may lead nothing.
    coordinator: Option<i32>,
    asked: Option<Instant>,
    known: Option<Instant>,
    is_stale: bool,
    /// Which partition is named first in the next request: all have their turn.
    turn: usize,
    /// Leaders are told no rack until then.
    leaders_until: Option<Instant>,
    /// There are partitions that were not there before.
    has_changed: bool,
    first: First,
    news: Vec<News>,
}

impl Consumer {
    pub fn new(options: Options) -> Consumer {
        let (partitions, nodes, leaders) = Default::default();
        Consumer {
            options,
            partitions,
            nodes,
            leaders,
            coordinator: None,
            asked: None,
            known: None,
            is_stale: false,
            turn: 0,
            leaders_until: None,
            has_changed: false,
            first: First::default(),
            news: Vec::new(),
        }
    }

    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Reads a partition from now on.
    pub fn assign(&mut self, place: TopicPartition, begin: Begin) {
        let wanted = |time| Position::Wanted { time, missed: None };
        let position = match begin {
            Begin::At(offset) => Position::At(offset.max(0)),
            Begin::Earliest => wanted(EARLIEST),
            Begin::Latest => wanted(LATEST),
        };
        self.partitions.insert(place, Partition { position, not_before: None, missing: 0, nearer: None });
    }

    /// Reads nothing any more.
    pub fn revoke_all(&mut self) {
        self.partitions.clear();
    }

    /// Reads these no more.
    pub fn revoke(&mut self, places: &[TopicPartition]) {
        self.partitions.retain(|place, _| !places.contains(place));
    }

    /// Something is not known of the cluster.
    pub fn is_out_of_date(&mut self) {
        self.is_stale = true;
    }

    pub fn is_assigned(&self, place: &TopicPartition) -> bool {
        self.partitions.contains_key(place)
    }

    /// All partitions of the cluster that are known.
    pub fn known(&self) -> impl Iterator<Item = &TopicPartition> {
        self.leaders.keys()
    }

    /// Whether there are more of them than when this was last asked.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    pub fn is_known(&self) -> bool {
        self.known.is_some()
    }

    /// Brokers that are known: id, host, port.
    pub fn nodes(&self) -> impl Iterator<Item = (i32, &str, u16)> {
        self.nodes.iter().map(|(id, node)| (*id, node.host.as_str(), node.port))
    }

    /// Whether a connection to a broker is of use.
    pub fn needs(&self, node: i32) -> bool {
        self.coordinator == Some(node)
            || self.partitions.iter().any(|(place, partition)| {
                self.leader(place) == Some(node) || partition.nearer() == Some(node)
            })
    }

    fn leader(&self, place: &TopicPartition) -> Option<i32> {
        self.leaders.get(place).copied().flatten()
    }

    /// A broker coordinates the group.
    pub fn coordinated_by(&mut self, node: i32, host: &str, port: u16) {
        self.coordinator = Some(node);
        let known = self.nodes.entry(node).or_default();
        (known.host, known.port) = (host.to_owned(), port);
    }

    /// A server that was asked in the name of the cluster is gone.
    pub fn cut_unknown(&mut self) {
        self.asked = None;
    }

    /// When the broker was asked what it has not answered yet.
    pub fn waits_since(&self, node: i32) -> Option<Instant> {
        self.nodes.get(&node)?.away.as_ref().map(|(_, since)| *since)
    }

    /// The connection to a broker is gone: what was asked of it is not answered.
    pub fn cut(&mut self, node: i32, now: Instant) {
        self.asked = None;
        self.is_stale = true;
        for partition in self.partitions.values_mut() {
            if partition.nearer.take_if(|(nearer, _)| *nearer == node).is_some() {
                self.leaders_until = Some(now + LEADERS_FOR);
            }
        }
        if let Some(node) = self.nodes.get_mut(&node) {
            node.away = None;
        }
    }

    /// What to ask a broker now. `unread`: bytes that wait to be read.
    pub fn next(&mut self, id: i32, unread: usize, now: Instant) -> Option<Ask> {
        if self.nodes.get(&id).is_none_or(|node| node.away.is_some()) {
            return None;
        }
        let Consumer { partitions, leaders, .. } = self;
        let (mut wanted, mut known) = (Vec::new(), Vec::new());
        for (place, partition) in partitions.iter_mut() {
            partition.nearer.take_if(|(_, until)| now >= *until);
            if partition.nearer().or_else(|| leaders.get(place).copied().flatten()) != Some(id) {
                continue;
            }
            if partition.not_before.is_some_and(|at| now < at) {
                continue;
            }
            partition.not_before = None;
            match partition.position {
                Position::Wanted { time, .. } => wanted.push((place.clone(), time)),
                Position::At(offset) => known.push((place.clone(), offset)),
            }
        }
        let (ask, away) = if !wanted.is_empty() {
            (Ask::Offsets(wanted), Away::Offsets)
        } else if known.is_empty() || unread >= self.options.unread_bytes_max {
            return None;
        } else {
            self.turn = self.turn.wrapping_add(1);
            let first = self.turn % known.len();
            known.rotate_left(first);
            let is_far = self.leaders_until.is_some_and(|until| now < until);
            let rack = if is_far { Arc::from("") } else { Arc::clone(&self.options.rack) };
            (Ask::Fetch(self.options.size, known.clone(), rack), Away::Fetch(known))
        };
        if let Some(node) = self.nodes.get_mut(&id) {
            node.away = Some((away, now));
        }
        Some(ask)
    }

    /// A broker has said where partitions begin or end.
    pub fn offsets(&mut self, node: i32, offsets: Vec<Offset>, now: Instant) {
        self.answered(node);
        for Offset { place, error, offset } in offsets {
            if error != 0 {
                self.failed(&place, error, now);
                continue;
            }
            let Some(partition) = self.partitions.get_mut(&place) else { continue };
            let Position::Wanted { missed, .. } = partition.position else { continue };
            partition.position = Position::At(offset.max(0));
            let begins = offset.max(0);
            self.news.push(match missed {
                Some(wanted) => News::Missed { place, wanted, begins },
                None => News::Begins(place, begins),
            });
        }
    }

    fn answered(&mut self, node: i32) -> Option<Away> {
        Some(self.nodes.get_mut(&node)?.away.take()?.0)
    }

    /// A broker has brought records.
    pub fn fetched(&mut self, node: i32, fetched: Fetched, now: Instant) {
        let asked = match self.answered(node) {
            Some(Away::Fetch(asked)) => asked,
            _ => return,
        };
        if fetched.error != 0 {
            self.news.push(News::Trouble(code::name(fetched.error).to_owned()));
        }
        for part in fetched.parts {
            // What was given to another reader, or is read from elsewhere now, is not for us.
            let from = asked.iter().find(|(place, _)| *place == part.place).map(|(_, offset)| *offset);
            let names_known = self.nodes.contains_key(&part.nearer);
            let known = self.partitions.get_mut(&part.place);
            if let (Some(from), Some(known)) = (from, known)
                && known.position == Position::At(from)
            {
                let was_nearer = known.nearer.take_if(|(nearer, _)| *nearer == node && part.error != 0);
                if was_nearer.is_some() {
                    self.leaders_until = Some(now + LEADERS_FOR);
                }
                let batches = fetched.bytes.get(part.batches.clone()).unwrap_or_default();
                match part.error {
                    0 => {
                        if part.nearer >= 0 && part.nearer != node {
                            match names_known {
                                true => known.nearer = Some((part.nearer, now + self.options.refresh)),
                                // It would be named again at once.
                                false => known.not_before = Some(now + AGAIN),
                            }
                            self.is_stale |= !names_known;
                        }
                        if let Some(end) = end_offset(batches) {
                            known.position = Position::At(end.max(from));
                            let Part { place, aborted, batches, .. } = part;
                            let answer = Arc::clone(&fetched.bytes);
                            let batches = Batches::new(answer, batches, from, aborted, self.options.reading);
                            self.news.push(News::Batches(place, batches));
                        }
                    }
                    // A copy may lack what the leader has.
                    OUT_OF_RANGE if was_nearer.is_some() => known.not_before = Some(now + AGAIN),
                    OUT_OF_RANGE => {
                        // The beginning, whether that is later, because what was there has had its time, or
                        // earlier, because the topic was made anew: nothing that is there is left out.
                        known.position = Position::Wanted { time: EARLIEST, missed: Some(from) };
                    }
                    error => self.failed(&part.place, error, now),
                }
            }
        }
    }

    fn failed(&mut self, place: &TopicPartition, error: i16, now: Instant) {
        if matches!(code::class(error), Class::Moved) {
            self.is_stale = true;
        }
        let topic = String::from_utf8_lossy(&place.topic).into_owned();
        let text = format!("topic {topic}, partition {}: {}", place.partition, code::name(error));
        self.news.push(News::Trouble(text));
        if let Some(partition) = self.partitions.get_mut(place) {
            partition.not_before = Some(now + AGAIN);
        }
    }
}

#[cfg(test)]
mod tests;
