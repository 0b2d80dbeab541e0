//! Reading from copies that are near (`client.rack`), with a cluster of three brokers.

use super::{ALL, assert_all, config};
use std::process::Command;
use testkit::kafka::{KafkaCluster, MISSING};
use testkit::{Lab, Penstock, skip, wait_until};

/// Bytes that the program has received from a port, as the kernel counts them.
fn received(penstock: &Penstock, port: u16) -> u64 {
    let mut command = Command::new("ss");
    command.args(["-tniOpH", "state", "established", "dport", "=", &format!(":{port}")]);
    let output = command.output().expect("ss");
    let owner = format!("pid={},", penstock.id());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let own = text.lines().filter(|line| line.contains(&owner));
    own.filter_map(|line| line.split("bytes_received:").nth(1)?.split(' ').next()?.parse::<u64>().ok()).sum()
}

/// A kilobyte each.
fn lines(from: usize, to: usize) -> String {
    let filling = "x".repeat(1000);
    (from..to).map(|n| format!("key {n} {filling}:value {n}\n")).collect()
}

#[test]
fn a_copy_in_the_same_rack_is_read_and_leaders_while_it_cannot_be() {
    if Command::new("ss").arg("-V").output().is_err() {
        return skip("no ss");
    }
    let lab = Lab::new();
    let Some(mut kafka) = KafkaCluster::start(&lab.path("kafka"), 3) else { return skip(MISSING) };
    kafka.create("logs", 3);
    kafka.produce("logs", &lines(0, 5000));
    let near = config(&kafka.servers(), &format!("{ALL} config(\"client.rack\" => \"rack-2\")"), "$MSG");
    let mut penstock = Penstock::start(&lab, &near);
    penstock.wait_settled(5000).assert_nothing_lost();
    let from = [0, 1, 2].map(|at| received(&penstock, kafka.port(at)));
    // Leaders of a third each name the copy, and bring nothing themselves.
    assert!(from[1] > 5_000_000 && from[0] + from[2] < 500_000, "{from:?}");
    // It is away: its partitions have another leader, and leaders are read.
    kafka.kill(1);
    kafka.produce("logs", &lines(5000, 6000));
    penstock.wait_settled(6000).assert_nothing_lost();
    kafka.run(1);
    kafka.produce("logs", &lines(6000, 7000));
    wait_until("all of it", || lab.lines("out").len() >= 7000);
    assert_eq!(assert_all(&lab.lines("out"), 7000), 0);
    penstock.stop();
}
