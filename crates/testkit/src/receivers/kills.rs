//! Kills of servers and of collectors, with any destination: what was acknowledged is there afterwards, as
//! another client reads it.

use super::{Destination, House, Receiver, Trial, Way, config, message, text};
use crate::lab::Lab;
use crate::penstock::Penstock;
use crate::relp::RelpSender;
use crate::sender::Sender;
use crate::wait::{wait_until, wait_while_some};
use rustix::process::Signal;
use std::collections::{BTreeSet, HashMap};

/// A queue that outlives the collector.
pub const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(64MiB) dir(\"%dir%\"))";

/// What kills came to.
#[derive(Clone, Copy, Debug)]
pub struct Killed {
    pub acknowledged: usize,
    pub doubled: usize,
}

impl Destination {
    /// A server, and a configuration that sends to it.
    fn started(&self, lab: &Lab, options: &str) -> Option<(Box<dyn Receiver>, String)> {
        let receiver = (self.start)(lab, House::Open)?;
        let way = Way { port: receiver.port(), house: House::Open, is_wrong: false, options };
        let config = config(&receiver.driver(&way));
        Some((receiver, config))
    }
}

/// The server is killed and started again so often while messages come; nothing where it is not installed.
#[track_caller]
pub fn server_killed(destination: &Destination, kills: usize) -> Option<Killed> {
    let lab = Lab::new();
    // What goes at the end only has to outlive it.
    let options = if destination.at_end { DISK } else { "" };
    let (mut receiver, config) = destination.started(&lab, options)?;
    let penstock = Penstock::start(&lab, &config);
    let (port, piece) = (lab.port("in"), destination.count / 10);
    let mut sent = 0;
    for _ in 0..kills {
        let before = penstock.ledger().destination("k").delivered;
        let feeding = std::thread::spawn(move || feed(port, sent, sent + piece));
        sent += piece;
        if !destination.at_end {
            wait_until("some to be delivered", || penstock.ledger().destination("k").delivered > before);
        }
        receiver.kill();
        receiver.run();
        feeding.join().expect("sent");
        penstock.ledger().assert_balanced();
    }
    settle(destination, penstock, sent as u64);
    if destination.at_end {
        // What waited at a start goes at once.
        Penstock::start(&lab, &config).wait_settled_input();
    }
    Some(judge(destination, Trial::ServerKilled, &*receiver, &(0..sent).collect()))
}

/// The collector is killed so often while messages come over RELP and wait on disk.
#[track_caller]
pub fn collector_killed(destination: &Destination, kills: usize) -> Option<Killed> {
    let lab = Lab::new();
    let (receiver, config) = destination.started(&lab, DISK)?;
    let config = config.replace("network(", "relp(");
    let (mut first, mut acknowledged) = (0, BTreeSet::new());
    for round in 0..kills {
        let mut penstock = Penstock::start(&lab, &config);
        let limit = first + destination.count / 5;
        let sender = RelpSender::start(lab.port("in"), first, move |n| (n < limit).then(|| message(n)));
        // A little later each time.
        let enough = (1 + round % 10) * destination.count / 100;
        wait_until("some to be acknowledged", || sender.acknowledged().len() >= enough || sender.has_ended());
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        wait_until("the sender to notice", || sender.has_ended());
        first += sender.sent();
        acknowledged.extend(sender.stop());
    }
    let penstock = Penstock::start(&lab, &config);
    penstock.ledger().assert_balanced();
    settle(destination, penstock, 0);
    Some(judge(destination, Trial::CollectorKilled, &*receiver, &acknowledged))
}

/// Messages from one number to another.
pub fn feed(port: u16, from: usize, to: usize) {
    let mut sender = Sender::tcp(port);
    let block: String = (from..to).map(|n| message(n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

/// Waits until everything is delivered, and ends the program: what is delivered only at its end goes then.
#[track_caller]
pub fn settle(destination: &Destination, mut penstock: Penstock, count: u64) {
    penstock.wait_ledger(|ledger| {
        ledger.assert_balanced();
        (ledger.received() < count).then(|| format!("{count} received"))
    });
    if !destination.at_end {
        penstock.wait_settled_input().assert_balanced();
    }
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.stop();
}

/// Each acknowledged message is there; how many came more than once.
#[track_caller]
fn judge(
    destination: &Destination,
    trial: Trial,
    receiver: &dyn Receiver,
    acknowledged: &BTreeSet<usize>,
) -> Killed {
    let mut seen: HashMap<String, usize> = HashMap::new();
    wait_while_some(|| {
        seen.clear();
        receiver.texts().into_iter().for_each(|text| *seen.entry(text).or_default() += 1);
        let mut missing = acknowledged.iter().filter(|n| !seen.contains_key(&text(**n)));
        let first = missing.next()?;
        let (others, all) = (missing.count(), acknowledged.len());
        Some(format!("{first} and {others} others of {all} that were acknowledged"))
    });
    let doubled = seen.values().map(|times| times - 1).sum();
    let is_once = destination.once.contains(&trial);
    assert!(!is_once || doubled == 0, "{}: {doubled} came twice", destination.name);
    Killed { acknowledged: acknowledged.len(), doubled }
}
