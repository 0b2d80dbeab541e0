//! The source `kafka()` with a real broker, written to by the Java producer: where there is none, these are
//! skipped.

mod near;
mod ruled;

use crate::messages::HEAD;
use std::collections::HashMap;
use testkit::kafka::{Kafka, MISSING};
use testkit::{Lab, Penstock, Signal, run_command, skip, wait_until};

/// Writes what a topic has to a file, in the words of a template.
fn config(server: &str, options: &str, template: &str) -> String {
    format!(
        "{HEAD}source k {{ kafka(bootstrap-servers(\"{server}\") time-reopen(1) flags(no-parse) {options}); }};\n\
         destination f {{ file(\"%dir%/out\" template(\"{template}\\n\")); }};\n\
         log {{ source(k); destination(f); flags(flow-control); }};\n"
    )
}

/// All partitions, from the beginning, bookmarks in the state file.
const ALL: &str = "topic(\"logs\" => \"-1\") read-old-records(yes)";

fn lines(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("key {n}:value {n}\n")).collect()
}

/// How often each value is there; none of those below `count` is missing.
#[track_caller]
pub fn assert_all(found: &[String], count: usize) -> usize {
    let mut times: HashMap<&str, usize> = HashMap::new();
    found.iter().for_each(|line| *times.entry(line).or_default() += 1);
    let missing: Vec<usize> =
        (0..count).filter(|n| !times.contains_key(format!("value {n}").as_str())).collect();
    assert!(missing.is_empty(), "{} lost, the first is {}", missing.len(), missing[0]);
    found.len() - times.len()
}

#[test]
fn everything_there_is_is_read_in_each_compression_with_what_is_known_of_it() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    for (at, codec) in ["none", "gzip", "snappy", "lz4", "zstd"].into_iter().enumerate() {
        kafka.produce_packed("logs", codec, &lines(at * 1000, (at + 1) * 1000));
    }
    let template =
        "$MSG|${.kafka.key}|${.kafka.topic}|${.kafka.partition}|${.kafka.offset}|${.kafka.timestamp}";
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), ALL, template));
    penstock.wait_settled(5000).assert_nothing_lost();
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut values = Vec::new();
    for line in lab.lines("out") {
        let fields: Vec<&str> = line.split('|').collect();
        let [value, key, topic, partition, offset, timestamp] = fields[..] else { panic!("{line}") };
        assert_eq!((key.replace("key", "value").as_str(), topic), (value, "logs"));
        let expected = next.entry(partition.to_owned()).or_default();
        assert_eq!(offset, expected.to_string(), "partition {partition}: in order, without gaps");
        *expected += 1;
        assert!(timestamp.parse::<u64>().is_ok_and(|ms| ms > 1_700_000_000_000), "{line}");
        values.push(value.to_owned());
    }
    assert_eq!((next.len(), assert_all(&values, 5000)), (3, 0));
    // What comes later is read where reading was, by the next process too.
    penstock.stop();
    kafka.produce("logs", &lines(5000, 5100));
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), ALL, "$MSG"));
    penstock.wait_settled(100);
    let found: Vec<String> =
        lab.lines("out").iter().map(|l| l.split('|').next().unwrap_or("").to_owned()).collect();
    assert_eq!(assert_all(&found, 5100), 0, "none came twice");
}

/// A disk that lies: what the broker sends is not what was written to it.
#[test]
fn what_is_left_of_a_damaged_batch_can_be_looked_at() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 1, &[]);
    (0..3).for_each(|n| kafka.produce("logs", &lines(n * 10, n * 10 + 10)));
    let segment = lab.path("kafka/data/logs-0/00000000000000000000.log");
    let bytes = std::fs::read(&segment).expect("a segment");
    let at = bytes.windows(8).position(|window| window == b"value 15").expect("the message");
    // In its place: the broker has it open.
    std::os::unix::fs::FileExt::write_at(
        &std::fs::OpenOptions::new().write(true).open(&segment).expect("the segment"),
        b"V",
        at as u64,
    )
    .expect("written");
    let options = format!("{ALL} config(check.crcs(\"true\"))");
    let mut penstock = Penstock::start(&lab, &config(&kafka.server(), &options, "$MSG"));
    let ledger = penstock.wait_settled(30);
    assert_eq!(ledger.dropped_for("framing"), 10, "{ledger}");
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&["tap", "--state-dir", &state, "--dropped", "framing", "--past"]);
    assert!(outcome.stdout.starts_with("k#0 framing: "), "{outcome:?}");
    assert!(outcome.stdout.contains("value 14") && outcome.stdout.contains("Value 15"), "{outcome:?}");
    penstock.stop();
}

