//! Reload: connections stay, nothing is lost, a bad configuration changes nothing.

use crate::messages::{HEAD, assert_complete, block, message};
use testkit::{Collector, Lab, Penstock, Sender, Signal, wait_until};

fn config(file: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/{file}\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn the_same_connection_goes_on_into_another_file() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    penstock.wait_settled(1);
    penstock.reload_with(&lab, &config("two"));
    sender.line(&message(0, 1));
    wait_until("the new file", || lab.lines("two").len() == 1);
    assert_eq!(lab.lines("one").len(), 1);
    penstock.stop();
}

#[test]
fn nothing_is_lost_while_messages_flow() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("out"));
    const COUNT: usize = 100_000;
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        block(0, COUNT).as_bytes().chunks(50_000).for_each(|piece| sender.raw(piece));
        sender.finish();
    });
    let mut rounds = 0;
    while !sending.is_finished() || rounds < 3 {
        penstock.reload_with(&lab, &config("out"));
        rounds += 1;
    }
    sending.join().unwrap();
    wait_until("all lines", || lab.lines("out").len() >= COUNT);
    penstock.ledger().assert_nothing_lost();
    penstock.stop();
    assert_complete(&lab.lines("out"), 1, COUNT);
}

#[test]
fn by_signal() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    penstock.rewrite(&lab, &config("two"));
    penstock.signal(Signal::HUP);
    penstock.wait_log("Configuration reload request received, reloading configuration");
    penstock.wait_log("Configuration reload finished");
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    wait_until("the new file", || lab.lines("two").len() == 1);
}

#[test]
fn an_error_leaves_the_old_configuration_running() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    for wrong in [
        "this is no configuration {",
        &format!("{HEAD}log {{ source(nobody); }};"),
        "@include \"/nowhere/x.conf\" \"y\"\n",
    ] {
        penstock.rewrite(&lab, wrong);
        let answer = penstock.reload();
        assert!(answer.starts_with("FAIL"), "{answer}");
    }
    sender.line(&message(0, 0));
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!(lab.lines("one").len(), 1);
}

#[test]
fn a_source_that_cannot_open_leaves_the_old_configuration_running() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("one"));
    let _taken = Collector::tcp(lab.port("taken"));
    let mut sender = Sender::tcp(lab.port("in"));
    let more = config("two").replace("source s {", "source s { network(ip(127.0.0.1) port(%port:taken%));");
    penstock.rewrite(&lab, &more);
    let answer = penstock.reload();
    assert!(answer.starts_with("FAIL"), "{answer}");
    sender.line(&message(0, 0));
    penstock.wait_settled(1).assert_nothing_lost();
    assert_eq!((lab.lines("one").len(), lab.lines("two").len()), (1, 0));
}

#[test]
fn sources_and_destinations_come_and_go() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let mut penstock = Penstock::start(&lab, &config("one"));
    let mut gone = Sender::tcp(lab.port("in"));
    gone.line(&message(0, 0));
    penstock.wait_settled(1);
    let other = format!(
        "{HEAD}source t {{ network(ip(127.0.0.1) port(%tcp:other%)); }};\n\
         destination n {{ network(127.0.0.1 port(%port:out%)); }};\nlog {{ source(t); destination(n); flags(flow-control); }};\n"
    );
    penstock.reload_with(&lab, &other);
    gone.wait_closed();
    wait_until("the old port to be closed", || !testkit::sockets::tcp_listening(lab.port("in")));
    Sender::tcp(lab.port("other")).line(&message(1, 0));
    assert_eq!(collector.wait_lines(1), [message(1, 0)]);
}

#[test]
fn the_connection_of_an_unchanged_destination_stays() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    let relay = |tag: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) tags({tag})); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) template(\"$MSG\\n\")); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &relay("one"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.line(&message(0, 0));
    collector.wait_lines(1);
    penstock.reload_with(&lab, &relay("two"));
    sender.line(&message(0, 1));
    collector.wait_lines(2);
    assert_eq!(collector.connections(), 1);
}

#[test]
fn what_waits_for_a_dead_target_survives_a_reload() {
    let lab = Lab::new();
    let relay = |comment: &str| {
        format!(
            "{HEAD}# {comment}\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%)); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &relay("before"));
    Sender::tcp(lab.port("in")).raw(block(0, 20).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 20).then(|| "20 waiting".to_owned()));
    penstock.reload_with(&lab, &relay("after"));
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(20), 1, 20);
}

#[test]
fn a_target_that_changes_in_the_middle_of_a_message_costs_nothing() {
    let lab = Lab::new();
    let (old, new) = (Collector::tcp(lab.port("old")), Collector::tcp(lab.port("new")));
    let relay = |port: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:{port}%) so-sndbuf(8192)); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    old.pause();
    let mut penstock = Penstock::start(&lab, &relay("old"));
    const COUNT: usize = 60_000;
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    // All buffers on the way to the old target are full, most likely with a part of a message at the end.
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = penstock.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
    penstock.reload_with(&lab, &relay("new"));
    old.resume();
    sending.join().unwrap();
    penstock.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "everything delivered".to_owned()));
    let bytes = || (old.bytes(), new.bytes());
    let lines = |bytes: &[u8]| bytes.iter().filter(|b| **b == b'\n').count();
    wait_until("every message", || lines(&bytes().0) + lines(&bytes().1) >= COUNT);
    let (mut all, rest) = bytes();
    // What the old target got last of a message it did not take whole, the new one got again.
    let border = all.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    assert!(rest.starts_with(&all[border..]), "half a message at the old target only");
    all.truncate(border);
    all.extend_from_slice(&rest);
    let all = String::from_utf8(all).unwrap();
    assert_complete(&all.lines().map(str::to_owned).collect::<Vec<_>>(), 1, COUNT);
    assert!(!rest.is_empty(), "the new target got nothing");
}
