//! The trials: what is done to a destination, and what must have become of its messages.

use crate::kept::queue;
use crate::take_over::take_over;
use std::collections::HashSet;
use std::time::{Duration, Instant};
use testkit::receivers::{
    BAD, Destination, House, Receiver, Trial, Way, bad, collector_killed, config, feed, message,
    server_killed, settle, text,
};
use testkit::{Lab, Ledger, Penstock, Proxy, Sender, wait_until};

/// Makes a trial; false where there is no server.
#[track_caller]
pub fn run(destination: &'static Destination, trial: Trial) -> bool {
    let done = match trial {
        Trial::Delivered => delivered(destination),
        Trial::Certificate => certificate(destination),
        Trial::Login => login(destination),
        Trial::Bad => one_bad(destination),
        Trial::ServerKilled => server_killed(destination, destination.kills_in(trial)).map(drop),
        Trial::CollectorKilled => collector_killed(destination, destination.kills_in(trial)).map(drop),
        Trial::Reload => reloaded(destination),
        Trial::TakeOver => taken_over(destination),
        Trial::Slow => slow(destination),
    };
    done.is_some()
}

/// A lab with a server, and what configurations say to reach it.
struct Stage {
    destination: &'static Destination,
    lab: Lab,
    receiver: Box<dyn Receiver>,
    house: House,
}

impl Stage {
    #[track_caller]
    fn set(destination: &'static Destination, house: House) -> Option<Stage> {
        let lab = Lab::new();
        let receiver = (destination.start)(&lab, house)?;
        Some(Stage { destination, lab, receiver, house })
    }

    fn config(&self, is_wrong: bool) -> String {
        self.at(self.receiver.port(), is_wrong)
    }

    fn at(&self, port: u16, is_wrong: bool) -> String {
        self.with(Way { port, house: self.house, is_wrong, options: "" })
    }

    fn with(&self, way: Way<'_>) -> String {
        config(&self.receiver.driver(&way))
    }

    fn start(&self, config: &str) -> Penstock {
        Penstock::start(&self.lab, config)
    }

    fn feed(&self, from: usize, to: usize) {
        feed(self.lab.port("in"), from, to);
    }

    /// The messages from 0 on are there, once each and in their order.
    #[track_caller]
    fn assert_in_order(&self, count: usize) {
        wait_until("all of it", || self.receiver.texts().len() >= count);
        let mut texts = self.receiver.texts();
        if self.destination.at_end {
            // Objects of two processes have names that say nothing of their order.
            let number = |text: &String| text.split(' ').nth(2).and_then(|n| n.parse::<usize>().ok());
            texts.sort_by_key(number);
        }
        for (n, found) in texts.iter().enumerate() {
            assert_eq!(*found, text(n), "{}: message {n}", self.destination.name);
        }
        assert_eq!(texts.len(), count);
    }
}

fn waits(ledger: &Ledger, count: usize) -> Option<String> {
    ledger.assert_balanced();
    let waiting = ledger.destination("k").waiting;
    (waiting != count as u64).then(|| format!("{count} messages waiting, not {waiting}"))
}

#[track_caller]
fn delivered(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Open)?;
    let penstock = stage.start(&stage.config(false));
    stage.feed(0, destination.count);
    settle(destination, penstock, destination.count as u64);
    stage.assert_in_order(destination.count);
    Some(())
}

/// Nothing goes to a server whose certificate an unknown authority has signed, and all of it to the right
/// one.
#[track_caller]
fn certificate(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Secure)?;
    let mut penstock = stage.start(&stage.config(true));
    stage.feed(0, 100);
    penstock.wait_log("ertificate");
    let ledger = penstock.wait_ledger(|ledger| waits(ledger, 100));
    assert_eq!((ledger.destination("k").delivered, ledger.dropped()), (0, 0), "{ledger}");
    assert_eq!(stage.receiver.texts().len(), 0);
    penstock.reload_with(&stage.lab, &stage.config(false));
    settle(destination, penstock, 100);
    stage.assert_in_order(100);
    Some(())
}

