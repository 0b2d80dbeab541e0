//! Why something waits: in the ledger, in the log, in the health check. Judged by what was arranged: a server
//! that refuses, one that does not read, a disk without room, a queue that is full.

use crate::messages::{HEAD, message, send};
use serde_json::Value;
use std::net::TcpListener;
use std::time::{Duration, Instant};
use testkit::{Collector, Lab, Penstock, Sender, run_command, wait_until};

fn ledger(lab: &Lab, args: &[&str]) -> String {
    let state = lab.path("state").display().to_string();
    let outcome = run_command(&[&["ledger", "--state-dir", &state], args].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    outcome.stdout
}

fn wait_of(lab: &Lab, destination: &str) -> Option<Value> {
    let json: Value = serde_json::from_str(&ledger(lab, &["--json"])).expect("JSON");
    assert_eq!(json["version"], 1);
    let waits = json["waits"].as_array().expect("a list");
    waits.iter().find(|wait| wait["destination"] == destination).cloned()
}

/// Waits until the ledger says that it waits, and that this holds.
fn wait_for(lab: &Lab, destination: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let mut last = None;
    wait_until("the reason", || {
        last = wait_of(lab, destination);
        last.as_ref().is_some_and(&holds)
    });
    last.expect("a reason")
}

fn wait_over(lab: &Lab, destination: &str) {
    wait_until("the end of it", || wait_of(lab, destination).is_none());
}

/// Sends for ever on a connection of its own, as long as somebody reads.
fn keep_sending(port: u16) {
    let mut sender = Sender::tcp(port);
    std::thread::spawn(move || {
        let line = format!("{} {}\n", message(0, 0), "x".repeat(1000));
        while sender.try_raw(line.as_bytes()).is_ok() {}
    });
}

#[test]
fn a_server_that_refuses_holds_its_source_and_another_destination() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) log-iw-size(100) max-connections(1)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) time-reopen(2)); }};\n\
             destination d_file {{ file(\"%dir%/out\"); }};\n\
             log {{ source(s); destination(d); destination(d_file); flags(flow-control); }};\n"
        ),
    );
    assert!(penstock.request("HEALTHCHECK").starts_with("OK"));
    keep_sending(lab.port("in"));
    let wait = wait_for(&lab, "d#0", |wait| {
        wait["holds"] == serde_json::json!(["s#0"]) && wait["starves"] == serde_json::json!(["d_file#0"])
    });
    assert_eq!(wait["state"], "stands-still");
    let error = wait["error"]["text"].as_str().expect("an error");
    assert!(error.contains("refused") && error.contains(&lab.port("out").to_string()), "{error}");
    assert!(wait["next_try_seconds"].as_u64().is_none_or(|seconds| seconds <= 2), "{wait}");
    assert!(wait["waiting"].as_u64() > Some(0) && wait["room"].is_null(), "{wait}");
    assert!(wait["remedy"].as_str().expect("a remedy").contains("disk-buffer()"));
    let text = ledger(&lab, &[]);
    let line = text.lines().find(|line| line.starts_with("waits: destination d#0")).expect("a sentence");
    assert!(line.contains("it holds s#0 back, so that d_file#0 gets nothing"), "{line}");
    penstock.wait_log("Destination waits; why='destination d#0");
    // What is held for longer than ten seconds is not well.
    let mut health = String::new();
    wait_until("the complaint", || {
        health = penstock.request("HEALTHCHECK");
        health.starts_with("FAIL")
    });
    assert!(health.contains("destination d#0") && health.contains("it holds s#0 back"), "{health}");
    let _collector = Collector::tcp(lab.port("out"));
    wait_over(&lab, "d#0");
    penstock.wait_log("Destination does not wait any more; destination='d#0'");
    wait_until("health", || penstock.request("HEALTHCHECK").starts_with("OK"));
    assert_eq!(penstock.log().matches("Destination waits; why='destination d#0").count(), 1);
}

