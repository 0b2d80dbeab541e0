//! `http()` beside the straight way: dead letters sent again, proxies, redirects, workers by key, wrong
//! tokens, and servers that are killed again and again.

use crate::http::{Taken, config, feed};
use crate::kept::queue;
use crate::messages::{line, message};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use testkit::{HttpServer, Lab, Penstock, Reply, Sender, wait_until};

#[test]
fn a_dead_letter_is_read_and_sent_again() {
    const MANY: usize = 10_000;
    let lab = Lab::new();
    let (taken, is_strict) = (Taken::default(), Arc::new(AtomicBool::new(true)));
    let (there, strict) = (taken.clone(), Arc::clone(&is_strict));
    let server = HttpServer::start(0, move |request| {
        match strict.load(Ordering::SeqCst) && request.text().contains("number 7777 ") {
            true => Reply::new(400).body("line 3: not what we take"),
            false => there.take(request),
        }
    });
    let text =
        config(server.port(), "batch-lines(1000)").replace("options {", "options { dead-letters(yes);");
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab, MANY);
    penstock.wait_ledger(|ledger| {
        (ledger.received() < MANY as u64 || ledger.waiting() > 0).then(|| "everything settled".to_owned())
    });
    wait_until("the letter", || queue(&lab, &["cat", "dead-letters"]).lines().count() == 1);
    let letter = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert!(letter.contains("number 7777 ") && letter.contains("not what we take"), "{letter}");
    is_strict.store(false, Ordering::SeqCst);
    let said = queue(&lab, &["replay", "dead-letters"]);
    assert!(said.starts_with("1 dead letter"), "{said}");
    wait_until("all of it", || taken.lines().len() >= MANY);
    assert_eq!(taken.assert_all(MANY), 0, "came twice");
    penstock.stop();
}

#[test]
fn through_a_proxy() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let proxy = HttpServer::start(0, move |request| there.take(request));
    let options = format!("batch-lines(100) proxy(\"http://me:secret@127.0.0.1:{}\")", proxy.port());
    let text = config(0, &options).replace("http://127.0.0.1:0/in", "http://logs.invalid:81/in");
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab, 500);
    penstock.wait_settled(500).assert_nothing_lost();
    assert_eq!(taken.assert_all(500), 0);
    for request in proxy.requests() {
        assert_eq!(request.path, "http://logs.invalid:81/in");
        assert_eq!(request.header("host"), "logs.invalid:81");
        assert_eq!(request.header("proxy-authorization"), "Basic bWU6c2VjcmV0");
    }
    penstock.stop();
}

#[test]
fn the_environment_names_a_proxy() {
    let (lab, taken) = (Lab::new(), Taken::default());
    let there = taken.clone();
    let proxy = HttpServer::start(0, move |request| there.take(request));
    let address = format!("http://127.0.0.1:{}/", proxy.port());
    let text = config(0, "batch-lines(100)").replace("http://127.0.0.1:0/in", "http://logs.invalid:81/in");
    let mut penstock = Penstock::configure(&lab, &text).env("http_proxy", &address).ready();
    feed(&lab, 500);
    penstock.wait_settled(500).assert_nothing_lost();
    assert_eq!(taken.assert_all(500), 0);
    assert!(proxy.requests().iter().all(|request| request.path == "http://logs.invalid:81/in"));
    penstock.stop();

    // Two ways to be asked directly.
    for (options, none) in [("proxy(\"\")", "other.invalid"), ("", "example.org, 127.0.0.1")] {
        let (lab, taken) = (Lab::new(), Taken::default());
        let there = taken.clone();
        let server = HttpServer::start(0, move |request| there.take(request));
        let text = config(server.port(), &format!("batch-lines(100) {options}"));
        let start = Penstock::configure(&lab, &text).env("http_proxy", "http://127.0.0.1:9/");
        let mut penstock = start.env("no_proxy", none).ready();
        feed(&lab, 100);
        penstock.wait_settled(100).assert_nothing_lost();
        assert_eq!(taken.assert_all(100), 0);
        assert!(server.requests().iter().all(|request| request.path == "/in"));
        penstock.stop();
    }
}

