//! A coordinator that knows one transaction, and a broker that forgets nothing.

use super::*;
use crate::answers::transacting::Said;
use crate::answers::{Broker, Metadata, PartitionMetadata, TopicMetadata, Written};
use crate::producer::{Options, Why};

struct World {
    producer: Producer,
    transactions: Transactions,
    now: Instant,
    /// Questions in their order, by name.
    asked: Vec<&'static str>,
    position: (i64, String),
    /// Errors of the next answers to the question of this name.
    errors: Vec<(&'static str, i16)>,
    /// Errors of what is written.
    refuses: Vec<i16>,
    written: usize,
}

const RUN: u64 = 7;

impl World {
    fn new() -> World {
        let id: Arc<str> = "t".into();
        let options =
            Options { topic: b"logs".to_vec(), transaction: Some(Arc::clone(&id)), ..Options::default() };
        let place = TopicPartition { topic: b"logs".as_slice().into(), partition: 0 };
        let kept = QueuePosition { place, queue: "q".into(), run: RUN, is_own: Box::new(|run| run == RUN) };
        let plan = Plan { id, timeout: Duration::from_secs(60), kept: Some(Arc::new(kept)) };
        let mut producer = Producer::new(options);
        let now = Instant::now();
        let partitions = vec![PartitionMetadata { index: 0, leader: Some(1) }];
        producer.metadata(
            Metadata {
                brokers: vec![Broker { id: 1, host: "h".into(), port: 1 }],
                topics: vec![TopicMetadata { error: 0, name: b"logs".to_vec(), partitions }],
            },
            0,
            now,
        );
        producer.ready(1);
        World {
            producer,
            transactions: Transactions::new(plan),
            now,
            asked: Vec::new(),
            position: (-1, String::new()),
            errors: Vec::new(),
            refuses: Vec::new(),
            written: 0,
        }
    }

    fn answer(&mut self, question: &Question) -> Said {
        let name = question.api().name();
        self.asked.push(name);
        let error = self.errors.iter().position(|(of, _)| *of == name).map(|at| self.errors.remove(at).1);
        let error = error.unwrap_or(0);
        match question {
            Question::Coordinator(whose, _) => Said::Coordinator(*whose, Ok((1, "h".into(), 1))),
            Question::Identity { .. } if error != 0 => Said::Identity(Err(error)),
            Question::Identity { .. } => Said::Identity(Ok((5, 0))),
            Question::Position(..) => Said::Position(Ok(self.position.clone())),
            Question::Partitions(..) => Said::Partitions(error),
            Question::Group(..) => Said::Group(error),
            Question::Move { position, note, .. } => {
                if error == 0 {
                    self.position = (*position, note.clone());
                }
                Said::Moved(error)
            }
            Question::End { .. } => Said::Ended(error),
        }
    }

    /// Everything that can be done, until the fate of the job is known.
    fn run(&mut self, numbers: &[Option<u64>]) -> Fate {
        let texts: Vec<String> = (0..numbers.len()).map(|n| format!("m{n}")).collect();
        let messages: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        self.transactions.begin(1, &messages, numbers);
        for _ in 0..100 {
            self.now += Duration::from_millis(1100);
            while let Some((whom, question)) = self.transactions.next(&mut self.producer, 0, self.now) {
                self.transactions.asked(whom, self.now);
                let said = self.answer(&question);
                self.transactions.hear(said, &mut self.producer, self.now);
            }
            while let Some(produce) = self.producer.next_request(1, self.now) {
                assert_eq!(produce.transaction.as_deref(), Some("t"));
                let error = if self.refuses.is_empty() { 0 } else { self.refuses.remove(0) };
                self.written += usize::from(error == 0);
                let topic = b"logs".to_vec();
                let (bad, words) = (vec![], String::new());
                let written = Written { topic, partition: 0, error, offset: None, bad, words };
                self.producer.answered(produce.tag, &[written], self.now);
            }
            let fates = self.producer.fates();
            self.transactions.judged(&mut self.producer, fates);
            if let Some((_, fate)) = self.transactions.fates().pop() {
                return fate;
            }
        }
        panic!("no fate, asked {:?}", self.asked);
    }
}

#[test]
fn the_position_is_committed_with_the_batch_and_passed_over_later() {
    let mut world = World::new();
    assert_eq!(world.run(&[Some(10), Some(11), Some(12)]), Fate::Delivered);
    assert_eq!(world.position, (13, "q 7".to_owned()));
    let of_first = ["FindCoordinator", "InitProducerId", "FindCoordinator", "OffsetFetch"];
    let each = ["AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn"];
    assert_eq!(world.asked, [of_first, each].concat());
    // It comes again: nothing is written.
    assert_eq!((world.run(&[Some(11), Some(12)]), world.written), (Fate::Delivered, 1));
    assert_eq!((world.run(&[Some(12), Some(13)]), world.written), (Fate::Delivered, 2));
    assert_eq!(world.position.0, 14);
}

#[test]
fn what_a_broker_refuses_ends_the_transaction_without_the_position() {
    let mut world = World::new();
    // MESSAGE_TOO_LARGE.
    world.refuses = vec![10];
    let fate = world.run(&[Some(1), Some(2)]);
    assert!(matches!(fate, Fate::Split(_)), "{fate:?}");
    assert_eq!((world.position.0, world.asked.last().copied()), (-1, Some("EndTxn")));
    assert!(!world.asked.contains(&"TxnOffsetCommit"));
    world.refuses = vec![10];
    let Fate::Judged(verdicts) = world.run(&[Some(1)]) else { panic!("judged") };
    assert!(matches!(verdicts[..], [Some((Why::Refused, _))]), "{verdicts:?}");
    assert_eq!(world.run(&[Some(2)]), Fate::Delivered);
    assert_eq!(world.position.0, 3);
}

#[test]
fn a_coordinator_that_moves_or_is_busy_is_asked_again() {
    let mut world = World::new();
    world.errors =
        vec![("InitProducerId", 51), ("AddPartitionsToTxn", 51), ("TxnOffsetCommit", 14), ("EndTxn", 16)];
    assert_eq!(world.run(&[Some(1)]), Fate::Delivered);
    assert_eq!((world.position.0, world.written), (2, 1));
}

#[test]
fn another_producer_with_its_id_holds_it() {
    let mut world = World::new();
    world.now += Duration::from_secs(1);
    world.errors = vec![("EndTxn", 90)];
    let fate = world.run(&[None, Some(1)]);
    assert!(matches!(&fate, Fate::Hold(why) if why.contains("another producer")), "{fate:?}");
    // The next one asks for everything anew, and the position says that it is there.
    assert_eq!((world.run(&[None, Some(1)]), world.written), (Fate::Delivered, 1));
}

#[test]
fn a_position_that_a_copy_moved_is_not_believed() {
    let mut world = World::new();
    world.position = (100, "q 8".to_owned());
    let fate = world.run(&[Some(1)]);
    assert!(matches!(&fate, Fate::Hold(why) if why.contains("copy of this collector")), "{fate:?}");
    // Another queue's is nothing to this one.
    world.position = (100, "other 8".to_owned());
    assert_eq!((world.run(&[Some(1)]), world.written), (Fate::Delivered, 1));
}
