//! `penstock explain` on the running program: where a message is at a class in Python, in a log store, at a
//! receiver of rltp, and after it has waited on disk.

use crate::explain_where::{asked, numbers, queue, texts};
use crate::messages::HEAD;
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;
use testkit::{Collector, Lab, Penstock, Sender, run_command, skip, wait_until};

#[test]
fn in_a_class_under_its_number() {
    if !Command::new("python3").arg("-V").output().is_ok_and(|out| out.status.success()) {
        return skip("python3 is not installed");
    }
    let lab = Lab::new();
    let class = "python(class(\"Taker\"));\n};\npython {\nimport syslogng\nclass Taker(syslogng.LogDestination):\n    \
                 def send(self, msg):\n        return True\n";
    let queues = asked(&lab, class);
    assert_eq!(texts(&queues, "class"), ["Taker"].into());
    assert_eq!(numbers(&queues, "number").len(), 3, "each has its own: {queues:?}");
}

#[test]
fn in_a_log_store_under_its_number() {
    let lab = Lab::new();
    // One that is closed has some already.
    let store = "logstore(\"%dir%/out.lgs\" template(\"$MSG $RCPTID\\n\") chunk-time(1));";
    let queues = asked(&lab, store);
    let path = lab.path("out.lgs").display().to_string();
    assert_eq!(texts(&queues, "store"), [path.as_str()].into());
    let numbers = numbers(&queues, "message");
    assert_eq!(numbers.len(), 3, "each has its own: {queues:?}");
    // The number is that by which the store finds it.
    let count = run_command(&["logstore", "cat", &path]).stdout.lines().count() as u64;
    assert!(numbers.iter().all(|number| (1..=count).contains(number)), "{numbers:?} of {count}");
}

#[test]
fn in_a_batch_of_rltp() {
    let (lab, there) = (Lab::new(), Lab::new());
    let receiver = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) transport(rltp)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let penstock = Penstock::start(&there, &receiver);
    let port = there.port("in");
    let queues = asked(&lab, &format!("network(127.0.0.1 port({port}) transport(rltp));"));
    assert!(texts(&queues, "server").iter().all(|server| server.contains(&format!(":{port}"))), "{queues:?}");
    let places: BTreeSet<(u64, u64)> = queues
        .iter()
        .map(|queue| &queue["place"])
        .map(|place| (place["batch"].as_u64().expect("a batch"), place["message"].as_u64().expect("a place")))
        .collect();
    assert_eq!(places.len(), 3, "each has its own: {queues:?}");
    penstock.stop();
}

/// The peer is away, so the message goes to disk; there it is forgotten in memory, and comes back.
#[test]
fn after_it_has_waited_on_disk() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) template(\"$MSG\\n\") \
         disk-buffer(capacity-bytes(1GiB) reliable(yes) front-cache-size(10))); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    // More than stays in memory.
    let mut sender = Sender::tcp(lab.port("in"));
    for number in 0..3000 {
        sender.line(&format!("<13>Nov 11 01:02:03 web before: number {number} {}", "x".repeat(500)));
    }
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 3000).then(|| "all of it".to_owned()));
    let state = lab.path("state").display().to_string();
    let told = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let args = ["explain", "--state-dir", &state, "--next", "program(asked)", "--timeout", "60"];
            run_command(&[&args[..], &["--wait", "120", "--json"]].concat())
        });
        // Until one came while the question was open, and waits.
        let waits = || {
            let ledger = run_command(&["ledger", "--state-dir", &state, "--json"]);
            let ledger: Value = serde_json::from_str(&ledger.stdout).expect("JSON");
            ledger["destinations"][0]["waiting"].as_u64().unwrap_or_default()
        };
        wait_until("a message on disk", || {
            sender.line("<13>Nov 11 01:02:03 web asked: this one");
            waits() > 3100
        });
        let collector = Collector::tcp(lab.port("out"));
        let told = asking.join().expect("the answer");
        assert!(collector.lines().len() > 3000);
        told
    });
    assert_eq!(told.code, Some(0), "{told:?}");
    let told: Value = serde_json::from_str(&told.stdout).expect("JSON");
    let queue = queue(&told["messages"][0]["steps"]).expect("a queue");
    assert_eq!(queue["state"], "delivered", "{queue}");
    let server = queue["place"]["server"].as_str().unwrap_or_else(|| panic!("no place: {queue}"));
    assert!(server.contains(&format!(":{}", lab.port("out"))), "{queue}");
    penstock.stop();
}
