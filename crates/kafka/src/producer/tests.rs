//! A cluster that keeps account as Kafka's brokers do: it checks numbers, knows what it has already, moves
//! partitions, loses answers, forgets producers. Everything is in the log once and in order, whatever
//! happens; where a broker forgot the producer, at least once.

use super::*;
use crate::answers::{Broker, Metadata, PartitionMetadata, TopicMetadata, Written};
use crate::batch::envelope;
use crate::varint;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PARTITIONS: usize = 3;
const NODES: i32 = 2;

/// What a broker remembers of a producer: epoch, and the first and last sequences of its last batches.
type Remembered = (i16, VecDeque<(i32, i32)>);

#[derive(Default)]
struct Log {
    values: Vec<String>,
    producers: HashMap<i64, Remembered>,
    leader: i32,
}

struct Cluster {
    logs: Vec<Log>,
    /// Answers that are not given yet.
    away: VecDeque<(i32, Produce)>,
    now: Instant,
    next_producer: i64,
    /// A batch with more records is too large, and this value is bad.
    records_max: usize,
    names_bad: bool,
}

fn be(bytes: &[u8], at: usize, length: usize) -> i64 {
    bytes[at..at + length].iter().fold(0, |n, byte| n << 8 | i64::from(*byte))
}

fn values(batch: &[u8]) -> Vec<String> {
    let (mut rest, mut found) = (&batch[61..], Vec::new());
    while !rest.is_empty() {
        let length = varint::take(&mut rest).expect("length") as usize;
        let (mut record, behind) = rest.split_at(length);
        rest = behind;
        record = &record[2..];
        varint::take(&mut record).expect("place");
        let key = varint::take(&mut record).expect("key");
        record = &record[key.max(0) as usize..];
        let length = varint::take(&mut record).expect("value") as usize;
        found.push(String::from_utf8(record[..length].to_vec()).expect("text"));
    }
    found
}

fn is_bad(value: &str) -> bool {
    value.contains("13")
}

impl Cluster {
    fn new() -> Cluster {
        let logs = (0..PARTITIONS).map(|at| Log { leader: at as i32 % NODES, ..Log::default() });
        Cluster {
            logs: logs.collect(),
            away: VecDeque::new(),
            now: Instant::now(),
            next_producer: 1,
            records_max: usize::MAX,
            names_bad: true,
        }
    }

    /// A broker writes a batch, or says why not.
    fn write(&mut self, node: i32, going: &Going) -> Written {
        let log = &mut self.logs[going.partition as usize];
        let written = |error, bad| Written {
            topic: going.topic.to_vec(),
            partition: going.partition,
            error,
            offset: None,
            bad,
            words: String::new(),
        };
        if log.leader != node {
            return written(6, vec![]);
        }
        let values = values(&going.bytes);
        if values.len() > self.records_max {
            return written(10, vec![]);
        }
        let bad: Vec<_> = values.iter().enumerate().filter(|(_, v)| is_bad(v)).collect();
        if !bad.is_empty() && (!self.names_bad || values.len() > 1) {
            let named = bad.iter().filter(|_| self.names_bad).map(|(at, _)| (*at, "bad".to_owned()));
            return written(87, named.collect());
        }
        if !bad.is_empty() {
            return written(87, vec![]);
        }
        let (producer, epoch) = (be(&going.bytes, 43, 8), be(&going.bytes, 51, 2) as i16);
        let first = be(&going.bytes, 53, 4) as i32;
        let last = first + values.len() as i32 - 1;
        let known = log.producers.entry(producer).or_insert_with(|| (epoch, VecDeque::new()));
        if known.1.contains(&(first, last)) {
            return written(0, vec![]);
        }
        let expected = known.1.back().map(|(_, last)| last + 1);
        match expected {
            // Of a producer that it does not know, a broker takes any number.
            Some(expected) if expected != first => return written(45, vec![]),
            _ => {}
        }
        known.1.push_back((first, last));
        if known.1.len() > 5 {
            known.1.pop_front();
        }
        log.values.extend(values);
        written(0, vec![])
    }

