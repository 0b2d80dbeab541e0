//! `sync-send(yes)` with a real broker, read back by a Java consumer that reads what is committed.

use super::{config, feed, text};
use std::collections::HashSet;
use testkit::kafka::{Kafka, KafkaCluster, MISSING};
use testkit::{Lab, Penstock, Sender, Signal, skip, wait_until};

const MANY: usize = 20_000;
const DISK: &str = "topic(logs) sync-send(yes) batch-lines(100) time-reopen(1) persist-name(txn) \
     config(\"reconnect.backoff.max.ms\" => \"500\") disk-buffer(reliable(yes) capacity-bytes(64MiB))";

/// Each is there once.
#[track_caller]
fn assert_once(values: &[String], count: usize) {
    let distinct: HashSet<&str> = values.iter().map(String::as_str).collect();
    let missing = (0..count).filter(|n| !distinct.contains(text(*n).as_str())).count();
    assert_eq!((missing, values.len() - distinct.len()), (0, 0), "missing, and twice");
}

/// Of three brokers, as anybody has them: one that is its own cluster may forget, when it is killed in a
/// commit, to say that the transaction is over (docs/kafka.md).
#[test]
fn kills_of_collector_and_brokers_neither_lose_nor_double() {
    let lab = Lab::new();
    let Some(mut kafka) = KafkaCluster::start(&lab.path("kafka"), 3) else { return skip(MISSING) };
    kafka.create("logs", 3);
    let running = config(&kafka.servers(), DISK);
    // All of it waits on disk before anything can be delivered.
    let away = running.replace(&kafka.servers(), &format!("127.0.0.1:{}", testkit::free_port()));
    let mut penstock = Penstock::start(&lab, &away);
    feed(lab.port("in"), 0, MANY);
    crate::durable::wait_on_disk(&penstock, MANY as u64);
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    let mut last = 0;
    for round in 0..8 {
        let mut penstock = Penstock::start(&lab, &running);
        wait_until("more of it", || {
            let waiting = penstock.ledger().waiting() as usize;
            let there = MANY - waiting.min(MANY);
            there > last || waiting == 0
        });
        last = MANY - (penstock.ledger().waiting() as usize).min(MANY);
        let broker = round / 2 % kafka.count();
        if round % 2 == 1 {
            kafka.kill(broker);
        }
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        if round % 2 == 1 {
            kafka.run(broker);
        }
    }
    let penstock = Penstock::start(&lab, &running);
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    assert_once(&kafka.committed_values("logs", MANY), MANY);
    // What the cluster keeps of the queue, as its own tool shows it.
    assert!(kafka.committed("txn") >= MANY);
}

#[test]
fn a_message_that_is_refused_is_a_dead_letter_and_the_rest_is_there_once() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 1, &["max.message.bytes=50000"]);
    let options = DISK.replace("batch-lines(100)", "batch-lines(50)");
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), &options));
    let port = lab.port("in");
    feed(port, 0, 500);
    let mut sender = Sender::tcp(port);
    sender.raw(format!("<13>Nov 11 01:02:03 h app: {}\n", "x".repeat(60_000)).as_bytes());
    sender.finish();
    feed(port, 500, 1000);
    let ledger = penstock.wait_settled(1001);
    assert_eq!((ledger.dropped_for("refused"), ledger.dropped()), (1, 1), "{ledger}");
    ledger.assert_balanced();
    assert_once(&kafka.committed_values("logs", 1000), 1000);
}

#[test]
fn a_twin_with_the_same_id_holds_and_says_so() {
    let (lab, other) = (Lab::new(), Lab::new());
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 1, &[]);
    let options = "topic(logs) sync-send(yes) time-reopen(1) config(\"transactional.id\" => \"twin\")";
    let text = config(&kafka.server(), options);
    let mut first = Penstock::start(&lab, &text);
    feed(lab.port("in"), 0, 10);
    first.wait_settled(10).assert_nothing_lost();
    let mut second = Penstock::start(&other, &text);
    feed(other.port("in"), 10, 20);
    second.wait_settled(10).assert_nothing_lost();
    feed(lab.port("in"), 20, 30);
    first.wait_log("another producer has taken");
    // After time-reopen() it takes the id back.
    first.wait_settled(20).assert_nothing_lost();
    assert_once(&kafka.committed_values("logs", 30), 30);
}
