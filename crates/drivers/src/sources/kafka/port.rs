//! The reader of a cluster: it makes batches of what brokers bring, and moves bookmarks behind what was
//! dealt with.

mod leaving;
mod membership;

use super::bookmarks::{Bookmark, Caller};
use super::brokers::Brokers;
use super::messages::Messages;
use super::topics::Topics;
use delivery::link::Owner;
use delivery::target::Nudge;
use engine::hand_over::Part;
use engine::ledger::Reason;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read};
use kafka::{Batches, Begin, ConsumerOptions, GroupOptions, News, RecordAt, TopicPartition, Unreadable};
use kafka_client::{Dial, Server};
use leaving::Farewell;
use oplog::Level;
use record::Context;
use state::Store;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Messages of one batch, and bytes after which it is full.
const BATCH_MESSAGES: usize = 2048;
const BATCH_BYTES: usize = 256 * 1024;
/// Batches in one turn; then the worker's other ports have theirs.
const TURN_BATCHES: usize = 4;

/// Where bookmarks are kept, and where reading begins.
#[derive(Clone, Copy, Debug)]
pub struct Bookmarking {
    pub local: bool,
    pub remote: bool,
    /// Those there are do not count.
    pub ignored: bool,
    pub read_old: bool,
}

/// What a reader is made of.
pub struct Parts {
    pub dial: Arc<Dial>,
    pub servers: Arc<[Server]>,
    pub topics: Arc<Topics>,
    pub consumer: ConsumerOptions,
    pub group: Option<GroupOptions>,
    pub commit: Duration,
    pub bookmarks: Bookmarking,
    pub metadata: bool,
    pub encoding: Option<conf_schema::Encoding>,
    pub fetch_limit: usize,
    pub window_messages: Option<usize>,
    pub key: String,
    pub store: Arc<Store>,
    pub context: Arc<Context>,
    pub source: Arc<Source>,
}

/// What is given back.
pub(super) struct Revoking {
    pub since: Instant,
    /// `None`: all of it.
    pub places: Option<Vec<TopicPartition>>,
}

impl Revoking {
    pub fn has(&self, place: &TopicPartition) -> bool {
        self.places.as_ref().is_none_or(|places| places.contains(place))
    }
}

/// A partition that is read.
pub(super) struct Reader {
    pub bookmark: Arc<Bookmark>,
    /// The offset that was committed last.
    pub committed: Option<i64>,
}

pub struct KafkaPort {
    parts: Parts,
    pub(super) brokers: Brokers,
    pub(super) readers: BTreeMap<TopicPartition, Reader>,
    unread: VecDeque<(TopicPartition, Batches)>,
    unread_bytes: usize,
    messages: Messages,
    records: Vec<RecordAt>,
    feed: Feed,
    caller: Arc<Caller>,
    /// Partitions were assigned once: those that come later are read from their beginnings.
    pub(super) has_begun: bool,
    pub(super) committed_at: Instant,
    /// A rebalance waits for what is under way.
    pub(super) revoking: Option<Revoking>,
    pub(super) farewell: Option<Farewell>,
    queued: bool,
}

