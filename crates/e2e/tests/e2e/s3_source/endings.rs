//! What becomes of an object: it is deleted, moved, changed, damaged, or vanishes.

use super::{WHOLE, assert_each_once, body, config, config_to, gzip};
use testkit::s3::{MISSING, S3};
use testkit::{Collector, Lab, Penstock, Proxy, run_command, skip, wait_until};

#[test]
fn what_is_read_is_deleted_when_it_is_delivered_and_not_before() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    server.put_many("a/%03d", 20, 50);
    server.put(&[("other", b"not this\n")]);
    let out = "network(\"127.0.0.1\" port(%port:out%) template(\"$MSG\\n\") time-reopen(1))";
    let options = format!("{WHOLE} prefix(\"a/\") when-read(delete)");
    let config = config_to(server.port(), &options, out);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_ledger(|ledger| (ledger.waiting() < 1000).then(|| "1000 waiting".to_owned()));
    assert_eq!(server.names().len(), 21);
    let collector = Collector::tcp(lab.port("out"));
    assert_each_once(&collector.wait_lines(1000), 1000);
    wait_until("all to be deleted", || server.names() == ["other"]);
    // The same name again is another object.
    server.put(&[("a/000", &body(1000, 1010))]);
    assert_each_once(&collector.wait_lines(1010), 1010);
    wait_until("it to be deleted", || server.names() == ["other"]);
    penstock.wait_settled_input().assert_nothing_lost();
    penstock.stop();
    // Nothing is left of them in the state file but how far the bucket was listed.
    let said = run_command(&["state", "dump", "--state-dir", lab.path("state").to_str().expect("text")]);
    assert!(!said.stdout.contains("/s3/d/") && !said.stdout.contains("/s3/o/"), "{}", said.stdout);
}

#[test]
fn what_is_read_is_moved() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    server.put(&[("in/x y/\u{e9}+%", &body(0, 100)), ("in/z.gz", &gzip(&body(100, 200)))]);
    let options = format!("{WHOLE} prefix(\"in/\") when-read(move) move-prefix(\"done/\")");
    let mut penstock = Penstock::start(&lab, &config(server.port(), &options, "$MSG"));
    penstock.wait_settled(200);
    wait_until("both to be moved", || server.names() == ["done/x y/\u{e9}+%", "done/z.gz"]);
    assert_each_once(&server.lines("done/"), 200);
    assert_each_once(&lab.lines("out"), 200);
}

/// A damaged object, and good ones around it.
fn damaged(server: &S3) {
    let mut bytes = gzip(&body(500, 40_500));
    bytes.truncate(bytes.len() / 2);
    server.put(&[("a", &body(0, 500)), ("bad.gz", &bytes), ("c", &body(40_500, 41_000))]);
}

#[test]
fn the_rest_of_a_damaged_object_is_one_dropped_message() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    damaged(&server);
    let config = config(server.port(), &format!("{WHOLE} when-read(delete)"), "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    let ledger = penstock.wait_ledger(|ledger| (ledger.dropped() < 1).then(|| "a drop".to_owned()));
    assert_eq!((ledger.dropped(), ledger.dropped_for("framing")), (1, 1), "{ledger}");
    penstock.wait_log("cannot be unpacked to its end");
    wait_until("the good ones to be deleted", || server.names() == ["bad.gz"]);
    let ledger = penstock.wait_settled_input();
    ledger.assert_balanced();
    let found = lab.lines("out");
    // Whole lines only, from the beginning up to the damage.
    assert!(found.len() > 1000 && found.len() < 41_000, "{}", found.len());
    let mut numbers: Vec<usize> = found.iter().map(|line| line[6..].parse().expect("a whole line")).collect();
    numbers.sort_unstable();
    let (low, high): (Vec<usize>, Vec<usize>) = numbers.into_iter().partition(|n| *n < 40_500);
    assert_eq!(low, (0..low.len()).collect::<Vec<_>>());
    assert_eq!(high, (40_500..41_000).collect::<Vec<_>>());
    let state = lab.path("state");
    let said =
        run_command(&["tap", "--state-dir", state.to_str().expect("text"), "--dropped", "framing", "--past"]);
    assert!(said.stdout.contains("logs/bad.gz: gzip"), "{}{}", said.stdout, said.stderr);
    // It counts as read.
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    server.put(&[("d", &body(41_000, 41_010))]);
    assert_eq!(penstock.wait_settled(10).dropped(), 0);
    wait_until("it to be deleted", || server.names() == ["bad.gz"]);
}

#[test]
fn a_damaged_object_is_held_where_that_is_asked_for() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    damaged(&server);
    let config = config(server.port(), &format!("{WHOLE} unreadable(hold) download-threads(1)"), "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_log("it is held and tried again");
    wait_until("the others", || lab.lines("out").iter().any(|line| line == "value 40999"));
    let before = penstock.wait_settled_input();
    assert_eq!(before.dropped(), 0);
    // What was read of it is not read again.
    let count = lab.lines("out").len();
    server.put(&[("bad.gz", &gzip(&body(500, 40_500)))]);
    wait_until("all of them", || lab.lines("out").iter().any(|line| line == "value 40499"));
    let found = lab.lines("out");
    let more = crate::kafka_source::assert_all(&found, 41_000);
    // The whole one is another object: it is read from its beginning.
    assert_eq!(more, count - 1000);
    assert_eq!(penstock.log().matches("it is held and tried again").count(), 1, "once a minute");
}

#[test]
fn an_object_that_is_written_anew_or_vanishes_while_it_is_read() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    // Several requests each, over a way on which they can be held up.
    let proxy = Proxy::to(server.port());
    server.put(&[("a", &body(0, 2_000_000))]);
    proxy.pace(Some(30_000));
    let config = config(proxy.port(), &format!("{WHOLE} download-threads(1)"), "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    wait_until("some of it", || lab.path("out").metadata().is_ok_and(|of| of.len() > 0));
    server.put(&[("a", &body(0, 10))]);
    penstock.wait_log("changed or vanished");
    wait_until("the new one", || lab.lines("out").iter().filter(|line| *line == "value 9").count() == 2);
    server.put(&[("b", &body(0, 2_000_000))]);
    let before = lab.lines("out").len();
    wait_until("some of the next", || lab.lines("out").len() > before);
    server.delete("b");
    server.put(&[("c", &body(2_000_000, 2_000_010))]);
    wait_until("the last one", || lab.lines("out").iter().any(|line| line == "value 2000009"));
    let ledger = penstock.wait_settled_input();
    assert_eq!(ledger.dropped(), 0);
    ledger.assert_balanced();
}
