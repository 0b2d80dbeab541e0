//! What is asked, as brokers answer by hand.

use super::*;
use crate::answers::{Broker, Metadata, PartitionMetadata, TopicMetadata};
use crate::batch::{self, Batch, Record};
use crate::compression::Compression;
use std::sync::Arc;

fn options() -> Options {
    Options {
        size: FetchSize {
            wait_ms: 500,
            bytes_min: 1,
            bytes_max: 1 << 20,
            partition_bytes_max: 1 << 20,
            committed_only: true,
        },
        reading: Reading { committed_only: true, checked: true },
        refresh: Duration::from_secs(300),
        unread_bytes_max: 1000,
        rack: "here".into(),
    }
}

fn at(partition: i32) -> TopicPartition {
    TopicPartition { topic: b"t"[..].into(), partition }
}

/// Broker 1 leads partition 0, broker 2 the partitions 1 and 2.
fn cluster(leaders: [Option<i32>; 3]) -> Metadata {
    let broker = |id| Broker { id, host: format!("b{id}"), port: 9092 };
    let partitions =
        leaders.iter().zip(0..).map(|(leader, index)| PartitionMetadata { index, leader: *leader });
    let topics = vec![TopicMetadata { error: 0, name: b"t".to_vec(), partitions: partitions.collect() }];
    Metadata { brokers: vec![broker(1), broker(2)], topics }
}

fn consumer(now: Instant) -> Consumer {
    let mut consumer = Consumer::new(options());
    assert!(consumer.wants_metadata(now));
    consumer.metadata_asked(now);
    assert!(!consumer.wants_metadata(now));
    consumer.metadata(cluster([Some(1), Some(2), Some(2)]), now);
    consumer
}

fn batch(count: usize, offset: i64) -> Vec<u8> {
    let mut batch = Batch::new(Vec::new());
    (0..count).for_each(|_| batch.add(Record::Value(b"x")));
    let mut bytes = batch.finish(Compression::None, 0).expect("packed");
    batch::seal(&mut bytes, None, false);
    bytes[..8].copy_from_slice(&offset.to_be_bytes());
    bytes
}

fn brings(place: TopicPartition, error: i16, bytes: Vec<u8>) -> Fetched {
    let batches = 0..bytes.len();
    let part = Part { place, error, end: 0, aborted: Vec::new(), nearer: -1, batches };
    Fetched { bytes: Arc::new(bytes), error: 0, parts: vec![part] }
}

#[test]
fn each_broker_is_asked_for_what_it_leads_from_where_reading_is() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    consumer.assign(at(1), Begin::Earliest);
    consumer.assign(at(2), Begin::Latest);
    let size = options().size;
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Fetch(size, vec![(at(0), 5)], "here".into())));
    assert_eq!(consumer.next(1, 0, now), None, "one is on its way");
    assert_eq!(consumer.next(2, 0, now), Some(Ask::Offsets(vec![(at(1), -2), (at(2), -1)])));
    let offset = |partition, offset| Offset { place: at(partition), error: 0, offset };
    consumer.offsets(2, vec![offset(1, 3), offset(2, 90)], now);
    let begins = consumer.news();
    assert!(matches!(&begins[..], [News::Begins(_, 3), News::Begins(_, 90)]));
    let Some(Ask::Fetch(_, mut places, _)) = consumer.next(2, 0, now) else { panic!("nothing asked") };
    places.sort();
    assert_eq!(places, [(at(1), 3), (at(2), 90)]);

    consumer.fetched(1, brings(at(0), 0, batch(10, 4)), now);
    let news = consumer.news();
    let [News::Batches(place, _)] = &news[..] else { panic!("no records") };
    assert_eq!(*place, at(0));
    assert_eq!(consumer.next(1, 1000, now), None, "enough waits to be read");
    assert_eq!(consumer.next(1, 999, now), Some(Ask::Fetch(size, vec![(at(0), 14)], "here".into())));
}