#[test]
fn a_server_that_does_not_read_says_nothing_and_is_named() {
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let _penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%tcp:out%) so-sndbuf(4096)); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        ),
    );
    keep_sending(lab.port("in"));
    let wait = wait_for(&lab, "d#0", |wait| wait["holds"] == serde_json::json!(["s#0"]));
    assert_eq!((&wait["state"], &wait["error"]), (&"stands-still".into(), &Value::Null), "{wait}");
    // It waits whether it is in the queue or in a batch that is under way: both count the same.
    let ledger: Value = serde_json::from_str(&ledger(&lab, &["--json"])).expect("JSON");
    assert_eq!(ledger["waits"][0]["waiting"], ledger["destinations"][0]["waiting"], "{ledger:#}");
    collector.resume();
    wait_over(&lab, "d#0");
}

#[test]
fn how_much_room_there_is_and_what_is_dropped() {
    let lab = Lab::new();
    let penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) log-fifo-size(100)); }};\n\
             destination d_disk {{ network(127.0.0.1 port(%port:disk%) disk-buffer(capacity-bytes(1GiB) reliable(yes))); }};\n\
             log {{ source(s); destination(d); destination(d_disk); }};\n"
        ),
    );
    send(&lab, 0, 50);
    let wait = wait_for(&lab, "d#0", |wait| wait["room"]["used"] == 50);
    assert_eq!((&wait["room"]["option"], &wait["room"]["max"]), (&"log-fifo-size".into(), &100.into()));
    assert_eq!((&wait["state"], &wait["dropped"]), (&"stands-still".into(), &0.into()));
    send(&lab, 1, 200);
    let wait = wait_for(&lab, "d#0", |wait| wait["state"] == "drops");
    assert_eq!((&wait["dropped"], &wait["room"]["used"]), (&150.into(), &100.into()));
    assert!(wait["sentence"].as_str().is_some_and(|s| s.contains("150 messages dropped")), "{wait}");
    let wait = wait_for(&lab, "d_disk#0", |wait| wait["waiting"] == 250);
    assert_eq!((&wait["room"]["unit"], &wait["room"]["max"]), (&"bytes".into(), &(1u64 << 30).into()));
    assert!(wait["room"]["used"].as_u64() > Some(250 * 50) && wait["holds"] == serde_json::json!([]));
    // While more comes the room goes away: when it is used up can be said.
    keep_sending(lab.port("in"));
    wait_for(&lab, "d_disk#0", |wait| wait["room"]["full_in_seconds"].as_u64() > Some(0));
    assert!(penstock.request("HEALTHCHECK").contains("destination d#0 drops messages"));
}

#[test]
fn a_disk_without_room() {
    let lab = Lab::new();
    let penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ file(\"/dev/full\"); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        ),
    );
    send(&lab, 0, 3);
    let wait = wait_for(&lab, "d#0", |wait| wait["error"]["times"].as_u64() > Some(1));
    let error = wait["error"]["text"].as_str().expect("an error");
    assert!(error.starts_with("/dev/full: No space left"), "{error}");
    let ledger = penstock.ledger();
    assert_eq!(ledger.destination("d").waiting, 3);
    ledger.assert_balanced();
}

/// What flows is no reason, however much it is.
#[test]
fn what_flows_is_not_named() {
    let lab = Lab::new();
    // It reads and forgets: a collector would keep gigabytes.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = std::io::copy(&mut { stream }, &mut std::io::sink());
        }
    });
    let penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port({port})); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        ),
    );
    keep_sending(lab.port("in"));
    // It is looked at every second: a few looks.
    let begin = Instant::now();
    wait_until("eight seconds of traffic", || {
        assert_eq!(wait_of(&lab, "d#0"), None);
        begin.elapsed() > Duration::from_secs(8)
    });
    assert!(penstock.ledger().destination("d").delivered > 1000);
    assert!(!penstock.log().contains("Destination waits"));
}

