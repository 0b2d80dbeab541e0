//! `http()` through the real binary, against a server that answers by script: nothing that it took or refused
//! is lost or mistaken.

use crate::messages::{HEAD, assert_complete, block, line, message};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use testkit::{
    HttpServer, Lab, Penstock, RelpSender, Reply, Request, Sender, Signal, run_command, wait_until,
};

const COUNT: usize = 2000;
/// The body that makes lines like those of a file.
const BODY: &str = "body(\"${DATE} ${HOST} ${MSGHDR}${MSG}\")";

pub fn config(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ http(url(\"http://127.0.0.1:{port}/in\") {BODY} {options}); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

pub fn feed(lab: &Lab, count: usize) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, count).as_bytes());
    sender.finish();
}

/// The lines of all requests that the server took.
#[derive(Clone, Default)]
pub struct Taken(Arc<std::sync::Mutex<Vec<String>>>);

impl Taken {
    pub fn take(&self, request: &Request) -> Reply {
        self.0.lock().expect("lock").extend(request.lines());
        Reply::new(200)
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().expect("lock").clone()
    }

    /// Every message is there; how many came more than once.
    #[track_caller]
    pub fn assert_all(&self, count: usize) -> usize {
        let mut seen: HashMap<String, usize> = HashMap::new();
        self.lines().into_iter().for_each(|line| *seen.entry(line).or_default() += 1);
        for number in 0..count {
            assert!(seen.contains_key(&line(0, number)), "message {number} is missing");
        }
        assert_eq!(seen.len(), count, "lines that nobody sent");
        seen.values().filter(|n| **n > 1).count()
    }
}

#[test]
fn batches_are_delivered_in_order() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let options = "batch-lines(100) headers(\"Content-Type: text/plain\" \"X-Kind: ${FACILITY}\") user(me) password(secret)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    feed(&lab, COUNT);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&taken.lines(), 1, COUNT);
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.lines().len() <= 100));
    let first = &requests[0];
    assert_eq!((first.method.as_str(), first.path.as_str()), ("POST", "/in"));
    assert_eq!((first.header("content-type"), first.header("x-kind")), ("text/plain", "user"));
    assert_eq!(first.header("authorization"), "Basic bWU6c2VjcmV0");
    assert_eq!(first.header("host"), format!("127.0.0.1:{}", server.port()));
    assert!(requests.iter().all(|request| request.connection == 0), "one connection serves all of it");
    penstock.stop();
}

#[test]
fn prefix_suffix_and_delimiter_make_a_body() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let options = "batch-lines(3) batch-timeout(60000) body-prefix(\"[\") delimiter(\",\") body-suffix(\"]\") method(put)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    feed(&lab, 3);
    penstock.wait_settled(3).assert_nothing_lost();
    let requests = server.requests();
    let expected = format!("[{},{},{}]", line(0, 0), line(0, 1), line(0, 2));
    assert_eq!((requests[0].method.as_str(), requests[0].text()), ("PUT", expected));
    penstock.stop();
}

#[test]
fn a_message_alone_tells_of_itself_in_headers() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let mut penstock = Penstock::start(&lab, &config(server.port(), ""));
    feed(&lab, 2);
    penstock.wait_settled(2).assert_nothing_lost();
    let first = &server.requests()[0];
    assert_eq!(first.text(), line(0, 0));
    assert_eq!((first.header("x-syslog-host"), first.header("x-syslog-level")), ("host0", "notice"));
    penstock.stop();
}

#[test]
fn templates_of_addresses_divide_batches() {
    let lab = Lab::new();
    let server = HttpServer::start(0, |_| Reply::new(200));
    let text = config(server.port(), "batch-lines(1000) batch-timeout(200)").replace("/in", "/${HOST}/in");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    (0..60).for_each(|n| sender.raw((message(n / 20, n) + "\n").as_bytes()));
    sender.finish();
    penstock.wait_settled(60).assert_nothing_lost();
    for request in server.requests() {
        let host = request.path.split('/').nth(1).expect("a host").to_owned();
        assert!(request.lines().iter().all(|line| line.contains(&host)), "{host}: {}", request.text());
    }
    penstock.stop();
}

#[test]
fn a_wrong_password_holds_everything_and_drops_nothing() {
    let lab = Lab::new();
    let knows = Arc::new(AtomicBool::new(false));
    let (taken, known) = (Taken::default(), Arc::clone(&knows));
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| match known.load(Ordering::SeqCst) {
        true => there.take(request),
        false => Reply::new(401).body("who are you"),
    });
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    feed(&lab, COUNT);
    wait_until("some attempts", || server.statuses().len() >= 3);
    let ledger = penstock.ledger();
    assert_eq!((ledger.destination("away").delivered, ledger.dropped()), (0, 0), "{ledger}");
    knows.store(true, Ordering::SeqCst);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&taken.lines(), 1, COUNT);
    let log = penstock.stop();
    let told = log.lines().filter(|line| line.contains("takes nothing until something is done")).count();
    assert_eq!(told, 1, "{log}");
    assert!(log.contains("401 Unauthorized: who are you"), "{log}");
}

