//! What was acknowledged is never lost, whatever becomes of its destination: judged by what the receivers got against what the sender
//! was told.

use crate::messages::{HEAD, assert_complete, message, send, wait_waiting};
use std::collections::BTreeSet;
use testkit::{Collector, Lab, Penstock, RelpSender, Sender, run_command, wait_until};

/// RELP in, with flow-control, to one destination.
fn config(name: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination {name} {{ {destination} }};\nlog {{ source(s); destination({name}); flags(flow-control); }};\n"
    )
}

fn to_network(options: &str) -> String {
    format!("network(127.0.0.1 port(%port:out%) {options});")
}

fn sender(lab: &Lab, first: usize) -> RelpSender {
    let long = "x".repeat(600);
    RelpSender::start(lab.port("in"), first, move |n| Some(format!("{} {long}", message(0, n))))
}

/// Waits until the source takes nothing more.
#[track_caller]
fn wait_stuck(penstock: &Penstock) {
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = penstock.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
}

/// The numbers of the messages that were received, in order.
fn numbers(collector: &Collector) -> Vec<usize> {
    let number = |line: &String| line.split(' ').skip_while(|word| *word != "number").nth(1)?.parse().ok();
    collector.lines().iter().filter_map(number).collect()
}

/// Waits for everything that was acknowledged.
#[track_caller]
fn wait_for_all(collector: &Collector, acknowledged: &BTreeSet<usize>) {
    wait_until("all that was acknowledged", || {
        let got: BTreeSet<usize> = numbers(collector).into_iter().collect();
        acknowledged.is_subset(&got)
    });
}

#[test]
fn a_reload_at_capacity_loses_nothing_whatever_it_changes() {
    let full = |options: &str| to_network(&format!("disk-buffer(capacity-bytes(1MiB) {options})"));
    let yes = full("reliable(yes)");
    let changes = [
        full("reliable(yes)) time-reopen(2"),
        full("reliable(no)"),
        to_network("disk-buffer(capacity-bytes(2MiB) reliable(yes))"),
        full("reliable(yes) front-cache-size(10)"),
        full("reliable(yes)) log-fifo-size(77"),
        to_network(""),
    ];
    for change in &changes {
        for (before, after) in [(&yes, change), (change, &yes)] {
            let lab = Lab::new();
            let mut penstock = Penstock::start(&lab, &config("d", before));
            let sender = sender(&lab, 0);
            wait_stuck(&penstock);
            penstock.reload_with(&lab, &config("d", after));
            penstock.ledger().assert_balanced();
            penstock.reload_with(&lab, &config("d", before));
            wait_stuck(&penstock);
            let acknowledged = sender.stop();
            assert!(!acknowledged.is_empty(), "{change}");
            let collector = Collector::tcp(lab.port("out"));
            wait_for_all(&collector, &acknowledged);
            let got = numbers(&collector);
            assert!(got.is_sorted_by(|a, b| a < b), "in order, once");
            penstock.ledger().assert_balanced();
            penstock.stop();
        }
    }
}

pub fn queue(lab: &Lab, args: &[&str]) -> String {
    let state = lab.path("state").to_string_lossy().into_owned();
    let outcome = run_command(&[&["queue", "--state-dir", &state], args].concat());
    assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
    outcome.stdout
}

#[test]
fn what_waits_for_a_destination_that_is_renamed_or_removed_becomes_dead_letters() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("d", &to_network("")));
    let sender = sender(&lab, 0);
    wait_stuck(&penstock);
    assert!(sender.acknowledged().is_empty());
    penstock.reload_with(&lab, &config("e", "file(\"%dir%/e\");"));
    wait_until("the sender to be answered", || sender.acknowledged().len() > 300);
    let acknowledged = sender.stop();
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    let letters = ledger.dropped_for("dead-letter");
    assert!(letters > 0 && ledger.dropped() == letters, "{letters} of {}", ledger.dropped());
    assert_eq!(queue(&lab, &["cat", "dead-letters"]).lines().count() as u64, letters);
    assert!(
        queue(&lab, &["replay", "dead-letters", "--to", "e"]).starts_with(&format!("{letters} dead letters"))
    );
    let number = |line: String| line.split(' ').skip_while(|w| *w != "number").nth(1)?.parse::<usize>().ok();
    wait_until("all that was acknowledged in the file", || {
        let got: BTreeSet<usize> = lab.lines("e").into_iter().filter_map(number).collect();
        acknowledged.is_subset(&got)
    });
    let log = penstock.stop();
    assert!(log.contains("are kept as dead letters"), "{log}");
}

/// Plain TCP in, no flow-control, no `disk-buffer()`.
pub fn plain(options: &str) -> String {
    format!(
        "{HEAD}options {{ {options} }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {} }};\nlog {{ source(s); destination(d); }};\n",
        to_network("")
    )
}

#[test]
fn what_a_stop_leaves_is_sent_after_the_next_start_before_anything_newer() {
    const COUNT: usize = 1000;
    let lab = Lab::new();
    let config = plain("");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    wait_waiting(&mut penstock, COUNT);
    send(&lab, 1, COUNT);
    wait_waiting(&mut penstock, 2 * COUNT);
    penstock.stop();
    // Twice, and with more behind it.
    let penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    let lines = collector.wait_lines(2 * COUNT);
    assert_complete(&lines, 2, COUNT);
    assert!(lines[COUNT - 1].ends_with("of connection 0") && lines[COUNT].ends_with("of connection 1"));
    penstock.ledger().assert_balanced();
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    wait_waiting(&mut penstock, 0);
    assert_eq!(collector.lines().len(), 2 * COUNT, "nothing twice");
}

#[test]
fn what_a_peer_does_not_read_before_the_stop_comes_once_after_the_next_start() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let penstock = Penstock::start(&lab, &plain(""));
    let long = "x".repeat(4000);
    let mut sender = Sender::tcp(lab.port("in"));
    (0..COUNT).for_each(|n| sender.line(&format!("{} {long}", message(0, n))));
    wait_until("everything received", || penstock.ledger().received() == COUNT as u64);
    assert!(penstock.ledger().waiting() > 0, "the sockets have taken it all");
    drop(sender);
    penstock.stop();
    collector.resume();
    let penstock = Penstock::start(&lab, &plain(""));
    wait_until("all of them", || numbers(&collector).into_iter().collect::<BTreeSet<_>>().len() == COUNT);
    let whole = collector.lines().into_iter().filter(|line| line.ends_with(&long)).count();
    assert_eq!(whole, COUNT, "each once, whole");
    penstock.stop();
}

#[test]
fn with_keep_on_stop_no_it_is_given_up_and_said() {
    const COUNT: usize = 100;
    let lab = Lab::new();
    let config = plain("keep-on-stop(no);");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    let log = penstock.stop();
    assert!(log.contains("given up with it") && log.contains("messages='100'"), "{log}");
    let penstock = Penstock::start(&lab, &config);
    assert_eq!(penstock.ledger().waiting(), 0);
}