impl KafkaPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> KafkaPort {
        let waker = cx.handle.waker(token);
        let nudge = Arc::new(Nudge::port(Arc::clone(&waker)));
        let seat = Owner { home: cx.handle.clone(), token, nudge };
        let reached = (Arc::clone(&parts.dial), Arc::clone(&parts.servers), Arc::clone(&parts.topics));
        let mut port = KafkaPort {
            brokers: Brokers::new(seat, reached, parts.consumer.clone(), parts.group.clone()),
            messages: Messages::new(parts.metadata, parts.encoding),
            feed: Feed::new(Arc::clone(&parts.source), parts.window_messages, cx, token),
            parts,
            readers: BTreeMap::new(),
            unread: VecDeque::new(),
            unread_bytes: 0,
            records: Vec::new(),
            caller: Arc::new(Caller::new(waker)),
            has_begun: false,
            committed_at: Instant::now(),
            revoking: None,
            farewell: None,
            queued: false,
        };
        port.begin(port.parts.topics.places());
        port
    }

    /// Reads these partitions too, if they are new.
    fn begin(&mut self, mut places: Vec<TopicPartition>) {
        places.retain(|place| !self.readers.contains_key(place));
        if places.is_empty() {
            return;
        }
        if self.parts.bookmarks.remote
            && let Some(group) = &mut self.brokers.group
        {
            // They begin where the cluster says.
            return group.want(places);
        }
        for place in places {
            self.read(place, None);
        }
    }

    /// Begins to read a partition. `committed`: where the cluster says.
    fn read(&mut self, place: TopicPartition, committed: Option<i64>) {
        let how = self.parts.bookmarks;
        let of_source = (&self.parts.store, self.parts.key.as_str());
        let is_later = self.has_begun
            || self.brokers.consumer.is_new(&place.topic)
            || how.local && Bookmark::is_any(of_source.0, of_source.1, &place.topic);
        let (bookmark, known) = Bookmark::open(of_source, &place, how.local, Arc::clone(&self.caller));
        let known = match committed {
            // What a reader of this process has under way is not read again.
            Some(committed) => {
                Some(known.filter(|known| *known > committed && !bookmark.is_idle()).unwrap_or(committed))
            }
            None if how.local => known,
            None => None,
        };
        let begin = match known.filter(|_| !how.ignored) {
            Some(offset) => Begin::At(offset),
            // A partition that has come later has nothing that was there before.
            None if how.read_old || is_later && !how.ignored => Begin::Earliest,
            None => Begin::Latest,
        };
        if let (Begin::At(offset), true) = (begin, bookmark.is_idle()) {
            bookmark.begin(offset);
        }
        self.brokers.consumer.assign(place.clone(), begin);
        self.readers.insert(place, Reader { bookmark, committed });
    }

    /// Nothing is read any more.
    pub(super) fn stop_reading(&mut self) {
        self.brokers.consumer.revoke_all();
        self.unread.clear();
        self.unread_bytes = 0;
    }

    /// These are not read any more.
    pub(super) fn stop_reading_of(&mut self, places: &[TopicPartition]) {
        self.brokers.consumer.revoke(places);
        self.unread.retain(|(of, _)| !places.contains(of));
        self.unread_bytes = self.unread.iter().map(|(_, batches)| batches.bytes()).sum();
    }

    fn hear_news(&mut self, now: Instant) {
        let alone = self.brokers.group.is_none() && self.parts.topics.is_subscription();
        if alone && self.brokers.consumer.take_changed() {
            let places = self.brokers.places();
            self.begin(places);
            self.has_begun |= !self.readers.is_empty();
        }
        for news in self.brokers.consumer.news() {
            match news {
                News::Batches(place, batches) => {
                    self.unread_bytes += batches.bytes();
                    self.unread.push_back((place, batches));
                }
                News::Begins(place, offset) => {
                    self.readers.get(&place).iter().for_each(|reader| reader.bookmark.begin(offset));
                }
                News::Missed { place, wanted, begins } => self.missed(&place, wanted, begins),
                News::Trouble(why) => {
                    self.brokers.say("Kafka does not give messages now, they are asked for again", &why, now)
                }
            }
        }
        let news = self.brokers.group.as_mut().map(kafka::Group::news).unwrap_or_default();
        for news in news {
            self.hear_of_group(news, now);
        }
        self.go_back();
    }

    fn missed(&mut self, place: &TopicPartition, wanted: i64, begins: i64) {
        let text = match begins > wanted {
            true => "Messages of a Kafka partition are there no more, reading goes on behind them",
            false => "A Kafka partition was made anew, it is read from its beginning",
        };
        let fields: [oplog::Field<'_>; 3] =
            [("partition", &shown(place)), ("wanted", &wanted), ("begins", &begins)];
        oplog::limited("kafka-missed", Level::Error, text, &fields);
        self.readers.get(place).iter().for_each(|reader| reader.bookmark.begin(begins));
    }

    /// What has come back is read again.
    fn go_back(&mut self) {
        if self.revoking.is_some() || self.farewell.is_some() || !self.caller.take_back() {
            return;
        }
        for (place, reader) in &self.readers {
            if let Some(offset) = reader.bookmark.take_undone() {
                self.unread.retain(|(of, _)| of != place);
                self.brokers.consumer.assign(place.clone(), Begin::At(offset));
            }
        }
        self.unread_bytes = self.unread.iter().map(|(_, batches)| batches.bytes()).sum();
    }

    /// Makes one batch of records of one partition. Returns how many it has.
    fn step(&mut self, cx: &mut PortContext) -> usize {
        let began = Instant::now();
        let Some((place, mut batches)) = self.unread.pop_front() else { return 0 };
        let before = batches.bytes();
        let Some(reader) = self.readers.get(&place) else {
            self.unread_bytes = self.unread_bytes.saturating_sub(before);
            return 0;
        };
        let bookmark = Arc::clone(&reader.bookmark);
        let mut batch = cx.batch();
        batch.contexts.push(Arc::clone(&self.parts.context));
        self.messages.begin_batch(&self.parts.source);
        let (mut bytes, mut is_over) = (0, false);
        while bytes < BATCH_BYTES && batch.records.len() < BATCH_MESSAGES {
            let room = (BATCH_BYTES - bytes, BATCH_MESSAGES - batch.records.len());
            self.records.clear();
            let begin = batch.text.len();
            match batches.take(room, &mut batch.text, &mut self.records) {
                Ok(true) => {
                    bytes += batch.text.len() - begin;
                    self.messages.append(&mut batch, &place, &self.records);
                }
                Ok(false) => {
                    is_over = true;
                    break;
                }
                Err(unreadable) => left_out(&self.parts.source, &place, &unreadable),
            }
        }
        let (end, left) = (batches.end(), if is_over { 0 } else { batches.bytes() });
        // Unpacked, they may be more.
        self.unread_bytes = (self.unread_bytes + left).saturating_sub(before);
        if !is_over {
            self.unread.push_front((place, batches));
        }
        let messages = batch.records.len();
        let mark = Some(bookmark.mark(end));
        let busy = self.unread_bytes >= BATCH_BYTES;
        self.feed.run_marked(batch, Read { bytes, busy, began, mark }, cx);
        messages
    }
}