#[test]
fn redirects_are_followed_when_asked_for_and_tell_nobody_the_password() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let second = HttpServer::start(0, move |request| there.take(request));
    let leads = format!("http://127.0.0.1:{}/there", second.port());
    let first = HttpServer::start(0, move |_| Reply::new(307).header("Location", &leads));
    let options = "batch-lines(100) user(me) password(secret)";
    let mut penstock = Penstock::start(&lab, &config(first.port(), options));
    feed(&lab, 500);
    penstock.wait_log("takes nothing until something is done");
    assert_eq!((second.requests().len(), penstock.ledger().dropped()), (0, 0));
    penstock.reload_with(&lab, &config(first.port(), &format!("{options} accept-redirects(yes)")));
    penstock.wait_settled(500).assert_nothing_lost();
    assert_eq!(taken.assert_all(500), 0);
    assert!(first.requests().iter().all(|request| request.header("authorization") == "Basic bWU6c2VjcmV0"));
    let told =
        |request: &testkit::Request| request.path != "/there" || !request.header("authorization").is_empty();
    assert!(!second.requests().iter().any(told));
    penstock.stop();
}

#[test]
fn workers_by_key_keep_the_order_of_each_key() {
    const HOSTS: usize = 7;
    const EACH: usize = 300;
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let options =
        "batch-lines(50) workers(3) worker-partition-key(\"$HOST\") flush-on-worker-key-change(yes)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    let mut sender = Sender::tcp(lab.port("in"));
    for n in 0..EACH {
        let lines: String = (0..HOSTS).map(|host| message(host, n) + "\n").collect();
        sender.raw(lines.as_bytes());
    }
    sender.finish();
    penstock.wait_settled((HOSTS * EACH) as u64).assert_nothing_lost();
    let lines = taken.lines();
    for host in 0..HOSTS {
        let end = format!(" of connection {host}");
        let own: Vec<&String> = lines.iter().filter(|line| line.ends_with(&end)).collect();
        assert_eq!(own.len(), EACH, "host {host}");
        assert!(own.iter().enumerate().all(|(n, own)| **own == line(host, n)), "the order of host {host}");
    }
    for request in server.requests() {
        let ends: std::collections::HashSet<String> =
            request.lines().iter().filter_map(|line| line.rsplit(' ').next().map(str::to_owned)).collect();
        assert_eq!(ends.len(), 1, "one key a batch: {ends:?}");
    }
    penstock.stop();
}

/// A key has two of four workers, and another one two: what they sent is theirs by turns.
#[test]
fn workers_share_a_key_as_they_are_told() {
    for (options, shares) in [
        ("worker-partition-buckets(\"2\")", [2, 2]),
        ("worker-partition-buckets(\"$(if ('$HOST' eq 'host1') 3 1)\")", [1, 3]),
        ("partition-buckets(99)", [4, 4]),
    ] {
        const EACH: usize = 400;
        let lab = Lab::new();
        let taken = Taken::default();
        let there = taken.clone();
        let server = HttpServer::start(0, move |request| there.take(request));
        let options = format!("batch-lines(10) workers(4) worker-partition-key(\"$HOST\") {options}");
        let mut penstock = Penstock::start(&lab, &config(server.port(), &options));
        let mut sender = Sender::tcp(lab.port("in"));
        let lines: String = (0..EACH).flat_map(|n| (0..2).map(move |host| message(host, n) + "\n")).collect();
        sender.raw(lines.as_bytes());
        sender.finish();
        penstock.wait_settled(2 * EACH as u64).assert_nothing_lost();
        assert_eq!(taken.lines().len(), 2 * EACH, "{options}");
        // Each worker has a connection; those that a host came by.
        for (host, share) in shares.iter().enumerate() {
            let end = format!(" of connection {host}");
            let by: std::collections::HashSet<usize> = server
                .requests()
                .iter()
                .filter(|request| request.lines().iter().any(|line| line.ends_with(&end)))
                .map(|request| request.connection)
                .collect();
            assert_eq!(by.len(), *share, "host {host} of {options}");
        }
        penstock.stop();
    }
}

