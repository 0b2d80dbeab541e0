//! log-iw-size() of a source with many connections: given to whoever has something, with a part of it for
//! each of the others.

use crate::messages::{HEAD, message};
use testkit::{Collector, Lab, Penstock, Sender};

/// Permitted connections, and what they may have under way together.
const SEATS: usize = 2000;
const SIZE: u64 = 16_000;
/// What one of them can have: all but the reserve, which is one message for each of the others and a fair
/// part, 100 messages.
const ONE: u64 = SIZE - 100 - 1999;

fn config(source: &str, size: u64) -> String {
    format!(
        "{HEAD}source s {{ {source} log-iw-size({size}) max-connections({SEATS})); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) time-reopen(1) template(\"$MSG\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const TCP: &str = "network(ip(127.0.0.1) port(%tcp:in%)";

/// A connection that sends until all is taken, whoever stops it meanwhile.
fn sends(mut sender: Sender, connection: usize, count: usize) -> std::thread::JoinHandle<Sender> {
    std::thread::spawn(move || {
        for number in 0..count {
            sender.line(&message(connection, number));
        }
        sender
    })
}

fn wait_received(penstock: &mut Penstock, count: u64) {
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < count).then(|| format!("{count} messages, {} so far", ledger.received()))
    });
    assert_eq!((ledger.received(), ledger.waiting()), (count, count), "{ledger}");
    assert!(ledger.waiting() <= SIZE, "{ledger}");
}

#[test]
fn one_connection_has_nearly_all_and_the_next_its_part_at_once() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(TCP, SIZE));
    // Nobody is where the messages are to go.
    let first = sends(Sender::tcp(lab.port("in")), 0, 20_000);
    wait_received(&mut penstock, ONE);
    let second = sends(Sender::tcp(lab.port("in")), 1, 1000);
    wait_received(&mut penstock, ONE + 100);
    // All the others still have something, at once.
    let others: Vec<_> =
        (2..50).map(|connection| sends(Sender::tcp(lab.port("in")), connection, 1)).collect();
    wait_received(&mut penstock, ONE + 100 + 48);
    // More of it with a reload, and no connection is made anew.
    penstock.reload_with(&lab, &config(TCP, 2 * SIZE));
    let third = sends(Sender::tcp(lab.port("in")), 50, 1000);
    let received = penstock.wait_ledger(|ledger| {
        (ledger.received() < ONE + 1148).then(|| format!("all of the third, {}", ledger.received()))
    });
    assert!(received.waiting() <= 2 * SIZE, "{received}");
    let out = Collector::tcp(lab.port("out"));
    out.wait_lines(22_048);
    let senders: Vec<Sender> = [first, second, third]
        .into_iter()
        .chain(others)
        .map(|sending| sending.join().expect("a sender"))
        .collect();
    penstock.wait_settled(22_048).assert_nothing_lost();
    drop(senders);
    let log = penstock.stop();
    assert_eq!(log.matches("Syslog connection accepted").count(), 51, "{log}");
}

#[test]
fn no_batch_goes_beyond_it() {
    for source in [
        "network(ip(127.0.0.1) port(%tcp:in%) transport(text-with-nuls)",
        "tcp(ip(127.0.0.1) port(%tcp:in%)",
        "unix-stream(\"%unix:in%\"",
    ] {
        let lab = Lab::new();
        let mut penstock = Penstock::start(&lab, &config(source, SIZE));
        let sender = match source.starts_with("unix") {
            true => Sender::unix_stream(&lab.path("in")),
            false => Sender::tcp(lab.port("in")),
        };
        let sending = sends(sender, 0, 18_000);
        wait_received(&mut penstock, ONE);
        let out = Collector::tcp(lab.port("out"));
        out.wait_lines(18_000);
        sending.join().expect("the sender").finish();
        penstock.wait_settled(18_000).assert_nothing_lost();
        penstock.stop();
    }
}