#[test]
fn one_bad_message_in_ten_thousand_is_one_dead_letter() {
    const MANY: usize = 10_000;
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| match request.text().contains("number 7777 ") {
        true => Reply::new(400).body("line 3: not what we take"),
        false => there.take(request),
    });
    let text =
        config(server.port(), "batch-lines(1000)").replace("options {", "options { dead-letters(yes);");
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab, MANY);
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < MANY as u64 || ledger.waiting() > 0).then(|| "everything settled".to_owned())
    });
    ledger.assert_balanced();
    let row = ledger.destination("away");
    assert_eq!((row.delivered, row.dropped), (MANY as u64 - 1, 1), "{ledger}");
    let mut lines = taken.lines();
    lines.sort();
    lines.dedup();
    assert_eq!((lines.len(), taken.lines().len()), (MANY - 1, MANY - 1), "none came twice");
    penstock.stop();
}

/// Cut in the middle of what is under way: a head, a body, an answer; busy, too large; and killed and started
/// again.
#[test]
fn a_server_that_fails_in_every_way_loses_nothing() {
    let lab = Lab::new();
    let taken = Taken::default();
    let port = testkit::free_port();
    let start = |taken: &Taken| {
        let (there, turns, heads) = (taken.clone(), AtomicUsize::new(0), AtomicUsize::new(0));
        HttpServer::with(
            port,
            move |_| match heads.fetch_add(1, Ordering::SeqCst) % 7 {
                // Before the body: an answer, half of one, nothing at all.
                3 => Some(Reply::new(413).body("too large")),
                4 => Some(Reply::new(503).cut(20)),
                5 => Some(Reply::new(503).cut(0)),
                _ => None,
            },
            move |request| match turns.fetch_add(1, Ordering::SeqCst) % 5 {
                1 => Reply::new(503).header("Retry-After", "0"),
                // It has it, and nobody hears of it.
                2 => there.take(request).cut(12),
                3 => Reply::new(500).body("no"),
                _ => there.take(request),
            },
        )
    };
    let mut penstock = Penstock::start(&lab, &config(port, "batch-lines(100) timeout(10)"));
    let mut sender = Sender::tcp(lab.port("in"));
    let all = block(0, COUNT);
    let pieces: Vec<&str> = all.split_inclusive('\n').collect();
    for piece in pieces.chunks(COUNT / 4) {
        let server = start(&taken);
        let before = taken.lines().len();
        sender.raw(piece.concat().as_bytes());
        wait_until("a part of it", || taken.lines().len() > before + 50);
        drop(server);
    }
    sender.finish();
    let server = start(&taken);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    taken.assert_all(COUNT);
    penstock.stop();
    drop(server);
}

/// What was acknowledged to the sender reaches the server, however often the collector is killed.
#[test]
fn kills_of_the_collector_lose_nothing_that_was_acknowledged() {
    let lab = Lab::new();
    let taken = Taken::default();
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let text = format!(
        "{HEAD}source own {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ http(url(\"http://127.0.0.1:{}/\") {BODY} batch-lines(50) \
         disk-buffer(reliable(yes) capacity-bytes(100MiB))); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n",
        server.port()
    );
    let (mut first, mut acknowledged) = (0, Vec::new());
    for _ in 0..20 {
        let mut penstock = Penstock::start(&lab, &text);
        let limit = first + 2_000;
        let sender = RelpSender::start(lab.port("in"), first, move |n| (n < limit).then(|| message(0, n)));
        let before = taken.lines().len();
        wait_until("some to arrive", || taken.lines().len() > before + 100);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        wait_until("the sender to notice", || sender.has_ended());
        first += sender.sent();
        acknowledged.extend(sender.acknowledged());
    }
    let mut penstock = Penstock::start(&lab, &text);
    let arrived = || -> std::collections::HashSet<String> { taken.lines().into_iter().collect() };
    wait_until("all that was acknowledged", || {
        let there = arrived();
        acknowledged.iter().all(|n| there.contains(&line(0, *n)))
    });
    penstock.wait_settled_input();
    penstock.stop();
}

#[test]
fn a_silent_server_without_a_timeout_keeps_everything_for_the_next_run() {
    let lab = Lab::new();
    let taken = Taken::default();
    let port = testkit::free_port();
    let silent = HttpServer::start(port, |_| Reply::silent());
    let text = config(port, "batch-lines(100) timeout(0) disk-buffer(reliable(yes) capacity-bytes(10MiB))");
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab, 300);
    wait_until("a request", || !silent.requests().is_empty());
    penstock.wait_ledger(|ledger| (ledger.waiting() != 300).then(|| "300 waiting".to_owned()));
    penstock.stop();
    drop(silent);
    let there = taken.clone();
    let _server = HttpServer::start(port, move |request| there.take(request));
    let mut penstock = Penstock::start(&lab, &text);
    wait_until("all of it", || taken.lines().len() >= 300);
    penstock.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "nothing waiting".to_owned()));
    assert_complete(&taken.lines(), 1, 300);
    penstock.stop();
}

