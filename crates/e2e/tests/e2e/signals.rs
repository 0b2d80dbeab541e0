//! TERM drains, USR1 reopens, INT stops, TERM does not wait for ever.

use crate::messages::{HEAD, assert_complete, block, message};
use testkit::{Collector, Lab, Penstock, Sender, Signal, wait_until};

fn config() -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn term_writes_what_was_received() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config());
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 5000).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.received() < 5000).then(|| "5000 received".to_owned()));
    let log = penstock.stop();
    assert!(log.contains("syslog-ng shutting down; version='"), "{log}");
    assert_complete(&lab.lines("out"), 1, 5000);
    sender.wait_closed();
}

#[test]
fn interrupt_and_the_control_socket_stop_it_too() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config());
    penstock.signal(Signal::INT);
    assert!(penstock.wait_end().success());
    let mut penstock = Penstock::start(&lab, &config());
    assert!(penstock.request("STOP").starts_with("OK"));
    assert!(penstock.wait_end().success());
}

#[test]
fn usr1_reopens_files() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config());
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    penstock.wait_settled(1);
    std::fs::rename(lab.path("out"), lab.path("rotated")).unwrap();
    penstock.signal(Signal::USR1);
    // Whether it has happened shows in where the next lines go.
    let mut number = 1;
    wait_until("the file to be opened again", || {
        sender.line(&message(0, number));
        number += 1;
        lab.path("out").exists()
    });
    penstock.wait_settled(number as u64).assert_nothing_lost();
    penstock.stop();
    let lines = [lab.lines("rotated"), lab.lines("out")].concat();
    assert_complete(&lines, 1, number);
}

#[test]
fn term_does_not_wait_for_a_target_that_is_not_there() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%)); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    Sender::tcp(lab.port("in")).raw(block(0, 10).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 10).then(|| "10 waiting".to_owned()));
    penstock.signal(Signal::TERM);
    penstock.wait_end();
}

#[test]
fn term_drains_to_a_target_that_reads_slowly() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) so-sndbuf(8192)); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    collector.pause();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 500).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.received() < 500).then(|| "500 received".to_owned()));
    penstock.signal(Signal::TERM);
    collector.resume();
    assert!(penstock.wait_end().success());
    assert_complete(&collector.wait_lines(500), 1, 500);
}