    /// Sends whatever may go, to brokers that are there.
    fn turn(&mut self, producer: &mut Producer) {
        for node in 0..NODES {
            if producer.nodes.is_empty() {
                producer.metadata_asked(self.now);
                self.tell(producer);
            }
            producer.ready(node);
        }
        if producer.wants_metadata(self.now).is_some() {
            producer.metadata_asked(self.now);
            self.tell(producer);
        }
        if producer.wants_identity(self.now) {
            producer.identity_asked();
            self.next_producer += 1;
            producer.identity(Ok((self.next_producer, 0)), self.now);
        }
        for node in 0..NODES {
            while let Some(produce) = producer.next_request(node, self.now) {
                assert!(self.away.iter().filter(|(to, _)| *to == node).count() < IN_FLIGHT_MAX);
                self.away.push_back((node, produce));
            }
        }
    }

    fn tell(&self, producer: &mut Producer) {
        let partition =
            |(at, log): (usize, &Log)| PartitionMetadata { index: at as i32, leader: Some(log.leader) };
        let topics = producer.topics.iter().map(|topic| TopicMetadata {
            error: 0,
            name: topic.name.to_vec(),
            partitions: self.logs.iter().enumerate().map(partition).collect(),
        });
        let topics = topics.collect();
        let brokers = (0..NODES).map(|id| Broker { id, host: "h".to_owned(), port: 1 }).collect();
        producer.metadata(Metadata { brokers, topics }, 0, self.now);
    }

    /// The oldest request to a node is written, and answered.
    fn answer(&mut self, producer: &mut Producer, which: usize) {
        let node = which as i32 % NODES;
        let Some(at) = self.away.iter().position(|(to, _)| *to == node) else { return };
        let Some((node, produce)) = self.away.remove(at) else { return };
        let written: Vec<Written> = produce.batches.iter().map(|going| self.write(node, going)).collect();
        producer.answered(produce.tag, &written, self.now);
    }

    /// A broker is cut off: of what is on the way to it, so many requests are written, and none is answered.
    fn cut(&mut self, producer: &mut Producer, which: usize, written: usize) {
        let node = which as i32 % NODES;
        let (to, rest): (Vec<_>, Vec<_>) = self.away.drain(..).partition(|(to, _)| *to == node);
        self.away = rest.into();
        for (node, produce) in to.into_iter().take(written) {
            produce.batches.iter().for_each(|going| drop(self.write(node, going)));
        }
        producer.cut(node);
    }

    /// A request fails in a way that says nothing was written.
    fn busy(&mut self, producer: &mut Producer, which: usize) {
        let node = which as i32 % NODES;
        let Some(at) = self.away.iter().position(|(to, _)| *to == node) else { return };
        let Some((_, produce)) = self.away.remove(at) else { return };
        let written: Vec<Written> = produce
            .batches
            .iter()
            .map(|going| Written {
                topic: going.topic.to_vec(),
                partition: going.partition,
                error: 19,
                offset: None,
                bad: vec![],
                words: String::new(),
            })
            .collect();
        producer.answered(produce.tag, &written, self.now);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Begin(usize),
    Turn,
    Answer(usize),
    Busy(usize),
    Cut(usize, usize),
    Move(usize),
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1usize..12).prop_map(Op::Begin),
        4 => Just(Op::Turn),
        6 => (0usize..2).prop_map(Op::Answer),
        1 => (0usize..2).prop_map(Op::Busy),
        1 => (0usize..2, 0usize..4).prop_map(|(which, written)| Op::Cut(which, written)),
        1 => (0usize..PARTITIONS).prop_map(Op::Move),
        2 => (1u64..2000).prop_map(Op::Pass),
    ]
}

struct Bench {
    producer: Producer,
    cluster: Cluster,
    jobs: BTreeMap<u32, Vec<usize>>,
    next_id: u32,
    messages: usize,
    delivered: Vec<usize>,
    refused: Vec<usize>,
    /// To be sent again, as jobs.
    back: VecDeque<Vec<usize>>,
}

impl Bench {
    fn new(cluster: Cluster) -> Bench {
        let options = Options { topic: b"t".to_vec(), enveloped: true, ..Options::default() };
        Bench {
            producer: Producer::new(options),
            cluster,
            jobs: BTreeMap::new(),
            next_id: 0,
            messages: 0,
            delivered: Vec::new(),
            refused: Vec::new(),
            back: VecDeque::new(),
        }
    }

    /// Messages have one of seven keys; each seventh has none.
    fn begin(&mut self, numbers: Vec<usize>) {
        let stored = numbers.iter().map(|n| {
            let mut out = Vec::new();
            let key = if n % 7 == 0 { String::new() } else { format!("key{}", n % 7) };
            envelope::begin(&mut out, b"", key.as_bytes(), n.to_string().as_bytes(), 0);
            out
        });
        let stored: Vec<Vec<u8>> = stored.collect();
        let slices: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
        self.next_id += 1;
        self.producer.begin(self.next_id, &slices, 0);
        self.jobs.insert(self.next_id, numbers);
    }

