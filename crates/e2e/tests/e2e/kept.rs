//! What was acknowledged is never lost, whatever becomes of its destination: judged by what the receivers got against what the sender
//! was told.

use crate::messages::{HEAD, message};
use std::collections::BTreeSet;
use testkit::{Collector, Lab, Penstock, RelpSender, wait_until};

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
            assert!(acknowledged.len() > 1000, "{}", acknowledged.len());
            let collector = Collector::tcp(lab.port("out"));
            wait_for_all(&collector, &acknowledged);
            let got = numbers(&collector);
            assert!(got.is_sorted_by(|a, b| a < b), "in order, once");
            penstock.ledger().assert_balanced();
            penstock.stop();
        }
    }
}