/// `destination` gets what comes to `s`; `health` is what `health()` says.
fn with_health(health: &str, destination: &str) -> String {
    format!(
        "{HEAD}options {{ health({health}); }};\n\
         source s {{ network(ip(127.0.0.1) port(%tcp:in%) log-iw-size(100) max-connections(1)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const REFUSES: &str = "network(127.0.0.1 port(%port:out%) time-reopen(1));";

#[test]
fn a_source_that_is_held_is_named_with_who_holds_it() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &with_health("waits(0) held(4)", REFUSES));
    keep_sending(lab.port("in"));
    let held = || {
        let json: Value = serde_json::from_str(&ledger(&lab, &["--json"])).expect("JSON");
        json["held"].as_array().expect("a list").first().cloned()
    };
    wait_until("the source", || held().is_some());
    let one = held().expect("a source");
    assert_eq!((&one["source"], &one["by"]), (&"s#0".into(), &serde_json::json!(["d#0"])), "{one}");
    let text = ledger(&lab, &[]);
    let line = text.lines().find(|line| line.starts_with("held: source s#0")).expect("a sentence");
    assert!(line.contains("waits at d#0; disk-buffer() of d#0 lets it go on"), "{line}");
    penstock.wait_log("Source is held back; why='source s#0");
    // A destination may wait for ever here, a source may not be held.
    let mut health = String::new();
    wait_until("the complaint", || {
        health = penstock.request("HEALTHCHECK");
        health.starts_with("FAIL")
    });
    assert!(health.contains("source s#0") && !health.contains("destination d#0 ("), "{health}");
    let _collector = Collector::tcp(lab.port("out"));
    penstock.wait_log("Source is not held back any more; source='s#0'");
    wait_until("health", || penstock.request("HEALTHCHECK").starts_with("OK"));
    assert_eq!(penstock.log().matches("Source is held back; why='source s#0").count(), 1);
}

#[test]
fn what_is_not_well_is_for_the_configuration_to_say() {
    let lab = Lab::new();
    let drops = "network(127.0.0.1 port(%port:out%) log-fifo-size(10));";
    let config = |health| with_health(health, drops).replace("flags(flow-control);", "");
    let penstock = Penstock::start(&lab, &config("waits(0) drops(no)"));
    send(&lab, 0, 100);
    wait_for(&lab, "d#0", |wait| wait["state"] == "drops" && wait["since_seconds"].as_u64() > Some(4));
    assert!(penstock.request("HEALTHCHECK").starts_with("OK"));
    penstock.rewrite(&lab, &config("waits(1) drops(no)"));
    assert!(penstock.reload().starts_with("OK"));
    let health = penstock.request("HEALTHCHECK");
    assert!(health.starts_with("FAIL") && health.contains("messages dropped"), "{health}");
}

#[test]
fn a_disk_that_is_nearly_full_is_not_well() {
    let lab = Lab::new();
    // No file system is empty.
    let config = with_health("disk-free(100)", "file(\"%dir%/out\");");
    // It never is well: ready is when it answers.
    let mut penstock = Penstock::configure(&lab, &config).spawned();
    let mut health = String::new();
    wait_until("the complaint", || {
        health = testkit::ask(penstock.state(), "HEALTHCHECK").unwrap_or_default();
        health.starts_with("FAIL")
    });
    let state = lab.path("state").display().to_string();
    assert!(health.contains("the file system of ") && health.contains(" free, "), "{health}");
    assert!(ledger(&lab, &[]).lines().any(|line| line.starts_with("disk: the file system of ")));
    let json: Value = serde_json::from_str(&ledger(&lab, &["--json"])).expect("JSON");
    let disk = &json["disks"][0];
    let users = disk["users"].as_array().expect("a list");
    assert!(users.contains(&"state".into()) && users.contains(&"d#0".into()), "{disk} {state}");
    assert!(disk["free_bytes"].as_u64() < disk["size_bytes"].as_u64() && disk["is_low"] == true, "{disk}");
    penstock.wait_log("A disk will be full; why='the file system of ");
    penstock.reload_with(&lab, &config.replace("disk-free(100)", "disk-free(0)"));
    wait_until("health", || penstock.request("HEALTHCHECK").starts_with("OK"));
}

#[test]
fn what_a_destination_refuses_is_said_once_and_when_it_has_ended() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(
        &lab,
        &format!(
            "{HEAD}options {{ log-msg-size(200000); }};\n\
             source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) transport(udp)); }};\n\
             log {{ source(s); destination(d); }};\n"
        ),
    );
    // Too large for a datagram.
    let long = format!("{} {}\n", message(0, 0), "x".repeat(100_000));
    let mut sender = Sender::tcp(lab.port("in"));
    assert!(sender.try_raw(long.repeat(3).as_bytes()).is_ok());
    penstock.wait_log("Messages are dropped; destination='d#0', reason='refused', dropped='");
    penstock.wait_log(
        "Messages are not dropped any more; destination='d#0', reason='refused', dropped_in_all='3'",
    );
    assert_eq!(penstock.log().matches("Messages are dropped; destination='d#0'").count(), 1);
}