#[test]
fn what_is_read_from_elsewhere_meanwhile_is_not_taken() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    consumer.next(1, 0, now);
    consumer.assign(at(0), Begin::At(2));
    consumer.fetched(1, brings(at(0), 0, batch(1, 5)), now);
    assert!(consumer.news().is_empty());
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Fetch(options().size, vec![(at(0), 2)], "here".into())));
    // And what nobody reads any more.
    consumer.revoke_all();
    consumer.fetched(1, brings(at(0), 0, batch(1, 2)), now);
    assert!(consumer.news().is_empty() && consumer.next(1, 0, now).is_none());
}

#[test]
fn an_offset_that_is_not_there_becomes_the_first_one() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    consumer.next(1, 0, now);
    consumer.fetched(1, brings(at(0), OUT_OF_RANGE, Vec::new()), now);
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Offsets(vec![(at(0), EARLIEST)])));
    consumer.offsets(1, vec![Offset { place: at(0), error: 0, offset: 70 }], now);
    assert!(matches!(&consumer.news()[..], [News::Missed { wanted: 5, begins: 70, .. }]));
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Fetch(options().size, vec![(at(0), 70)], "here".into())));
}

#[test]
fn a_leader_that_has_moved_is_asked_for_and_a_lost_answer_asked_again() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    consumer.next(1, 0, now);
    consumer.fetched(1, brings(at(0), 6, Vec::new()), now);
    assert!(matches!(&consumer.news()[..], [News::Trouble(text)] if text.contains("NOT_LEADER")));
    assert_eq!(consumer.next(1, 0, now), None, "not at once");
    let later = now + AGAIN;
    assert!(consumer.wants_metadata(later));
    consumer.metadata(cluster([Some(2), None, None]), later);
    assert_eq!(consumer.next(1, 0, later), None);
    let fetch = Some(Ask::Fetch(options().size, vec![(at(0), 5)], "here".into()));
    assert_eq!(consumer.next(2, 0, later), fetch);
    consumer.cut(2, now);
    assert_eq!(consumer.next(2, 0, later), fetch);
    assert!(consumer.needs(2) && !consumer.needs(1));
    consumer.coordinated_by(1, "b1", 9092);
    assert!(consumer.needs(1));
}

fn names(place: TopicPartition, nearer: i32) -> Fetched {
    let mut fetched = brings(place, 0, Vec::new());
    fetched.parts[0].nearer = nearer;
    fetched
}

fn asks(consumer: &mut Consumer, node: i32, now: Instant) -> Option<(Vec<(TopicPartition, i64)>, String)> {
    match consumer.next(node, 0, now)? {
        Ask::Fetch(_, places, rack) => Some((places, rack.to_string())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_copy_that_is_nearer_is_read_for_a_while() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    let here = Some((vec![(at(0), 5)], "here".to_owned()));
    assert!(consumer.needs(1) && !consumer.needs(2));
    assert_eq!(asks(&mut consumer, 1, now), here);
    consumer.fetched(1, names(at(0), 2), now);
    assert!(consumer.needs(1) && consumer.needs(2));
    assert_eq!((asks(&mut consumer, 1, now), asks(&mut consumer, 2, now)), (None, here));
    consumer.fetched(2, brings(at(0), 0, batch(3, 5)), now);
    assert_eq!(consumer.news().len(), 1);
    // Then its leader is asked which is nearer now.
    let later = now + options().refresh;
    let there = Some((vec![(at(0), 8)], "here".to_owned()));
    assert_eq!((asks(&mut consumer, 2, later), asks(&mut consumer, 1, later)), (None, there));
}

#[test]
fn leaders_are_read_while_a_nearer_copy_cannot_be() {
    for fails in [
        |consumer: &mut Consumer, now| consumer.cut(2, now),
        |consumer: &mut Consumer, now| consumer.fetched(2, brings(at(0), 1, Vec::new()), now),
        |consumer: &mut Consumer, now| consumer.fetched(2, brings(at(0), 6, Vec::new()), now),
    ] {
        let now = Instant::now();
        let mut consumer = consumer(now);
        consumer.assign(at(0), Begin::At(5));
        asks(&mut consumer, 1, now);
        consumer.fetched(1, names(at(0), 2), now);
        asks(&mut consumer, 2, now);
        fails(&mut consumer, now);
        let soon = now + AGAIN;
        // Without a rack no copy is named; and what it lacks is not missed.
        assert_eq!(asks(&mut consumer, 1, soon), Some((vec![(at(0), 5)], String::new())));
        consumer.fetched(1, brings(at(0), 0, batch(1, 5)), soon);
        let later = now + LEADERS_FOR;
        assert_eq!(asks(&mut consumer, 1, later), Some((vec![(at(0), 6)], "here".to_owned())));
    }
}

#[test]
fn a_copy_of_a_broker_that_nobody_knows_is_not_waited_for() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(5));
    asks(&mut consumer, 1, now);
    consumer.fetched(1, names(at(0), 7), now);
    assert_eq!(asks(&mut consumer, 1, now), None, "it would be named again");
    assert!(consumer.wants_metadata(now + AGAIN));
    assert!(asks(&mut consumer, 1, now + AGAIN).is_some());
}