#[test]
fn headers_transactions_and_messages_of_syslog() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    // Written by the destination of this house, with headers.
    let into = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ kafka(bootstrap-servers(\"{}\") topic(logs) message(\"<$PRI>$DATE $HOST $MSGHDR$MSG\") \
         headers(\"site\" => \"site of $HOST\" \"other\" => \"x\")); }};\nlog {{ source(s); destination(k); flags(flow-control); }};\n",
        kafka.server()
    );
    let mut writer = Penstock::start(&lab, &into);
    let mut sender = testkit::Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 web1 app[7]: hello\n");
    sender.finish();
    writer.wait_settled(1);
    writer.stop();
    let options = format!("{ALL} keep-hostname(yes)");
    let config =
        config(&kafka.server(), &options, "$HOST|$PROGRAM|$PID|$MSG|${.kafka.headers.site}|$TRANSPORT");
    let reader = Lab::new();
    let mut penstock = Penstock::start(&reader, &config.replace("flags(no-parse)", ""));
    penstock.wait_settled(1);
    wait_until("the line", || !reader.lines("out").is_empty());
    assert_eq!(reader.lines("out"), ["web1|app|7|hello|site of web1|local+kafka"]);
}

#[test]
fn reading_begins_at_the_end_and_what_comes_while_nobody_reads_is_not_left_out() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 1, &[]);
    kafka.produce("logs", &lines(0, 100));
    let config = config(&kafka.server(), "topic(\"logs\" => \"0\")", "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    wait_until("a bookmark", || state_has(&penstock, b"/logs/0"));
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    kafka.produce("logs", &lines(100, 150));
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(50);
    kafka.produce("logs", &lines(150, 200));
    penstock.wait_settled(100);
    let expected: Vec<String> = (100..200).map(|n| format!("value {n}")).collect();
    wait_until("all lines", || lab.lines("out").len() >= 100);
    assert_eq!(lab.lines("out"), expected);
}

fn state_has(penstock: &Penstock, name: &[u8]) -> bool {
    let bytes = std::fs::read(penstock.state().join("penstock.state")).unwrap_or_default();
    bytes.windows(name.len()).any(|window| window == name)
}

#[test]
fn kills_of_collector_and_broker_lose_nothing() {
    let lab = Lab::new();
    let Some(mut kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    let config = config(
        &kafka.server(),
        &format!(
            "{ALL} config(\"reconnect.backoff.max.ms\" => \"500\" \"fetch.max.bytes\" => \"20000\" \"max.partition.fetch.bytes\" => \"5000\")"
        ),
        "$MSG",
    );
    let mut penstock = Penstock::start(&lab, &config);
    for round in 0..6 {
        kafka.produce("logs", &lines(round * 5000, (round + 1) * 5000));
        wait_until("some of them", || distinct(&lab) > round * 5000 + 500);
        if round % 2 == 0 {
            penstock.signal(Signal::KILL);
            penstock.wait_end();
            penstock = Penstock::start(&lab, &config);
        } else {
            kafka.kill();
            kafka.run();
        }
    }
    wait_until("all of it", || distinct(&lab) >= 30_000);
    penstock.wait_settled_input().assert_balanced();
    let doubled = assert_all(&lab.lines("out"), 30_000);
    // Each kill repeats what was written and not yet noted: a batch of each partition at most.
    assert!(doubled <= 3 * 3 * 2048, "{doubled} came twice");
}

fn distinct(lab: &Lab) -> usize {
    lab.lines("out").iter().collect::<std::collections::HashSet<_>>().len()
}

/// Waits until both have written so many different lines, and says how many came twice.
#[track_caller]
fn total(labs: [&Lab; 2], count: usize) -> usize {
    wait_until("all of it", || distinct(labs[0]) + distinct(labs[1]) >= count);
    let all: Vec<String> = labs.iter().flat_map(|lab| lab.lines("out")).collect();
    assert_all(&all, count)
}

/// Two members of a group, one after the other, while messages come to four partitions. `given_back`: the one
/// that gives some of them back goes on with the others, and says so.
fn members_come_and_go(broker: &str, options: &str, given_back: Option<&str>) {
    let (lab, second) = (Lab::new(), Lab::new());
    let Some(kafka) = Kafka::start(&lab, broker, None) else { return skip(MISSING) };
    kafka.create("logs", 4, &[]);
    let config = config(&kafka.server(), options, "$MSG");
    let total = |count| total([&lab, &second], count);
    kafka.produce("logs", &lines(0, 2000));
    let mut one = Penstock::start(&lab, &config);
    assert_eq!(total(2000), 0);
    // A second member comes while messages do.
    let mut two = Penstock::start(&second, &config);
    kafka.produce("logs", &lines(2000, 6000));
    assert_eq!(total(6000), 0, "a rebalance doubles nothing");
    given_back.iter().for_each(|said| one.wait_log(said));
    two.wait_log("Partitions of Kafka are read");
    kafka.produce("logs", &lines(6000, 8000));
    assert_eq!(total(8000), 0);
    assert!(!second.lines("out").is_empty(), "both have read");
    // It leaves in peace: the other one has everything again.
    two.stop();
    kafka.produce("logs", &lines(8000, 9000));
    assert_eq!(total(9000), 0, "an orderly end doubles nothing");
    wait_until("everything to be committed", || kafka.committed("workers") == 9000);
    // A member that is killed: the next one goes on from what was committed.
    one.signal(Signal::KILL);
    one.wait_end();
    kafka.produce("logs", &lines(9000, 10_000));
    let mut two = Penstock::start(&second, &config);
    total(10_000);
    two.wait_settled_input().assert_balanced();
}

#[test]
fn members_of_a_group_divide_partitions_and_double_nothing() {
    let options = "topic(\"logs\" => \"-1\") read-old-records(yes) persist-store(remote) \
                   config(\"group.id\" => \"workers\" \"heartbeat.interval.ms\" => \"500\" \"session.timeout.ms\" => \"6000\")";
    members_come_and_go("", options, None);
}

#[test]
fn topics_by_expression_and_logins() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    for topic in ["app-one", "app-two", "noise"] {
        kafka.create(topic, 2, &[]);
        kafka.produce(topic, &lines(0, 50));
    }
    let login = |password: &str| {
        let options = format!(
            "topic(\"^app-.*\" => \"-1\") read-old-records(yes) config(\"security.protocol\" => \"sasl_plaintext\" \
             \"sasl.mechanism\" => \"SCRAM-SHA-256\" \"sasl.username\" => \"scram\" \"sasl.password\" => \"{password}\" \
             \"topic.metadata.refresh.interval.ms\" => \"500\" \"reconnect.backoff.max.ms\" => \"500\")"
        );
        config(&kafka.with_login(), &options, "${.kafka.topic}")
    };
    let mut penstock = Penstock::start(&lab, &login("wrong"));
    penstock.wait_log("SASL_AUTHENTICATION_FAILED");
    penstock.reload_with(&lab, &login("secret"));
    penstock.wait_settled(100);
    // A topic that comes later is read from its beginning.
    kafka.create("app-three", 1, &[]);
    kafka.produce("app-three", &lines(0, 50));
    penstock.wait_settled(150);
    wait_until("all lines", || lab.lines("out").len() >= 150);
    let of = |topic: &str| lab.lines("out").iter().filter(|line| *line == topic).count();
    assert_eq!((of("app-one"), of("app-two"), of("app-three")), (50, 50, 50));
}

