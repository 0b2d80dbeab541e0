//! Groups whose coordinator divides (`group.protocol=consumer`), with a real broker.

use super::{assert_all, config, distinct, lines};
use testkit::kafka::{Kafka, MISSING};
use testkit::{Lab, Penstock, Signal, run_command, skip, wait_until};

/// What brokers say to members: signs of life every half second, and six seconds without one are too many.
const BROKER: &str = "group.consumer.min.session.timeout.ms=1000\ngroup.consumer.session.timeout.ms=6000\n\
                      group.consumer.min.heartbeat.interval.ms=100\ngroup.consumer.heartbeat.interval.ms=500\n";

fn member(more: &str) -> String {
    format!(
        "topic(\"logs\" => \"-1\") read-old-records(yes) persist-store(remote) \
         config(\"group.id\" => \"workers\" \"group.protocol\" => \"consumer\" {more})"
    )
}

/// Waits until both have written so many different lines, and says how many came twice.
#[track_caller]
fn total(labs: [&Lab; 2], count: usize) -> usize {
    wait_until("all of it", || distinct(labs[0]) + distinct(labs[1]) >= count);
    let all: Vec<String> = labs.iter().flat_map(|lab| lab.lines("out")).collect();
    assert_all(&all, count)
}

#[test]
fn members_come_and_go_and_double_nothing() {
    let (lab, second) = (Lab::new(), Lab::new());
    let Some(kafka) = Kafka::start(&lab, BROKER, None) else { return skip(MISSING) };
    kafka.create("logs", 4, &[]);
    let config = config(&kafka.server(), &member("\"group.remote.assignor\" => \"uniform\""), "$MSG");
    let total = |count| total([&lab, &second], count);
    kafka.produce("logs", &lines(0, 2000));
    let mut one = Penstock::start(&lab, &config);
    assert_eq!(total(2000), 0);
    // A second member comes while messages do: the first one gives back two partitions and reads on.
    let mut two = Penstock::start(&second, &config);
    kafka.produce("logs", &lines(2000, 6000));
    assert_eq!(total(6000), 0, "a rebalance doubles nothing");
    one.wait_log("Partitions of Kafka are given back");
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
fn a_member_that_was_thrown_out_comes_back() {
    let (lab, second) = (Lab::new(), Lab::new());
    let Some(kafka) = Kafka::start(&lab, BROKER, None) else { return skip(MISSING) };
    kafka.create("logs", 2, &[]);
    let config = config(&kafka.server(), &member(""), "$MSG");
    kafka.produce("logs", &lines(0, 100));
    let mut one = Penstock::start(&lab, &config);
    let mut two = Penstock::start(&second, &config);
    two.wait_log("Partitions of Kafka are read");
    total([&lab, &second], 100);
    wait_until("everything to be committed", || kafka.committed("workers") == 100);
    // It says nothing for longer than it may: the other one has its partition.
    let reads = |penstock: &Penstock| penstock.log().matches("Partitions of Kafka are read").count();
    let before = reads(&one);
    two.signal(Signal::STOP);
    wait_until("the other one to read everything", || reads(&one) > before);
    kafka.produce("logs", &lines(100, 200));
    assert_eq!(total([&lab, &second], 200), 0);
    // It hears that it is a member no more, and joins anew.
    let before = reads(&two);
    two.signal(Signal::CONT);
    wait_until("it to be told", || {
        let log = two.log();
        log.contains("UNKNOWN_MEMBER_ID") || log.contains("FENCED_MEMBER_EPOCH")
    });
    wait_until("it to read again", || reads(&two) > before);
    kafka.produce("logs", &lines(200, 400));
    assert_eq!(total([&lab, &second], 400), 0);
    one.wait_settled_input().assert_balanced();
    two.wait_settled_input().assert_balanced();
}

#[test]
fn a_member_with_a_name_of_its_own_comes_back_to_its_partitions() {
    let (lab, second) = (Lab::new(), Lab::new());
    let Some(kafka) = Kafka::start(&lab, BROKER, None) else { return skip(MISSING) };
    kafka.create("logs", 2, &[]);
    let named = |name: &str| {
        config(&kafka.server(), &member(&format!("\"group.instance.id\" => \"{name}\"")), "$MSG")
    };
    let mut one = Penstock::start(&lab, &named("one"));
    one.wait_log("Partitions of Kafka are read");
    let mut two = Penstock::start(&second, &named("two"));
    two.wait_log("Partitions of Kafka are read");
    one.wait_log("Partitions of Kafka are given back");
    kafka.produce("logs", &lines(0, 100));
    assert_eq!(total([&lab, &second], 100), 0);
    let reads = |penstock: &Penstock| penstock.log().matches("Partitions of Kafka are read").count();
    let before = reads(&one);
    two.stop();
    let mut two = Penstock::start(&second, &named("two"));
    two.wait_log("Partitions of Kafka are read");
    kafka.produce("logs", &lines(100, 200));
    assert_eq!(total([&lab, &second], 200), 0);
    assert_eq!(reads(&one), before, "its partition was nobody else's meanwhile");
}

#[test]
fn what_does_not_fit_is_said_by_name() {
    let check = |options: &str, word: &str| {
        let lab = Lab::new();
        let (path, _) = lab.write_config("wrong.conf", &config("127.0.0.1:9092", options, "$MSG"));
        let outcome = run_command(&["check", path.to_str().expect("text")]);
        assert_ne!(outcome.code, Some(0), "{options}");
        let said = outcome.stdout + &outcome.stderr;
        assert!(said.contains("D0162") && said.contains(word), "{options}: {word}\n{said}");
    };
    let ruled = "config(\"group.protocol\" => \"consumer\")";
    check(&format!("topic(\"logs\" => \"-1\") {ruled}"), "persist-store(remote)");
    check(&format!("topic(\"logs\" => \"0\") persist-store(remote) {ruled}"), "members of a group");
    check(&member("\"session.timeout.ms\" => \"6000\""), "session.timeout.ms");
    check(&member("\"partition.assignment.strategy\" => \"range\""), "partition.assignment.strategy");
    let classic =
        "topic(\"logs\" => \"-1\") persist-store(remote) config(\"group.remote.assignor\" => \"uniform\")";
    check(classic, "group.protocol");
}
