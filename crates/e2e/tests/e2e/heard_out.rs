//! Destinations whose servers take their time: a reload, a stop, a take-over while requests are on the way
//! waits for the answers, so nothing is lost and nothing comes twice.

use crate::http::{Taken, config};
use crate::messages::{HEAD, block, message};
use crate::take_over::take_over;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testkit::kafka::{Kafka, MISSING, ScriptedKafka};
use testkit::{HttpServer, Lab, Penstock, Sender, skip, wait_until};

const COUNT: usize = 2000;
/// How long an answer takes.
const SLOW: Duration = Duration::from_millis(300);

/// A server that takes everything, and says so late.
struct SlowServer {
    server: HttpServer,
    taken: Taken,
    /// Requests that came, and those that were answered.
    begun: Arc<AtomicUsize>,
    answered: Arc<AtomicUsize>,
}

impl SlowServer {
    fn start() -> SlowServer {
        let (taken, begun, answered): (_, Arc<AtomicUsize>, Arc<AtomicUsize>) =
            (Taken::default(), Arc::default(), Arc::default());
        let there = (taken.clone(), Arc::clone(&begun), Arc::clone(&answered));
        let server = HttpServer::start(0, move |request| {
            there.1.fetch_add(1, Ordering::SeqCst);
            let reply = there.0.take(request);
            std::thread::park_timeout(SLOW);
            there.2.fetch_add(1, Ordering::SeqCst);
            reply
        });
        SlowServer { server, taken, begun, answered }
    }

    /// A request came, and its answer did not go.
    fn wait_busy(&self) {
        wait_until("a request on the way", || {
            self.begun.load(Ordering::SeqCst) > self.answered.load(Ordering::SeqCst)
        });
    }
}

/// All messages in pieces, each sent to the address that it is asked for.
fn in_pieces(pieces: usize, mut each: impl FnMut(usize, &str)) {
    let all = block(0, COUNT);
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    lines.chunks(COUNT / pieces).enumerate().for_each(|(at, piece)| each(at, &piece.concat()));
}

#[track_caller]
fn reloads(options: &str, changed: impl Fn(usize) -> String) {
    let lab = Lab::new();
    let slow = SlowServer::start();
    let text = |more: &str| config(slow.server.port(), &format!("{options} {more}"));
    let mut penstock = Penstock::start(&lab, &text(""));
    let mut sender = Sender::tcp(lab.port("in"));
    in_pieces(5, |round, piece| {
        sender.raw(piece.as_bytes());
        slow.wait_busy();
        penstock.reload_with(&lab, &text(&changed(round)));
    });
    sender.finish();
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_eq!(slow.taken.assert_all(COUNT), 0, "came twice");
    penstock.stop();
}

#[test]
fn reloads_that_replace_the_destination() {
    reloads("batch-lines(100)", |round| format!("timeout({})", 20 + round));
}

#[test]
fn reloads_that_replace_several_workers() {
    reloads("batch-lines(50) workers(4)", |round| format!("timeout({})", 20 + round));
    // More of them than before, and fewer: the messages are divided anew.
    reloads("batch-lines(50)", |round| format!("workers({})", 2 + round % 2));
}

#[test]
fn a_stop_with_more_on_disk_than_it_waits_for() {
    let lab = Lab::new();
    let slow = SlowServer::start();
    let options = "batch-lines(100) disk-buffer(reliable(yes) capacity-bytes(10MiB) front-cache-size(200))";
    let text = config(slow.server.port(), options);
    in_pieces(4, |_, piece| {
        let mut penstock = Penstock::start(&lab, &text);
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(piece.as_bytes());
        sender.finish();
        penstock
            .wait_ledger(|ledger| (ledger.received() < (COUNT / 4) as u64).then(|| "the piece".to_owned()));
        slow.wait_busy();
        penstock.stop();
    });
    let penstock = Penstock::start(&lab, &text);
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    assert_eq!(slow.taken.assert_all(COUNT), 0, "came twice");
    penstock.stop();
}

#[track_caller]
fn take_overs(options: &str) {
    let lab = Lab::new();
    let slow = SlowServer::start();
    let text = config(slow.server.port(), options);
    let mut penstock = Some(Penstock::start(&lab, &text));
    let mut sender = Sender::tcp(lab.port("in"));
    in_pieces(4, |_, piece| {
        sender.raw(piece.as_bytes());
        slow.wait_busy();
        penstock = penstock.take().map(|old| take_over(&lab, old, &text));
    });
    sender.finish();
    wait_until("every message", || slow.taken.lines().len() >= COUNT);
    let penstock = penstock.expect("one runs");
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    assert_eq!(slow.taken.assert_all(COUNT), 0, "came twice");
    penstock.stop();
}

#[test]
fn take_overs_in_memory() {
    take_overs("batch-lines(100)");
}

#[test]
fn take_overs_with_a_queue_on_disk() {
    take_overs("batch-lines(100) disk-buffer(reliable(yes) capacity-bytes(10MiB))");
}

fn kafka_config(server: &str, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination k {{ kafka(bootstrap-servers(\"{server}\") topic(logs) message(\"$MSG\") {options}); }};\n\
         log {{ source(s); destination(k); flags(flow-control); }};\n"
    )
}

/// Reloads that replace the producer, and take-overs, each with a request on the way.
fn replaced(lab: &Lab, server: &str, busy: impl Fn(), values: impl Fn() -> Vec<String>) {
    let text = |round: usize| {
        let config = format!("config(\"batch.num.messages\" => \"{}\")", 100 + round);
        kafka_config(server, &config)
    };
    let mut penstock = Some(Penstock::start(lab, &text(0)));
    let mut sender = Sender::tcp(lab.port("in"));
    in_pieces(5, |round, piece| {
        sender.raw(piece.as_bytes());
        busy();
        match round % 2 {
            0 => penstock.as_mut().expect("one runs").reload_with(lab, &text(round + 1)),
            _ => penstock = penstock.take().map(|old| take_over(lab, old, &text(round))),
        }
    });
    sender.finish();
    let penstock = penstock.expect("one runs");
    wait_until("everything", || penstock.ledger().waiting() == 0 && values().len() >= COUNT);
    let values = values();
    let distinct: HashSet<&str> = values.iter().map(String::as_str).collect();
    let text = |n: usize| message(0, n).rsplit_once(": ").map(|(_, text)| text.to_owned()).expect("a text");
    let missing = (0..COUNT).filter(|n| !distinct.contains(text(*n).as_str())).count();
    assert_eq!((missing, values.len()), (0, COUNT), "lost, came");
}

#[test]
fn kafka_that_answers_late() {
    let (lab, kafka) = (Lab::new(), ScriptedKafka::start(3));
    // One after the other, and several are on the way.
    kafka.slow(SLOW / 4);
    let busy = || wait_until("a request on the way", || kafka.unanswered() > 0);
    replaced(&lab, &kafka.server(), busy, || kafka.values());
}

#[test]
fn a_real_kafka() {
    let lab = Lab::new();
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(MISSING) };
    kafka.create("logs", 3, &[]);
    let values = || kafka.consume("logs", COUNT).into_iter().map(|one| one.value).collect();
    let busy = || wait_until("some of it", || kafka.offsets("logs") > 0);
    replaced(&lab, &kafka.server(), busy, values);
}
