//! `ack(yes)`: what a Splunk collector has taken is delivered when its indexer says so, against a server that
//! answers by script and against a receiver that others have written.

use crate::http::{Taken, feed};
use crate::messages::{HEAD, block, message};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use testkit::hec::{Hec, MISSING};
use testkit::{HttpServer, Lab, Penstock, Reply, Request, Sender, skip, wait_until};

const BODY: &str = "body(\"${DATE} ${HOST} ${MSGHDR}${MSG}\")";

fn config(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ http(url(\"http://127.0.0.1:{port}/services/collector/raw?channel=\") {BODY} \
         headers(\"Authorization: Splunk T\") response-adapter(splunk) ack(yes) {options}); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

/// The numbers that a question asks for.
fn asked(request: &Request) -> Vec<u64> {
    let numbers = request.text();
    let numbers = numbers.trim_start_matches("{\"acks\":[").trim_end_matches("]}");
    numbers.split(',').filter_map(|number| number.parse().ok()).collect()
}

/// A collector that takes everything, and an indexer that says what `safe` says of a number.
fn indexer(
    taken: &Taken,
    numbers: &Arc<AtomicU64>,
    safe: impl Fn(u64) -> bool + Send + Sync + 'static,
) -> HttpServer {
    let (there, numbers) = (taken.clone(), Arc::clone(numbers));
    HttpServer::start(0, move |request| {
        if request.path.starts_with("/services/collector/ack?channel=") {
            let said = |n: u64| format!("\"{n}\":{}", safe(n));
            let said: Vec<String> = asked(request).into_iter().map(said).collect();
            return Reply::new(200).body(format!("{{\"acks\":{{{}}}}}", said.join(",")));
        }
        let number = numbers.fetch_add(1, Ordering::SeqCst);
        drop(there.take(request));
        Reply::new(200).body(format!("{{\"text\":\"Success\",\"code\":0,\"ackId\":{number}}}"))
    })
}

#[test]
fn nothing_is_delivered_before_it_is_acknowledged() {
    let lab = Lab::new();
    let (taken, open) = (Taken::default(), Arc::new(AtomicBool::new(false)));
    let is_open = Arc::clone(&open);
    let server = indexer(&taken, &Arc::default(), move |_| is_open.load(Ordering::SeqCst));
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    feed(&lab, 2000);
    // Batches wait for acknowledgements side by side.
    wait_until("all of it taken", || taken.lines().len() == 2000);
    let is_question = |request: &Request| request.path.contains("/ack?");
    wait_until("questions", || server.requests().iter().filter(|request| is_question(request)).count() > 2);
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("away").delivered, ledger.waiting()), (0, 2000), "{ledger}");
    open.store(true, Ordering::SeqCst);
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_eq!(taken.assert_all(2000), 0);
    // One channel, in the header and wherever the address names one; the token asks too.
    let channels: HashSet<String> = server
        .requests()
        .iter()
        .map(|request| request.header("x-splunk-request-channel").to_owned())
        .collect();
    assert_eq!(channels.len(), 1, "{channels:?}");
    let channel = channels.into_iter().next().expect("one");
    assert_eq!(channel.len(), 36);
    for request in server.requests() {
        assert!(request.path.ends_with(&format!("?channel={channel}")), "{}", request.path);
        assert_eq!(request.header("authorization"), "Splunk T");
    }
    penstock.stop();
}

#[test]
fn what_is_never_acknowledged_is_sent_again() {
    let lab = Lab::new();
    let taken = Taken::default();
    // The third batch is lost.
    let server = indexer(&taken, &Arc::default(), |number| number != 2);
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100) ack-timeout(1)"));
    feed(&lab, 1000);
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_eq!((taken.assert_all(1000), taken.lines().len()), (100, 1100));
    penstock.stop();
}

#[test]
fn an_indexer_that_begins_anew_is_not_waited_for() {
    let lab = Lab::new();
    let (taken, numbers, open) =
        (Taken::default(), Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let is_open = Arc::clone(&open);
    let server = indexer(&taken, &numbers, move |_| is_open.load(Ordering::SeqCst));
    // Without the numbers it would wait for ack-timeout(), five minutes.
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    feed(&lab, 300);
    wait_until("all of it taken", || taken.lines().len() == 300);
    numbers.store(0, Ordering::SeqCst);
    open.store(true, Ordering::SeqCst);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(format!("{}\n", message(0, 300)).as_bytes());
    sender.finish();
    penstock.wait_settled(301).assert_nothing_lost();
    taken.assert_all(301);
    penstock.stop();
}

#[test]
fn a_token_without_acknowledgement_holds() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200).body("{\"text\":\"Success\",\"code\":0}"));
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    feed(&lab, 100);
    penstock.wait_log("acknowledgement is off for this token");
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("away").delivered, ledger.dropped()), (0, 0), "{ledger}");
    penstock.stop();
}

fn block_config(port: u16, block: &str, options: &str) -> String {
    format!(
        "{HEAD}@include \"scl.conf\"\nsource own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ {block}(url(\"http://127.0.0.1:{port}\") token(\"T\") workers(2) batch-lines(200) {options}); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

/// How often each number came, by the receiver's account.
fn seen(hec: &Hec) -> HashMap<usize, usize> {
    let mut seen = HashMap::new();
    for event in hec.events() {
        let number =
            event.split("message number ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok());
        *seen.entry(number.unwrap_or_else(|| panic!("{event}"))).or_default() += 1;
    }
    seen
}

#[test]
fn a_real_receiver_acknowledges_events_and_lines() {
    const COUNT: usize = 5000;
    let lab = Lab::new();
    let Some(hec) = Hec::start(&lab) else { return skip(MISSING) };
    let blocks =
        [("splunk-hec-event", "ack(yes)"), ("splunk-hec-raw", "ack(yes) channel(\"none of these\")")];
    for (at, (block, options)) in blocks.into_iter().enumerate() {
        let mut penstock = Penstock::start(&lab, &block_config(hec.port(), block, options));
        feed(&lab, COUNT);
        penstock.wait_settled(COUNT as u64).assert_nothing_lost();
        wait_until("the receiver's file", || hec.events().len() >= COUNT * (at + 1));
        let seen = seen(&hec);
        assert!(seen.len() == COUNT && seen.values().all(|times| *times == at + 1), "{block}");
        penstock.stop();
    }
}

/// The receiver keeps its numbers in memory: what it had not yet been asked about comes again.
#[test]
fn a_real_receiver_that_restarts_loses_nothing() {
    const COUNT: usize = 4000;
    let lab = Lab::new();
    let Some(mut hec) = Hec::start(&lab) else { return skip(MISSING) };
    let options = "ack(yes) ack-timeout(2) disk-buffer(reliable(yes) capacity-bytes(50MiB))";
    let mut penstock = Penstock::start(&lab, &block_config(hec.port(), "splunk-hec-event", options));
    let mut sender = Sender::tcp(lab.port("in"));
    let all = block(0, COUNT);
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    for piece in lines.chunks(COUNT / 4) {
        let before = hec.events().len();
        sender.raw(piece.concat().as_bytes());
        wait_until("some of it", || hec.events().len() > before);
        hec.stop();
        hec.run();
    }
    sender.finish();
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    wait_until("the receiver's file", || seen(&hec).len() == COUNT);
    penstock.stop();
}
