//! `kafka()` with a scripted broker, and with a real one, read back with the Java consumer: where there is
//! none, these are skipped.

mod kerberos;
mod tokens;
mod transactions;

use crate::messages::{HEAD, message};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use testkit::kafka::{Act, Consumed, Kafka, MISSING, ScriptedKafka};
use testkit::{Lab, Penstock, RelpSender, Sender, Signal, skip, wait_until};

/// Sends what comes in on TCP to a topic.
fn config(server: &str, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ kafka(bootstrap-servers(\"{server}\") message(\"$MSG\") {options}); }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n"
    )
}

fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

/// Messages from one number to another.
fn feed(port: u16, from: usize, to: usize) {
    let mut sender = Sender::tcp(port);
    let block: String = (from..to).map(|n| message(0, n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

fn values(consumed: &[Consumed]) -> Vec<&str> {
    consumed.iter().map(|c| c.value.as_str()).collect()
}

/// Each message is there, and how many came twice.
#[track_caller]
fn assert_all(consumed: &[Consumed], count: usize) -> usize {
    let distinct: HashSet<&str> = consumed.iter().map(|c| c.value.as_str()).collect();
    let missing: Vec<usize> = (0..count).filter(|n| !distinct.contains(text(*n).as_str())).collect();
    assert!(missing.is_empty(), "{} lost, the first is {}", missing.len(), missing[0]);
    consumed.len() - distinct.len()
}

/// What each partition holds is in the order in which it was sent.
#[track_caller]
fn assert_in_order(consumed: &[Consumed]) {
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    for one in consumed {
        let number: usize = one.value.split(' ').nth(2).and_then(|n| n.parse().ok()).expect("a number");
        let before = last.insert(one.partition, number);
        assert!(before.is_none_or(|before| before < number), "{number} behind {before:?}");
    }
}

#[test]
fn cuts_and_errors_neither_lose_nor_double() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(3));
    let options =
        "topic(logs) config(\"reconnect.backoff.max.ms\" => \"100\" \"batch.num.messages\" => \"100\")";
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), options));
    use Act::{Cut, CutAfter, Error};
    // Not the leader, too few replicas, a broker that has lost its numbers for a moment.
    kafka.then([CutAfter, Error(6), Cut, Error(19), CutAfter, CutAfter, Error(7), Cut, Error(5)]);
    feed(lab.port("in"), 0, 5000);
    penstock.wait_settled(5000).assert_nothing_lost();
    assert_eq!(kafka.to_come(), 0);
    let mut values = kafka.values();
    assert_eq!(values.len(), 5000, "none came twice");
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), 5000, "none is lost");
    let consumed: Vec<Consumed> = kafka.written().into_iter().map(of_scripted).collect();
    assert_in_order(&consumed);
}

fn of_scripted(written: testkit::kafka::Written) -> Consumed {
    Consumed {
        partition: written.partition as usize,
        key: written.key.unwrap_or_default(),
        headers: String::new(),
        value: written.value,
    }
}

#[test]
fn bad_and_too_large_messages_are_dead_letters() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(2));
    kafka.refuse("number 777 ");
    kafka.refuse_larger(100_000);
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), "topic(logs) key(\"$MSG\")"));
    let port = lab.port("in");
    feed(port, 0, 9_999);
    let mut sender = Sender::tcp(port);
    sender.raw(format!("<13>Nov 11 01:02:03 h app: {}\n", "x".repeat(60_000)).as_bytes());
    sender.finish();
    let ledger = penstock.wait_settled(10_000);
    // The large one is there twice in its record, as key and value.
    assert_eq!((ledger.dropped_for("refused"), ledger.dropped()), (2, 2));
    ledger.assert_balanced();
    assert_eq!(kafka.values().len(), 9_998);
}

#[test]
fn a_reload_under_load_keeps_what_is_on_the_way() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(3));
    let config = config(&kafka.server(), "topic(logs)");
    let mut penstock = Penstock::start(&lab, &config);
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, 40_000));
    for _ in 0..5 {
        let before = kafka.values().len();
        wait_until("some of it", || kafka.values().len() > before || before == 40_000);
        penstock.reload_with(&lab, &config);
    }
    feeding.join().expect("sent");
    wait_until("all of it", || kafka.values().len() >= 40_000 && penstock.ledger().waiting() == 0);
    assert_eq!(kafka.values().len(), 40_000, "none came twice");
    penstock.ledger().assert_balanced();
}