#[test]
fn a_wrong_token_holds_everything() {
    let lab = Lab::new();
    let (taken, is_known) = (Taken::default(), Arc::new(AtomicBool::new(false)));
    let (there, known) = (taken.clone(), Arc::clone(&is_known));
    let server = HttpServer::start(0, move |request| match known.load(Ordering::SeqCst) {
        true => {
            drop(there.take(request));
            Reply::new(200).body("{\"text\":\"Success\",\"code\":0}")
        }
        false => Reply::new(403).body("{\"text\":\"Invalid token\",\"code\":4}"),
    });
    let mut penstock =
        Penstock::start(&lab, &config(server.port(), "batch-lines(100) response-adapter(splunk)"));
    feed(&lab, 500);
    penstock.wait_log("Invalid token");
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("away").delivered, ledger.dropped()), (0, 0), "{ledger}");
    is_known.store(true, Ordering::SeqCst);
    penstock.wait_settled(500).assert_nothing_lost();
    assert_eq!(taken.assert_all(500), 0);
    penstock.stop();
}

#[test]
fn a_server_that_is_killed_twenty_times_loses_nothing() {
    const ROUNDS: usize = 20;
    const EACH: usize = 60;
    let lab = Lab::new();
    let taken = Taken::default();
    let port = testkit::free_port();
    let start = || {
        let there = taken.clone();
        HttpServer::start(port, move |request| there.take(request))
    };
    let mut penstock = Penstock::start(&lab, &config(port, "batch-lines(5) timeout(10)"));
    let mut sender = Sender::tcp(lab.port("in"));
    for round in 0..ROUNDS {
        let before = taken.lines().len();
        let server = start();
        let lines: String = (round * EACH..(round + 1) * EACH).map(|n| message(0, n) + "\n").collect();
        sender.raw(lines.as_bytes());
        wait_until("some of it", || taken.lines().len() > before + 5);
        drop(server);
    }
    sender.finish();
    let _server = start();
    penstock.wait_settled((ROUNDS * EACH) as u64).assert_nothing_lost();
    // At most the batch that was on the way when it died.
    assert!(taken.assert_all(ROUNDS * EACH) <= ROUNDS * 5);
    penstock.stop();
}

#[test]
fn a_batch_that_is_not_full_goes_when_nothing_more_comes() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let options = "batch-lines(1000) batch-timeout(86400000) batch-idle-timeout(1000)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    feed(&lab, 50);
    penstock.wait_settled(50).assert_nothing_lost();
    assert_eq!((taken.assert_all(50), server.requests().len()), (0, 1));
    penstock.stop();
}

/// The memory part of its queue holds less than a batch: nothing but the end waits for the timeout.
#[test]
fn batches_larger_than_what_may_be_in_memory_go_nevertheless() {
    for reliable in ["yes", "no"] {
        let lab = Lab::new();
        let taken = Taken::default();
        let there = taken.clone();
        let server = HttpServer::start(0, move |request| there.take(request));
        let options = format!(
            "batch-lines(5000) batch-timeout(86400000)
             disk-buffer(reliable({reliable}) front-cache-size(1000) capacity-bytes(100MiB))"
        );
        let penstock = Penstock::start(&lab, &config(server.port(), &options));
        feed(&lab, 20_000);
        wait_until("all but one batch", || penstock.ledger().destination("away").delivered >= 19_000);
        assert!(taken.lines().len() >= 19_000);
        assert!(server.requests().len() < 100, "{} requests", server.requests().len());
    }
}

/// What the sources may have under way is less than what all workers gather: nothing but the end waits for
/// the timeout.
#[test]
fn batches_that_hold_their_source_go_before_they_are_full() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let options = "workers(4) batch-lines(5000) batch-timeout(86400000)";
    let text = config(server.port(), options)
        .replace("network(ip(", "network(max-connections(1) log-iw-size(1000) ip(");
    assert!(text.contains("log-iw-size"), "{text}");
    let penstock = Penstock::start(&lab, &text);
    feed(&lab, 20_000);
    wait_until("all but what may be under way", || penstock.ledger().destination("away").delivered >= 19_000);
    assert!(taken.lines().len() >= 19_000);
}