    fn fresh(&mut self, count: usize) {
        if self.producer.room() > 0 {
            let numbers = (self.messages..self.messages + count).collect();
            self.messages += count;
            self.begin(numbers);
        }
    }

    fn hear(&mut self) {
        for (id, fate) in self.producer.fates() {
            let numbers = self.jobs.remove(&id).expect("a job");
            match fate {
                Fate::Delivered => self.delivered.extend(numbers),
                Fate::Judged(verdicts) => {
                    assert_eq!(verdicts.len(), numbers.len());
                    let mut again = Vec::new();
                    for (n, verdict) in numbers.into_iter().zip(verdicts) {
                        match verdict {
                            None => self.delivered.push(n),
                            Some((Why::Refused, _)) => self.refused.push(n),
                            Some((Why::Again, _)) => again.push(n),
                        }
                    }
                    self.back.extend(Some(again).filter(|again| !again.is_empty()));
                }
                Fate::Split(_) => {
                    assert!(numbers.len() > 1);
                    let (first, second) = numbers.split_at(numbers.len() / 2);
                    self.back.extend([first.to_vec(), second.to_vec()]);
                }
                other => panic!("{other:?}"),
            }
        }
        while let Some(numbers) = self.back.pop_front() {
            self.begin(numbers);
        }
    }

    fn step(&mut self, op: Op) {
        match op {
            Op::Begin(count) => self.fresh(count),
            Op::Turn => self.cluster.turn(&mut self.producer),
            Op::Answer(which) => self.cluster.answer(&mut self.producer, which),
            Op::Busy(which) => self.cluster.busy(&mut self.producer, which),
            Op::Cut(which, written) => self.cluster.cut(&mut self.producer, which, written),
            Op::Move(at) => self.cluster.logs[at].leader = (self.cluster.logs[at].leader + 1) % NODES,
            Op::Pass(ms) => self.cluster.now += Duration::from_millis(ms),
        }
        self.hear();
    }

    fn drain(&mut self) {
        for _ in 0..5_000 {
            if self.producer.is_idle() {
                assert_eq!(self.producer.held_bytes(), 0);
                return;
            }
            for op in [Op::Turn, Op::Answer(0), Op::Answer(1), Op::Pass(1500)] {
                self.step(op);
            }
        }
        panic!("it does not come to an end");
    }

    /// Values in the logs, by partition.
    fn logs(&self) -> Vec<Vec<usize>> {
        let number = |value: &String| value.parse().expect("a number");
        self.cluster.logs.iter().map(|log| log.values.iter().map(number).collect()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn everything_is_written_once_and_in_order(ops in prop::collection::vec(op(), 1..150)) {
        let mut cluster = Cluster::new();
        cluster.names_bad = false;
        let mut bench = Bench::new(cluster);
        // No message is bad here.
        for op in ops {
            let op = if let Op::Begin(count) = op {
                if (bench.messages..bench.messages + count).any(|n| is_bad(&n.to_string())) {
                    bench.messages += count;
                    continue;
                }
                Op::Begin(count)
            } else { op };
            bench.step(op);
        }
        bench.drain();
        let logs = bench.logs();
        let mut all: Vec<usize> = logs.concat();
        all.sort_unstable();
        bench.delivered.sort_unstable();
        prop_assert_eq!(&all, &bench.delivered, "what is said to be delivered is there once");
        prop_assert!(bench.refused.is_empty());
        for log in &logs {
            for key in 1..7 {
                let of_key = log.iter().filter(|n| *n % 7 == key);
                prop_assert!(of_key.is_sorted(), "{:?}", log);
            }
        }
    }

    #[test]
    fn bad_and_too_large_ones_are_told_apart(
        ops in prop::collection::vec(op(), 1..150),
        records_max in 1usize..8,
        names_bad: bool,
    ) {
        let mut bench = Bench::new(Cluster { records_max, names_bad, ..Cluster::new() });
        ops.into_iter().for_each(|op| bench.step(op));
        bench.drain();
        let (bad, good): (Vec<usize>, Vec<usize>) = (0..bench.messages).partition(|n| is_bad(&n.to_string()));
        let mut all = bench.logs().concat();
        all.sort_unstable();
        bench.delivered.sort_unstable();
        bench.refused.sort_unstable();
        prop_assert_eq!((&all, &bench.delivered), (&good, &good));
        prop_assert_eq!(&bench.refused, &bad);
    }
}

#[test]
fn a_broker_that_forgot_the_producer_costs_nothing() {
    let mut bench = Bench::new(Cluster::new());
    for round in 0..6 {
        bench.fresh(4);
        bench.step(Op::Turn);
        if round == 3 {
            // It knows of a later batch only: what comes now is out of order for it.
            for log in &mut bench.cluster.logs {
                log.producers.values_mut().for_each(|known| known.1 = [(100, 200)].into());
            }
        }
        bench.drain();
    }
    let mut all = bench.logs().concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), bench.messages - usize::from(bench.refused.contains(&13)));
}