#[test]
fn what_waits_on_disk_keeps_its_parts() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(3));
    let options = "topic(\"t-$PROGRAM\") fallback-topic(other) key(\"$HOST\") disk-buffer(reliable(yes) capacity-bytes(4MiB))";
    // Nobody there: the port of a listener that does not exist any more.
    let mut penstock = Penstock::start(&lab, &config("127.0.0.1:1", options));
    feed(lab.port("in"), 0, 100);
    crate::durable::wait_on_disk(&penstock, 100);
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    let penstock = Penstock::start(&lab, &config(&kafka.server(), options));
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    let written = kafka.written();
    assert_eq!(written.len(), 100);
    assert!(
        written.iter().all(|w| w.topic == "t-app" && w.key.as_deref() == Some("host0")),
        "{:?}",
        written[0]
    );
}

/// It is made anew as soon as the producer asks for it, with three partitions.
#[test]
fn a_topic_that_is_made_anew_with_fewer_partitions_is_written_to() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 12, &[]);
    let options = "topic(logs) key(\"$MSG\") config(\"topic.metadata.refresh.interval.ms\" => \"500\")";
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), options));
    let port = lab.port("in");
    feed(port, 0, 100);
    penstock.wait_settled(100).assert_nothing_lost();
    kafka.delete("logs");
    feed(port, 100, 300);
    penstock.wait_settled(300).assert_nothing_lost();
    assert!(kafka.offsets("logs") >= 200, "{}", kafka.offsets("logs"));
}

#[test]
fn what_brokers_call_no_topic_goes_to_the_fallback() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    let options = "topic(\"$PROGRAM\") fallback-topic(other)";
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), options));
    let port = lab.port("in");
    feed(port, 0, 10);
    let mut sender = Sender::tcp(port);
    sender.raw(b"<13>Nov 11 01:02:03 h __transaction_state: nobody but the cluster writes there\n");
    sender.finish();
    feed(port, 10, 20);
    penstock.wait_settled(21).assert_nothing_lost();
    assert_eq!(values(&kafka.consume("other", 1)), ["nobody but the cluster writes there"]);
    assert_all(&kafka.consume("app", 20), 20);
}

#[test]
fn what_is_sent_is_read_back() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), "topic(logs)"));
    feed(lab.port("in"), 0, 3000);
    penstock.wait_settled(3000);
    let consumed = kafka.consume("logs", 3000);
    assert_eq!(assert_all(&consumed, 3000), 0, "none came twice");
    assert_in_order(&consumed);
    penstock.ledger().assert_nothing_lost();
    drop(penstock);

    // Keys as the Java client places them, headers, a templated topic, each compression.
    for (at, codec) in ["gzip", "snappy", "lz4", "zstd"].into_iter().enumerate() {
        let topic = format!("packed-{codec}");
        kafka.create(&topic, 3, &[]);
        let options = format!(
            "topic(\"packed-${{PROGRAM}}\") fallback-topic(other) key(\"key ${{MSG}}\") headers(\"host\" => \"$HOST\") \
             config(\"compression.codec\" => \"{codec}\" \"partitioner\" => \"murmur2_random\")"
        );
        let mut penstock = Penstock::start(&lab, &config(&kafka.server(), &options));
        let mut sender = Sender::tcp(lab.port("in"));
        let lines = |n: usize| format!("<13>Nov 11 01:02:03 web{at} {codec}: value {n}\n");
        sender.raw((0..500).map(lines).collect::<String>().as_bytes());
        sender.raw(b"<13>Nov 11 01:02:03 web bad/name: stray\n");
        sender.finish();
        penstock.wait_settled(501);
        kafka.produce(&topic, &(0..500).map(|n| format!("key value {n}:java {n}\n")).collect::<String>());
        let consumed = kafka.consume(&topic, 1000);
        let (java, ours): (Vec<_>, Vec<_>) = consumed.into_iter().partition(|c| c.value.starts_with("java"));
        let placed = |all: &[Consumed]| {
            all.iter().map(|c| (c.key.clone(), c.partition)).collect::<BTreeMap<String, usize>>()
        };
        assert_eq!((java.len(), ours.len()), (500, 500), "{codec}");
        assert_eq!(placed(&java), placed(&ours), "{codec}: keys are where the Java client puts them");
        assert!(ours.iter().all(|c| c.headers == format!("host:web{at}")), "{codec}: {:?}", ours[0]);
        assert!(values(&ours).contains(&"value 499"));
    }
    assert_eq!(values(&kafka.consume("other", 4)), ["stray"; 4]);
}

