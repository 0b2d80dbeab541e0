//! What holds for every destination that is answered, whatever its server is: faults under load, judged by
//! what another client reads from the server afterwards.

use crate::messages::{HEAD, message};
use std::collections::{BTreeSet, HashSet};
use testkit::{Lab, Penstock, Proxy, RelpSender, Sender, Signal, wait_until};

/// A server with a client that is not ours.
pub trait Peer {
    /// Ends it without a word.
    fn kill(&mut self);

    /// Starts it again with what it had kept.
    fn run(&mut self);

    /// The texts it has.
    fn texts(&self) -> Vec<String>;
}

/// A server behind a cable that is cut: it keeps what it has.
pub struct Cut<R> {
    pub proxy: Proxy,
    pub texts: R,
}

impl<R: Fn() -> Vec<String>> Peer for Cut<R> {
    fn kill(&mut self) {
        self.proxy.cut();
    }

    fn run(&mut self) {}

    fn texts(&self) -> Vec<String> {
        (self.texts)()
    }
}

/// Sends what comes in on TCP to the destination `k`.
pub fn config(destination: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ {destination}; }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n"
    )
}

/// What `$MSG` is of a message that [`feed`] sends.
pub fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

/// Sends lines, each with its end.
pub fn say(lab: &Lab, lines: &str) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(lines.as_bytes());
    sender.finish();
}

/// Messages from one number to another.
pub fn feed(port: u16, from: usize, to: usize) {
    let mut sender = Sender::tcp(port);
    let block: String = (from..to).map(|n| message(0, n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

/// Each message is there; returns how many came more than once.
#[track_caller]
pub fn assert_all(texts: &[String], count: usize) -> usize {
    let distinct: HashSet<&str> = texts.iter().map(String::as_str).collect();
    let missing: Vec<usize> = (0..count).filter(|n| !distinct.contains(text(*n).as_str())).collect();
    assert!(missing.is_empty(), "{} lost, the first is {}", missing.len(), missing[0]);
    texts.len() - distinct.len()
}

/// The messages are there in the order in which they were sent.
#[track_caller]
pub fn assert_in_order(texts: &[String], count: usize) {
    let expected: Vec<String> = (0..count).map(text).collect();
    assert_eq!(texts.len(), expected.len());
    assert!(texts == expected, "out of order");
}

/// The server is killed and started again while messages come. `doubles_max`: of each kill.
#[track_caller]
pub fn server_killed_under_load(lab: &Lab, config: &str, peer: &mut impl Peer, doubles_max: usize) {
    let mut penstock = Penstock::start(lab, config);
    let port = lab.port("in");
    let (mut sent, kills) = (0, 3);
    for _ in 0..kills {
        let feeding = std::thread::spawn(move || feed(port, sent, sent + 10_000));
        sent += 10_000;
        let before = penstock.ledger().destination("k").delivered;
        wait_until("some of it", || penstock.ledger().destination("k").delivered > before);
        peer.kill();
        peer.run();
        feeding.join().expect("sent");
    }
    penstock.wait_settled(sent as u64).assert_nothing_lost();
    let doubles = assert_all(&peer.texts(), sent);
    assert!(doubles <= doubles_max * kills, "{doubles} came twice");
}

/// What was acknowledged to the sender reaches the server, however often the collector is killed. The
/// destination has a disk-buffer().
#[track_caller]
pub fn collector_killed(lab: &Lab, config: &str, peer: &impl Peer) {
    let config = config.replace("network(", "relp(");
    let (mut first, mut acknowledged) = (0, BTreeSet::new());
    for _ in 0..3 {
        let mut penstock = Penstock::start(lab, &config);
        let limit = first + 10_000;
        let sender = RelpSender::start(lab.port("in"), first, move |n| (n < limit).then(|| message(0, n)));
        wait_until("some to be acknowledged", || sender.acknowledged().len() > 2_000);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        wait_until("the sender to notice", || sender.has_ended());
        first += sender.sent();
        acknowledged.extend(sender.acknowledged());
    }
    let penstock = Penstock::start(lab, &config);
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    penstock.ledger().assert_balanced();
    let texts = peer.texts();
    let there: HashSet<&str> = texts.iter().map(String::as_str).collect();
    let lost = acknowledged.iter().filter(|n| !there.contains(text(**n).as_str())).count();
    assert_eq!(lost, 0, "of {} acknowledged", acknowledged.len());
}

/// Reloads while messages come: all are there, once.
#[track_caller]
pub fn reloaded_under_load(lab: &Lab, config: &str, peer: &impl Peer) {
    let mut penstock = Penstock::start(lab, config);
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, 20_000));
    for _ in 0..5 {
        let before = penstock.ledger().destination("k").delivered;
        wait_until("some of it", || {
            let delivered = penstock.ledger().destination("k").delivered;
            delivered > before || delivered == 20_000
        });
        penstock.reload_with(lab, config);
    }
    feeding.join().expect("sent");
    wait_until("all of it", || {
        let ledger = penstock.ledger();
        ledger.destination("k").delivered >= 20_000 && ledger.waiting() == 0
    });
    penstock.ledger().assert_balanced();
    assert_in_order(&peer.texts(), 20_000);
}