/// However it is named, nothing is left out that is written before somebody sees that it is there.
#[test]
fn a_topic_that_is_made_later_is_read_from_its_beginning() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("now", 1, &[]);
    let each = [
        "topic(\"now\" => \"-1\" \"later\" => \"-1\")",
        "topic(\"^(now|later)$\" => \"-1\")",
        "topic(\"now\" => \"0\" \"later\" => \"0,1,2\")",
        "topic(\"now\" => \"-1\" \"later\" => \"-1\") persist-store(remote) config(\"group.id\" => \"one\")",
        "topic(\"now\" => \"0\" \"later\" => \"0,1,2\") persist-store(remote) config(\"group.id\" => \"two\")",
    ];
    let driver = |(at, options): (usize, &&str)| {
        let server = kafka.server();
        format!(
            "kafka(bootstrap-servers(\"{server}\") flags(no-parse) program-override(\"{at}\") persist-name(\"k{at}\") {options} \
             config(\"topic.metadata.refresh.interval.ms\" => \"1000\"));"
        )
    };
    let drivers: String = each.iter().enumerate().map(driver).collect();
    let config = format!(
        "{HEAD}source k {{ {drivers} }};\ndestination f {{ file(\"%dir%/out\" template(\"$PROGRAM $MSG\\n\")); }};\n\
         log {{ source(k); destination(f); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let has = |at: usize, text: &str| lab.lines("out").contains(&format!("{at} {text}"));
    wait_until("all of them to read", || {
        kafka.produce("now", "key:now\n");
        (0..each.len()).all(|at| has(at, "now"))
    });
    kafka.produce("later", &lines(0, 100));
    let missing = |at: usize| (0..100).find(|n| !has(at, &format!("value {n}")));
    wait_until("all of it", || (0..each.len()).all(|at| missing(at).is_none()));
    penstock.wait_settled_input().assert_balanced();
}

#[test]
fn what_is_wrong_is_said_by_name() {
    let check = |options: &str, words: &[&str]| {
        let lab = Lab::new();
        let text = config("127.0.0.1:9092", options, "$MSG");
        let (path, _) = lab.write_config("wrong.conf", &text);
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        words.iter().for_each(|word| assert!(said.contains(word), "{options}: {word}\n{said}"));
    };
    check("", &["D0162", "which topics"]);
    check("topic(\"logs\" => \"one\")", &["D0162", "no list of partitions"]);
    check("topic(\"lo(gs\" => \"0\")", &["D0162", "regular expression"]);
    check("topic(\"logs\" => \"0,1\") strategy-hint(subscribe)", &["D0162", "all partitions"]);
    check("topic(\"logs\" => \"0\") config(\"group.ip\" => \"x\")", &["D0160", "group.id"]);
    check("topic(\"logs\" => \"0\") config(\"acks\" => \"all\")", &["D0160", "destination"]);
    check("topic(\"logs\" => \"0\") config(\"group.protocol\" => \"other\")", &["D0160", "classic"]);
}