/// What a wrong login holds is said once, however often it is tried; nothing is dropped.
#[track_caller]
fn login(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Guarded)?;
    let mut penstock = stage.start(&stage.config(true));
    stage.feed(0, 100);
    let said = |penstock: &Penstock| {
        let log = penstock.log();
        let lines = log.lines().filter(|line| line.contains("k#0") || line.contains("destination='k"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    penstock.wait_log("k#0");
    // It tries each second: time for four tries.
    let begun = Instant::now();
    let mut tried = Vec::new();
    wait_until("some tries", || {
        tried = said(&penstock);
        penstock.ledger().assert_balanced();
        penstock.ledger().waiting() >= 100 && begun.elapsed() >= Duration::from_secs(4)
    });
    assert!(tried.len() <= 3, "{}: said too often:\n{}", destination.name, tried.join("\n"));
    let ledger = penstock.wait_ledger(|ledger| waits(ledger, 100));
    assert_eq!((ledger.destination("k").delivered, ledger.dropped()), (0, 0), "{ledger}");
    penstock.reload_with(&stage.lab, &stage.config(false));
    settle(destination, penstock, 100);
    stage.assert_in_order(100);
    Some(())
}

/// One message that the server does not take is one dead letter with the server's words; the others are there
/// in their order; it goes when the server takes it.
#[track_caller]
fn one_bad(destination: &'static Destination) -> Option<()> {
    let mut stage = Stage::set(destination, House::Strict)?;
    let mut penstock = stage.start(&stage.config(false));
    let count = 10_000;
    let mut sender = Sender::tcp(stage.lab.port("in"));
    let line = |n: usize| if n == BAD { bad() } else { message(n) };
    sender.raw((0..count).map(|n| line(n) + "\n").collect::<String>().as_bytes());
    sender.finish();
    let ledger = penstock.wait_ledger(|ledger| {
        ledger.assert_balanced();
        let row = ledger.destination("k");
        let is_settled = ledger.received() == count as u64 && (row.waiting == 0 || destination.at_end);
        (!is_settled || row.dropped == 0).then(|| "everything dealt with".to_owned())
    });
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    let letters = |lab: &Lab| queue(lab, &["cat", "dead-letters", "--json"]);
    wait_until("the letter", || letters(&stage.lab).lines().count() == 1);
    let letter = letters(&stage.lab);
    // What is no text is shown in hexadecimal.
    let shown = format!("number {BAD} of");
    let hex: String = shown.bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(letter.contains(&shown) || letter.contains(&hex), "{letter}");
    // The server takes it from now on.
    if !stage.receiver.mend() {
        return Some(());
    }
    penstock.reload_with(&stage.lab, &stage.config(false));
    let said = queue(&stage.lab, &["replay", "dead-letters"]);
    assert!(said.starts_with("1 dead letter"), "{said}");
    if destination.at_end {
        penstock.stop();
    }
    let mut texts = Vec::new();
    wait_until("all of it", || {
        texts = stage.receiver.texts();
        texts.len() >= count && texts.contains(&text(BAD))
    });
    let others: Vec<&String> = texts.iter().filter(|found| **found != text(BAD)).collect();
    let expected: Vec<String> = (0..count).filter(|n| *n != BAD).map(text).collect();
    let distinct: HashSet<&&String> = others.iter().collect();
    let doubled = others.len() - distinct.len();
    assert!(expected.iter().all(|one| distinct.contains(&one)), "{}: some are lost", destination.name);
    assert_eq!(texts.len() - others.len(), 1, "{}: the letter", destination.name);
    let may_double = destination.doubles_when_refused;
    assert!(doubled == 0 || may_double, "{}: {doubled} came twice", destination.name);
    assert!(
        doubled > 0 || destination.reorders_when_refused || others == expected.iter().collect::<Vec<_>>(),
        "{}: the order",
        destination.name
    );
    Some(())
}

#[track_caller]
fn reloaded(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Open)?;
    let mut penstock = stage.start(&stage.config(false));
    let (port, count) = (stage.lab.port("in"), destination.count);
    let feeding = std::thread::spawn(move || feed(port, 0, count));
    for options in ["log-fifo-size(20000)", "", "log-fifo-size(20000)", "", "log-fifo-size(20000)"] {
        wait_for_more(destination, &penstock, count);
        let way = Way { port: stage.receiver.port(), house: stage.house, is_wrong: false, options };
        // Another option: the driver is replaced.
        penstock.reload_with(&stage.lab, &stage.with(way));
        penstock.ledger().assert_balanced();
    }
    feeding.join().expect("sent");
    settle(destination, penstock, count as u64);
    stage.assert_in_order(count);
    Some(())
}

/// Waits until some more are delivered, or there are none.
#[track_caller]
fn wait_for_more(destination: &'static Destination, penstock: &Penstock, count: usize) {
    let known = |ledger: &Ledger| {
        let row = ledger.destination("k");
        if destination.at_end { row.received } else { row.delivered }
    };
    let before = known(&penstock.ledger());
    wait_until("some of it", || {
        let ledger = penstock.ledger();
        let now = known(&ledger);
        // A replaced one may count from nothing.
        now > before || now >= count as u64 || ledger.received() >= count as u64 && ledger.waiting() == 0
    });
}

#[track_caller]
fn taken_over(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Open)?;
    let config = stage.config(false);
    let mut penstock = stage.start(&config);
    let (port, piece) = (stage.lab.port("in"), destination.count / 4);
    let mut sent = 0;
    for _ in 0..3 {
        let feeding = std::thread::spawn(move || feed(port, sent, sent + piece));
        sent += piece;
        // Each process counts from nothing.
        wait_for_more(destination, &penstock, piece);
        penstock = take_over(&stage.lab, penstock, &config);
        penstock.ledger().assert_balanced();
        feeding.join().expect("sent");
    }
    settle(destination, penstock, 0);
    stage.assert_in_order(sent);
    Some(())
}