#[test]
fn logins() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 1, &[]);
    let login = |mechanism: &str, user: &str, password: &str| {
        let options = format!(
            "topic(logs) config(\"security.protocol\" => \"sasl_plaintext\" \"sasl.mechanism\" => \"{mechanism}\" \
             \"sasl.username\" => \"{user}\" \"sasl.password\" => \"{password}\")"
        );
        config(&kafka.with_login(), &options)
    };
    let mut sent = 0;
    for (mechanism, user) in [("PLAIN", "plain"), ("SCRAM-SHA-256", "scram"), ("SCRAM-SHA-512", "scram")] {
        let mut penstock = Penstock::start(&lab, &login(mechanism, user, "secret"));
        feed(lab.port("in"), sent, sent + 10);
        penstock.wait_settled(10);
        sent += 10;
    }
    // A wrong password: held, said, nothing dropped; and delivered when it is right.
    let mut penstock = Penstock::start(&lab, &login("SCRAM-SHA-512", "scram", "wrong"));
    feed(lab.port("in"), sent, sent + 10);
    penstock.wait_log("SASL_AUTHENTICATION_FAILED");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    penstock.reload_with(&lab, &login("SCRAM-SHA-512", "scram", "secret"));
    let consumed = kafka.consume("logs", sent + 10);
    assert_eq!((consumed.len(), assert_all(&consumed, sent + 10)), (sent + 10, 0));
}

#[test]
fn one_bad_message_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("small", 1, &["max.message.bytes=20000"]);
    let penstock = Penstock::start(&lab, &config(&kafka.server(), "topic(small)"));
    let port = lab.port("in");
    feed(port, 0, 5000);
    let mut sender = Sender::tcp(port);
    sender.raw(format!("<13>Nov 11 01:02:03 h app: {}\n", "x".repeat(30_000)).as_bytes());
    sender.finish();
    feed(port, 5000, 10_000);
    wait_until("everything", || {
        let ledger = penstock.ledger();
        ledger.waiting() == 0 && ledger.received() == 10_001
    });
    let ledger = penstock.ledger();
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1));
    ledger.assert_balanced();
    assert_eq!(assert_all(&kafka.consume("small", 10_000), 10_000), 0);
}

#[test]
fn a_broker_that_is_killed_costs_nothing_and_doubles_nothing() {
    let lab = Lab::new();
    let Some(mut kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    let mut penstock = Penstock::start(
        &lab,
        &config(
            &kafka.server(),
            "topic(logs) time-reopen(1) config(\"reconnect.backoff.max.ms\" => \"500\")",
        ),
    );
    let port = lab.port("in");
    let mut sent = 0;
    for _ in 0..3 {
        let feeding = std::thread::spawn(move || feed(port, sent, sent + 20_000));
        sent += 20_000;
        let before = penstock.ledger().destination("k").delivered;
        wait_until("some of it", || penstock.ledger().destination("k").delivered > before);
        kafka.kill();
        kafka.run();
        feeding.join().expect("sent");
    }
    penstock.wait_settled(sent as u64);
    let consumed = kafka.consume("logs", sent);
    assert_eq!(assert_all(&consumed, sent), 0, "none came twice");
    assert_in_order(&consumed);
}

/// What was acknowledged to the sender reaches the topic, however often the collector is killed.
#[test]
fn a_collector_that_is_killed_loses_nothing_from_its_disk() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    let options = "topic(logs) disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";
    let config = config(&kafka.server(), options).replace("network(", "relp(");
    let (mut first, mut acknowledged) = (0, BTreeSet::new());
    for _ in 0..4 {
        let mut penstock = Penstock::start(&lab, &config);
        let limit = first + 20_000;
        let sender = RelpSender::start(lab.port("in"), first, move |n| (n < limit).then(|| message(0, n)));
        wait_until("some to be acknowledged", || sender.acknowledged().len() > 2_000);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        wait_until("the sender to notice", || sender.has_ended());
        first += sender.sent();
        acknowledged.extend(sender.acknowledged());
    }
    let penstock = Penstock::start(&lab, &config);
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    let consumed = kafka.consume("logs", acknowledged.len());
    let there: HashSet<&str> = consumed.iter().map(|c| c.value.as_str()).collect();
    let lost = acknowledged.iter().filter(|n| !there.contains(text(**n).as_str())).count();
    assert_eq!(lost, 0, "of {} acknowledged", acknowledged.len());
}
