//! Groups whose coordinator divides (`group.protocol=consumer`), with a real broker.

use super::{config, lines, members_come_and_go, total};
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

#[test]
fn members_come_and_go_and_double_nothing() {
    let options = member("\"group.remote.assignor\" => \"uniform\"");
    members_come_and_go(BROKER, &options, Some("Partitions of Kafka are given back"));
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