/// Bytes of a message of the slow trial, of the messages, and by how much memory may grow meanwhile.
const LONG: usize = 4000;
const LONG_COUNT: usize = 8000;
const GROWTH_MAX: u64 = 24 << 20;

/// Through a thin line come no more bytes than it carries: senders wait, the program stays as it is.
#[track_caller]
fn slow(destination: &'static Destination) -> Option<()> {
    let stage = Stage::set(destination, House::Open)?;
    let proxy = Proxy::to(stage.receiver.port());
    let penstock = stage.start(&stage.at(proxy.port(), false));
    // What it needs at all it has after this.
    stage.feed(0, 1000);
    wait_until("the first of it", || penstock.ledger().destination("k").received == 1000);
    let before = resident(&penstock);
    // A hundred kilobytes a second, then as fast as it goes.
    proxy.pace(Some(1000));
    let port = stage.lab.port("in");
    let feeding = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        let padding = "x".repeat(LONG);
        for n in 1000..1000 + LONG_COUNT {
            sender.raw(format!("{} {padding}\n", message(n)).as_bytes());
        }
        sender.finish();
    });
    let mut looks = (0, 0);
    wait_until("the sender to be held back", || {
        let ledger = penstock.ledger();
        ledger.assert_balanced();
        let received = ledger.received();
        looks = if received == looks.0 { (received, looks.1 + 1) } else { (received, 0) };
        looks.1 > 100
    });
    assert!(looks.0 < (1000 + LONG_COUNT) as u64, "{}: nobody was held back", destination.name);
    let grown = resident(&penstock).saturating_sub(before);
    assert!(grown < GROWTH_MAX, "{}: {} KiB more", destination.name, grown >> 10);
    proxy.pace(None);
    feeding.join().expect("sent");
    let count = 1000 + LONG_COUNT;
    settle(destination, penstock, count as u64);
    let texts = stage.receiver.texts();
    assert_eq!(texts.len(), count, "{}", destination.name);
    Some(())
}

/// Bytes of memory that it has now.
fn resident(penstock: &Penstock) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", penstock.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