fn shown(place: &TopicPartition) -> String {
    format!("{}/{}", String::from_utf8_lossy(&place.topic), place.partition)
}

fn left_out(source: &Source, place: &TopicPartition, unreadable: &Unreadable) {
    source.counters.received.add(unreadable.records);
    source.counters.dropped.add(Reason::Framing, unreadable.records);
    let bytes = std::iter::once(unreadable.bytes.as_slice());
    source.counters.remains.keep(Reason::Framing, unreadable.records, bytes);
    let fields: [oplog::Field<'_>; 4] = [
        ("partition", &shown(place)),
        ("offset", &unreadable.offset),
        ("messages", &unreadable.records),
        ("reason", &unreadable.why),
    ];
    oplog::limited(
        "kafka-unreadable",
        Level::Error,
        "A batch of Kafka cannot be read, it is left out",
        &fields,
    );
}

impl Port for KafkaPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let now = Instant::now();
        self.brokers.drive(self.unread_bytes, now);
        self.hear_news(now);
        self.look_after_the_group(now);
        if self.farewell.is_some() {
            return self.go_on_leaving(now);
        }
        let mut fetched = 0;
        for _ in 0..TURN_BATCHES {
            if self.unread.is_empty() || fetched >= self.parts.fetch_limit || !self.feed.may_read() {
                break;
            }
            fetched += self.step(cx);
        }
        // What was read has made room.
        self.brokers.drive(self.unread_bytes, now);
        self.hear_news(now);
        match !self.unread.is_empty() && self.feed.may_read() {
            true => After::Again,
            false => After::Idle,
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// Pauses end, offsets are committed, members of a group show that they are there.
    fn retry(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Instant) -> bool {
        self.farewell.as_ref().is_none_or(|farewell| !farewell.leaving.is_over(now))
    }

    fn leave(&mut self, cx: &mut PortContext) -> bool {
        self.begin_leaving(cx)
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.farewell.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        self.brokers.close();
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.farewell.is_none().then_some(&self.parts.source)
    }
}