#[test]
fn without_a_broker_or_a_topic_messages_are_given_back() {
    let mut producer = Producer::new(Options { topic: b"t".to_vec(), ..Options::default() });
    assert!(producer.room() > 0);
    producer.begin(1, &[b"a"], 0);
    assert!(!producer.is_bound() && producer.held_bytes() == 1);
    producer.give_back(&Fate::Away("no broker".into()));
    assert_eq!(producer.fates(), [(1, Fate::Away("no broker".into()))]);
    assert!(producer.is_idle() && producer.held_bytes() == 0);

    let mut now = Instant::now();
    producer.begin(2, &[b"a"], 0);
    let unknown = || Metadata {
        brokers: vec![Broker { id: 0, host: "h".into(), port: 1 }],
        topics: vec![TopicMetadata { error: 3, name: b"t".to_vec(), partitions: vec![] }],
    };
    producer.metadata(unknown(), 0, now);
    assert_eq!(producer.fates(), [], "it may be about to be made");
    assert_eq!(producer.trouble().as_deref(), Some("topic t: UNKNOWN_TOPIC_OR_PARTITION"));
    now += Duration::from_secs(11);
    assert!(producer.wants_metadata(now).is_some());
    producer.metadata(unknown(), 0, now);
    assert_eq!(producer.fates(), [(2, Fate::Hold("topic t: UNKNOWN_TOPIC_OR_PARTITION".into()))]);
    producer.begin(3, &[b"a"], 0);
    let mut known = unknown();
    known.topics[0].error = 0;
    known.topics[0].partitions = vec![PartitionMetadata { index: 0, leader: Some(0) }];
    producer.metadata(known, 0, now);
    producer.ready(0);
    producer.identity_asked();
    producer.identity(Ok((1, 0)), now);
    assert_eq!(producer.next_request(0, now).expect("one").batches.len(), 1);
}

#[test]
fn a_message_that_was_stored_by_others_is_refused() {
    let mut bench = Bench::new(Cluster::new());
    bench.step(Op::Turn);
    bench.producer.begin(77, &[b"plain text"], 0);
    let fates = bench.producer.fates();
    assert!(
        matches!(&fates[..], [(77, Fate::Judged(v))] if matches!(v[0], Some((Why::Refused, _)))),
        "{fates:?}"
    );
}

#[test]
fn a_topic_that_is_named_while_the_cluster_is_asked_is_asked_for_too() {
    let now = Instant::now();
    let options = Options { topic: b"other".to_vec(), enveloped: true, ..Options::default() };
    let mut producer = Producer::new(options);
    assert_eq!(producer.wants_metadata(now), Some(vec![Box::from(&b"other"[..])]));
    producer.metadata_asked(now);
    let mut message = Vec::new();
    envelope::begin(&mut message, b"named", b"", b"value", 0);
    producer.begin(1, &[&message], 0);
    let partitions = vec![PartitionMetadata { index: 0, leader: Some(0) }];
    let topics = vec![TopicMetadata { error: 0, name: b"other".to_vec(), partitions }];
    producer.metadata(Metadata { brokers: vec![], topics }, 0, now);
    let due = producer.due(now).expect("it is asked again");
    let topics = producer.wants_metadata(due).expect("now");
    assert!(topics.contains(&Box::from(&b"named"[..])), "{topics:?}");
}