#[test]
fn another_server_takes_what_the_first_does_not() {
    let lab = Lab::new();
    let (taken, dead) = (Taken::default(), testkit::free_port());
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| there.take(request));
    let urls = format!("http://127.0.0.1:{dead}/ http://127.0.0.1:{}/in", server.port());
    let text = config(0, "batch-lines(100) workers(2)").replace("http://127.0.0.1:0/in", &urls);
    let mut penstock = Penstock::start(&lab, &text);
    feed(&lab, COUNT);
    penstock.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_eq!(taken.assert_all(COUNT), 0);
    penstock.stop();
}

#[test]
fn items_of_a_bulk_request_are_judged_one_by_one() {
    let lab = Lab::new();
    let (taken, tries) = (Taken::default(), AtomicUsize::new(0));
    let there = taken.clone();
    let server = HttpServer::start(0, move |request| {
        let first = tries.fetch_add(1, Ordering::SeqCst) == 0;
        let items = request.lines().into_iter().enumerate().map(|(at, line)| {
            if line.contains("number 5 ") {
                return "{\"create\":{\"status\":400,\"error\":{\"type\":\"mapper_parsing\",\"reason\":\"no\"}}}".into();
            }
            if first && at % 2 == 0 {
                return "{\"create\":{\"status\":429}}".to_owned();
            }
            there.0.lock().expect("lock").push(line);
            let status = if at % 3 == 0 { 409 } else { 201 };
            format!("{{\"create\":{{\"status\":{status}}}}}")
        });
        let items: Vec<String> = items.collect();
        Reply::new(200).body(format!("{{\"errors\":true,\"items\":[{}]}}", items.join(",")))
    });
    let options = "batch-lines(20) response-adapter(elasticsearch)";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options));
    feed(&lab, 200);
    let ledger = penstock.wait_ledger(|ledger| {
        (ledger.received() < 200 || ledger.waiting() > 0).then(|| "everything settled".to_owned())
    });
    ledger.assert_balanced();
    let row = ledger.destination("away");
    assert_eq!((row.delivered, row.dropped), (199, 1), "{ledger}");
    let mut lines = taken.lines();
    lines.sort();
    lines.dedup();
    assert_eq!((lines.len(), taken.lines().len()), (199, 199));
    penstock.stop();
}

/// An index that is blocked, or missing, is not the documents' fault.
#[test]
fn an_index_that_takes_nothing_holds_everything_and_drops_nothing() {
    for item in [
        "{\"index\":{\"status\":403,\"error\":{\"type\":\"cluster_block_exception\",\"reason\":\"index blocked\"}}}",
        "{\"index\":{\"status\":404,\"error\":{\"type\":\"index_not_found_exception\",\"reason\":\"no such index\"}}}",
    ] {
        let lab = Lab::new();
        let (taken, is_blocked) = (Taken::default(), Arc::new(AtomicBool::new(true)));
        let (there, blocked) = (taken.clone(), Arc::clone(&is_blocked));
        let server = HttpServer::start(0, move |request| {
            if blocked.load(Ordering::SeqCst) {
                let items = vec![item; request.lines().len()].join(",");
                return Reply::new(200).body(format!("{{\"errors\":true,\"items\":[{items}]}}"));
            }
            there.take(request).body("{\"errors\":false}")
        });
        let options = "batch-lines(20) response-adapter(elasticsearch)";
        let mut penstock = Penstock::start(&lab, &config(server.port(), options));
        feed(&lab, 100);
        penstock.wait_log("Destination takes nothing until something is done about it");
        wait_until("another try", || server.requests().len() >= 3);
        let ledger =
            penstock.wait_ledger(|ledger| (ledger.waiting() < 100).then(|| "not all wait".to_owned()));
        assert_eq!(ledger.destination("away").dropped, 0, "{ledger}");
        is_blocked.store(false, Ordering::SeqCst);
        penstock.wait_settled(100).assert_nothing_lost();
        assert_eq!(taken.assert_all(100), 0);
        penstock.stop();
    }
}

#[test]
fn what_is_wrong_in_the_configuration_is_said() {
    let lab = Lab::new();
    for (options, words) in [
        ("headers(\"no colon\")", "is no header"),
        ("response-action(900000 => drop)", "is no action"),
        ("response-adapter(elasticserch)", "elasticsearch"),
        ("proxy(\"socks5://x:1\")", "neither http nor https"),
        ("cloud-auth(gcp())", "cloud-auth"),
    ] {
        let (path, _) = lab.write_config("wrong.conf", &config(1, options));
        let outcome = run_command(&["check", path.to_str().expect("a path")]);
        let said = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(outcome.code != Some(0) && said.contains(words), "{options}: {said}");
    }
}