fn missing() -> Metadata {
    let topics = vec![TopicMetadata { error: 3, name: b"t".to_vec(), partitions: Vec::new() }];
    Metadata { topics, ..cluster([None; 3]) }
}

#[test]
fn a_topic_that_is_made_later_is_read_from_its_beginning() {
    let now = Instant::now();
    let mut consumer = Consumer::new(options());
    consumer.assign(at(0), Begin::Latest);
    // A broker that has only started knows nothing of its cluster, and says nothing of topics by that.
    consumer.metadata(Metadata { brokers: Vec::new(), ..missing() }, now);
    assert!(!consumer.is_new(b"t"));
    consumer.metadata(missing(), now);
    assert!(consumer.is_new(b"t"));
    consumer.metadata(cluster([Some(1), Some(2), Some(2)]), now);
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Offsets(vec![(at(0), -2)])));
    assert!(consumer.is_new(b"t"), "it still is when more of it is read");
}

#[test]
fn so_is_a_partition_that_is_not_there_yet() {
    let now = Instant::now();
    let mut consumer = Consumer::new(options());
    let places = [at(0), TopicPartition { topic: b"t"[..].into(), partition: 3 }];
    places.iter().for_each(|place| consumer.assign(place.clone(), Begin::Latest));
    consumer.metadata(cluster([Some(1), Some(2), Some(2)]), now);
    assert!(!consumer.is_new(b"t"));
    let mut grown = cluster([Some(1), Some(2), Some(2)]);
    grown.topics[0].partitions.push(PartitionMetadata { index: 3, leader: Some(1) });
    consumer.metadata(grown, now);
    let [first, later] = places;
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Offsets(vec![(first, -1), (later, -2)])));
}

#[test]
fn a_topic_that_is_made_anew_is_read_from_its_beginning() {
    let now = Instant::now();
    let mut consumer = consumer(now);
    consumer.assign(at(0), Begin::At(100));
    consumer.metadata(missing(), now);
    consumer.metadata(cluster([Some(1), Some(2), Some(2)]), now);
    let Some(Ask::Fetch(_, places, _)) = consumer.next(1, 0, now) else { panic!("one answer says nothing") };
    assert_eq!(places, [(at(0), 100)]);
    consumer.cut(1, now);
    consumer.metadata(missing(), now);
    consumer.metadata(missing(), now);
    consumer.metadata(cluster([Some(1), Some(2), Some(2)]), now);
    assert_eq!(consumer.next(1, 0, now), Some(Ask::Offsets(vec![(at(0), -2)])));
    consumer.news();
    consumer.offsets(1, vec![Offset { place: at(0), error: 0, offset: 0 }], now);
    assert!(matches!(&consumer.news()[..], [News::Missed { wanted: 100, begins: 0, .. }]));
}