/// A topic that is deleted and made anew with fewer partitions.
#[test]
fn what_waits_for_partitions_that_are_gone_goes_to_others() {
    let now = Instant::now();
    let of = |count: i32| Metadata {
        brokers: vec![Broker { id: 0, host: "h".to_owned(), port: 1 }],
        topics: vec![TopicMetadata {
            error: 0,
            name: b"t".to_vec(),
            partitions: (0..count).map(|index| PartitionMetadata { index, leader: Some(0) }).collect(),
        }],
    };
    let keyed = |n: usize| {
        let mut out = Vec::new();
        envelope::begin(&mut out, b"", format!("key{n}").as_bytes(), b"x", 0);
        out
    };
    let stored: Vec<Vec<u8>> = (0..50).map(keyed).collect();
    let messages: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
    let options = Options { topic: b"t".to_vec(), enveloped: true, ..Options::default() };
    let mut producer = Producer::new(options);
    producer.metadata(of(6), 0, now);
    producer.begin(1, &messages, 0);
    // A broker that hears late of things names fewer for a moment.
    producer.metadata(of(2), 0, now);
    assert_eq!((producer.fates(), producer.due(now).is_some()), (vec![], true));
    producer.begin(2, &messages, 0);
    assert!(producer.waiting().iter().filter(|place| place.partition > 1).count() == 4);
    producer.ready(0);
    producer.identity_asked();
    producer.identity(Ok((7, 0)), now);
    let Some(produce) = producer.next_request(0, now) else { panic!("what is there goes") };
    let fine = produce.batches.iter().map(|going| Written {
        topic: going.topic.to_vec(),
        partition: going.partition,
        error: 0,
        offset: None,
        bad: vec![],
        words: String::new(),
    });
    producer.answered(produce.tag, &fine.collect::<Vec<_>>(), now);
    producer.metadata(of(2), 0, now + Duration::from_secs(10));
    let fates = producer.fates();
    let Some((1, Fate::Judged(verdicts))) = fates.iter().find(|(id, _)| *id == 1) else {
        panic!("{fates:?}")
    };
    assert!(verdicts.iter().any(Option::is_none));
    assert!(verdicts.iter().flatten().all(|(why, _)| *why == Why::Again));
    assert!(producer.waiting().iter().all(|place| place.partition < 2));
}

/// As `__consumer_offsets`, or a name that another one is taken for.
#[test]
fn what_brokers_call_no_topic_goes_to_the_one_of_all_messages() {
    let now = Instant::now();
    let topic = |name: &[u8], error: i16| TopicMetadata {
        error,
        name: name.to_vec(),
        partitions: vec![PartitionMetadata { index: 0, leader: Some(0) }],
    };
    let brokers = || vec![Broker { id: 0, host: "h".to_owned(), port: 1 }];
    let stored = |name: &[u8]| {
        let mut out = Vec::new();
        envelope::begin(&mut out, name, b"", b"x", 0);
        out
    };
    // Said when the cluster is asked, or only when something is written.
    for said_first in [true, false] {
        let options = Options { topic: b"fallback".to_vec(), enveloped: true, ..Options::default() };
        let mut producer = Producer::new(options);
        let (good, bad) = (stored(b"good"), stored(b"bad"));
        producer.begin(1, &[&good, &bad], 0);
        let topics =
            vec![topic(b"fallback", 0), topic(b"good", 0), topic(b"bad", if said_first { 17 } else { 0 })];
        producer.metadata(Metadata { brokers: brokers(), topics }, 0, now);
        producer.ready(0);
        producer.identity_asked();
        producer.identity(Ok((7, 0)), now);
        let Some(produce) = producer.next_request(0, now) else { panic!("something goes") };
        let written = |going: &Going| Written {
            topic: going.topic.to_vec(),
            partition: going.partition,
            error: if *going.topic == *b"bad" { 17 } else { 0 },
            offset: None,
            bad: vec![],
            words: String::new(),
        };
        producer.answered(produce.tag, &produce.batches.iter().map(written).collect::<Vec<_>>(), now);
        let went =
            |produce: &Produce| produce.batches.iter().map(|going| going.topic.to_vec()).collect::<Vec<_>>();
        if said_first {
            assert_eq!(went(&produce), [b"fallback".to_vec(), b"good".to_vec()]);
            assert_eq!(producer.fates(), [(1, Fate::Delivered)]);
            continue;
        }
        let fates = producer.fates();
        let [(1, Fate::Judged(verdicts))] = fates.as_slice() else { panic!("{fates:?}") };
        assert!(matches!(verdicts.as_slice(), [None, Some((Why::Again, _))]), "{verdicts:?}");
        producer.begin(2, &[&bad], 0);
        let Some(produce) = producer.next_request(0, now) else { panic!("it goes again") };
        assert_eq!(went(&produce), [b"fallback".to_vec()]);
    }
}
