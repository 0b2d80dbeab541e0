//! file() with many names: more than there are descriptors, and more than are known at once. Every line
//! arrives.

use crate::messages::HEAD;
use std::collections::BTreeMap;
use testkit::{Lab, Penstock, Sender, wait_until};

fn config(flags: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/logs/${{HOST}}.log\" create-dirs(yes) template(\"$MSG\\n\")); }};\n\
         log {{ source(s); destination(d); {flags} }};\n"
    )
}

fn message(host: usize, number: usize) -> String {
    format!("<13>Oct 11 22:14:15 h{host} app: m{number}")
}

/// The numbers in each file.
fn written(lab: &Lab) -> BTreeMap<String, Vec<String>> {
    let Ok(folder) = std::fs::read_dir(lab.path("logs")) else { return BTreeMap::new() };
    let files = folder.flatten().map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let text = std::fs::read_to_string(entry.path()).unwrap();
        (name, text.lines().map(str::to_owned).collect())
    });
    files.collect()
}

#[track_caller]
fn assert_all(lab: &Lab, hosts: usize, rounds: usize) {
    let written = written(lab);
    assert_eq!(written.len(), hosts);
    for host in 0..hosts {
        let expected: Vec<String> = (0..rounds).map(|round| format!("m{round}")).collect();
        assert_eq!(written.get(&format!("h{host}.log")), Some(&expected), "h{host}");
    }
}

fn send(lab: &Lab, hosts: usize, rounds: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    for round in 0..rounds {
        let text: String = (0..hosts).map(|host| message(host, round) + "\n").collect();
        sender.raw(text.as_bytes());
    }
    sender.finish();
}

#[test]
fn more_hosts_than_descriptors() {
    let (hosts, rounds) = (300, 10);
    let lab = Lab::new();
    let started = Penstock::configure(&lab, &config("flags(flow-control);"));
    let mut penstock = started.ulimit("-n 64").arg("--worker-threads=2").ready();
    send(&lab, hosts, rounds);
    penstock.wait_settled((hosts * rounds) as u64);
    assert_all(&lab, hosts, rounds);
    let open = std::fs::read_dir(format!("/proc/{}/fd", penstock.id())).unwrap().flatten();
    let of_files =
        open.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to.starts_with(lab.path("logs"))));
    let numbers = of_files.map(|fd| fd.file_name().to_str().unwrap().parse().unwrap());
    assert!(numbers.max().is_some_and(|last: u32| last < 48), "an eighth, at least 16, is held back");
    // Descriptors are left for the control socket and for a reload.
    penstock.reload();
    assert!(penstock.stats().contains("dst.file"), "{}", penstock.stats());
    send(&lab, hosts, 1);
    let ledger = penstock.wait_settled((hosts * (rounds + 1)) as u64);
    ledger.assert_nothing_lost();
    penstock.stop();
}

#[test]
fn connections_leave_descriptors_for_control() {
    let lab = Lab::new();
    let config = config("").replace("port(%tcp:in%)", "port(%tcp:in%) max-connections(1000)");
    let mut penstock = Penstock::configure(&lab, &config).ulimit("-n 64").arg("--worker-threads=2").ready();
    let mut senders: Vec<Sender> = (0..80).map(|_| Sender::tcp(lab.port("in"))).collect();
    penstock.wait_log("No descriptor is left for another connection");
    assert!(penstock.stats().contains("src."), "{}", penstock.stats());
    // Those that wait are served when others are gone; idle files give their descriptors first.
    for (host, sender) in senders.iter_mut().enumerate() {
        sender.line(&message(host, 0));
    }
    senders.into_iter().for_each(Sender::finish);
    wait_until("a line of each connection", || written(&lab).len() == 80);
    penstock.wait_settled(80);
    penstock.stop();
}

#[test]
fn more_names_than_are_known_at_once() {
    let (hosts, rounds) = (20_000, 2);
    let lab = Lab::new();
    for flags in ["flags(flow-control);", ""] {
        let mut penstock = Penstock::start(&lab, &config(flags));
        send(&lab, hosts, rounds);
        let ledger = penstock.wait_settled((hosts * rounds) as u64);
        ledger.assert_nothing_lost();
        assert_all(&lab, hosts, rounds);
        penstock.stop();
        std::fs::remove_dir_all(lab.path("logs")).unwrap();
    }
}
