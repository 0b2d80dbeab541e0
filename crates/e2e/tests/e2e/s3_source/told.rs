//! Objects that a queue tells of, with moto: S3 and SQS in one.

use super::{WHOLE, assert_each_once, body, config_to};
use crate::kafka_source::assert_all;
use crate::take_over::take_over;
use testkit::sqs::{MISSING, Sqs};
use testkit::{Collector, Lab, Penstock, Signal, skip, wait_until};

const FILE: &str = "file(\"%dir%/out\" template(\"$MSG\\n\"))";
/// A destination that nobody listens at, until somebody does.
const OUT: &str = "network(\"127.0.0.1\" port(%port:out%) template(\"$MSG\\n\") time-reopen(1))";

fn config(server: &Sqs, options: &str, to: &str) -> String {
    let options = format!("{WHOLE} sqs-url(\"{}\") {options}", server.url());
    config_to(server.port(), &options, to).replace("follow-freq(1) ", "")
}

fn assert_all_answered(server: &Sqs) {
    wait_until("an empty queue", || server.counts() == (0, 0));
}

#[test]
fn what_the_queue_tells_of_is_read_and_answered_once_it_is_delivered() {
    let lab = Lab::new();
    let Some(server) = Sqs::start(&lab) else { return skip(MISSING) };
    // A test event of S3 is there from the beginning.
    server.put_many("a/%03d", 20, 50);
    let config = config(&server, "prefix(\"a/\") ack-deadline(10)", OUT);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_ledger(|ledger| (ledger.waiting() < 1000).then(|| "1000 waiting".to_owned()));
    // Longer than the deadline: the queue is asked to wait.
    let since = std::time::Instant::now();
    wait_until("twice the deadline", || {
        assert_eq!(server.counts(), (0, 20));
        since.elapsed().as_secs() > 20
    });
    let collector = Collector::tcp(lab.port("out"));
    assert_each_once(&collector.wait_lines(1000), 1000);
    assert_all_answered(&server);
    // Not wanted, not there any more, no object: nothing to read.
    server.put(&[("other", b"not this\n"), ("a/folder/", b"")]);
    server.delete("other");
    server.send(&format!(
        "{{\"Records\":[{{\"eventName\":\"ObjectCreated:Put\",\"s3\":{{\"bucket\":{{\"name\":\"logs\"}},\"object\":{{\"key\":\"a/{}\"}}}}}}]}}",
        "gone"
    ));
    server.put(&[("a/x y+%\u{e9}", &body(1000, 1010))]);
    assert_each_once(&collector.wait_lines(1010), 1010);
    assert_all_answered(&server);
    penstock.wait_settled_input().assert_nothing_lost();
    assert_eq!(penstock.ledger().received(), 1010);
}

#[test]
fn what_is_no_notification_is_left_in_the_queue() {
    let lab = Lab::new();
    let Some(server) = Sqs::start(&lab) else { return skip(MISSING) };
    server.send("hello");
    server.put(&[("a", &body(0, 10))]);
    let mut penstock = Penstock::start(&lab, &config(&server, "", FILE));
    penstock.wait_log("it is no notification of S3");
    penstock.wait_settled(10);
    wait_until("it alone to be left", || server.counts() == (0, 1));
    penstock.stop();
}

#[test]
fn a_collector_that_is_killed_gets_again_what_was_not_answered() {
    let lab = Lab::new();
    let Some(server) = Sqs::start(&lab) else { return skip(MISSING) };
    let config = config(&server, "ack-deadline(10)", FILE);
    let mut penstock = Penstock::start(&lab, &config);
    std::thread::scope(|scope| {
        scope.spawn(|| server.put_many("%04d", 400, 100));
        for _ in 0..20 {
            let before = lab.lines("out").len();
            wait_until("some more", || lab.lines("out").len() > before || before >= 40_000);
            penstock.signal(Signal::KILL);
            penstock.wait_end();
            penstock = Penstock::start(&lab, &config);
        }
    });
    assert_all_answered(&server);
    penstock.wait_settled_input().assert_nothing_lost();
    let doubled = assert_all(&lab.lines("out"), 40_000);
    // What was on its way: a batch of each of four readers at most.
    assert!(doubled <= 20 * 4 * 100, "{doubled} came twice");
    eprintln!("20 kills, {doubled} of 40000 twice");
}

#[test]
fn reloads_take_overs_and_ends_double_nothing() {
    let lab = Lab::new();
    let Some(server) = Sqs::start(&lab) else { return skip(MISSING) };
    let with = |threads: usize, to: &str| {
        config(&server, &format!("ack-deadline(20) download-threads({threads})"), to)
    };
    let mut penstock = Penstock::start(&lab, &with(4, FILE));
    server.put_many("%04d", 50, 100);
    penstock.reload_with(&lab, &with(3, FILE));
    server.put_many("x%04d", 50, 100);
    let mut penstock = take_over(&lab, penstock, &with(3, FILE));
    wait_until("all of it", || lab.lines("out").len() >= 10_000);
    assert_all_answered(&server);
    assert_eq!(assert_all(&lab.lines("out"), 5000), 5000, "each is in two objects");
    // Nobody takes what comes now: an end keeps what was read, and the queue hears of it.
    penstock.reload_with(&lab, &with(3, OUT));
    server.put_many("y%04d", 10, 100);
    penstock.wait_ledger(|ledger| (ledger.waiting() < 1000).then(|| "1000 waiting".to_owned()));
    penstock.stop();
    assert_eq!(server.counts(), (0, 0));
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &with(3, OUT));
    assert_each_once(&collector.wait_lines(1000), 1000);
    penstock.wait_settled_input().assert_nothing_lost();
}

#[test]
fn a_queue_that_is_not_there_is_said() {
    let lab = Lab::new();
    let Some(server) = Sqs::start(&lab) else { return skip(MISSING) };
    let right = config(&server, "", FILE);
    let mut penstock = Penstock::start(&lab, &right.replace("/told", "/other"));
    penstock.wait_log("gives none now");
    server.put(&[("a", &body(0, 10))]);
    penstock.reload_with(&lab, &right);
    penstock.wait_settled(10);
    assert_each_once(&lab.lines("out"), 10);
    assert_all_answered(&server);
}
