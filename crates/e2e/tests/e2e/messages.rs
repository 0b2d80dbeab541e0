//! Numbered messages, how they are sent, and what must have become of them.

use std::collections::HashMap;
use std::thread::JoinHandle;
use testkit::{Lab, Ledger, Penstock, Sender, wait_until};

/// What every configuration here begins with.
pub const HEAD: &str = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); time-reopen(1); };\n";

/// A message of `connection` with its number.
pub fn message(connection: usize, number: usize) -> String {
    format!(
        "<13>Nov 11 01:02:03 host{connection} app[{connection}]: message number {number} of connection {connection}"
    )
}

/// The line that `message` becomes in a file with the default layout.
pub fn line(connection: usize, number: usize) -> String {
    message(connection, number).trim_start_matches("<13>").to_owned()
}

/// All of `count` messages of `connection` in one piece.
pub fn block(connection: usize, count: usize) -> String {
    (0..count).map(|n| message(connection, n) + "\n").collect()
}

/// Sends all of `count` messages of `connection` to the port `in`, through a connection that ends then.
pub fn send(lab: &Lab, connection: usize, count: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(connection, count).as_bytes());
    sender.finish();
}

/// Sends on until nothing more is taken, and goes on in the background: all of `count` messages, and how many
/// were received by then.
#[track_caller]
pub fn send_until_stuck(lab: &Lab, penstock: &Penstock, count: usize) -> (JoinHandle<()>, u64) {
    let port = lab.port("in");
    let sending = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, count).as_bytes());
        sender.finish();
    });
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = penstock.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
    (sending, last.0)
}

/// Waits until so many messages wait for destinations.
#[track_caller]
pub fn wait_waiting(penstock: &mut Penstock, count: usize) -> Ledger {
    penstock.wait_ledger(|ledger| {
        let there = ledger.waiting();
        (there != count as u64).then(|| format!("{count} messages waiting, there are {there}"))
    })
}

/// Every message of every connection is there once, and in order within its connection.
#[track_caller]
pub fn assert_complete(lines: &[String], connections: usize, count: usize) {
    let mut next: HashMap<usize, usize> = HashMap::new();
    for text in lines {
        let mut words = text.rsplit(' ');
        let connection: usize = words.next().and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("{text}"));
        let number: usize = words.nth(2).and_then(|w| w.parse().ok()).unwrap_or_else(|| panic!("{text}"));
        let expected = next.entry(connection).or_default();
        assert_eq!(number, *expected, "connection {connection}: {text}");
        *expected += 1;
    }
    assert_eq!(next.len(), connections, "connections seen");
    for (connection, seen) in next {
        assert_eq!(seen, count, "messages of connection {connection}");
    }
}
