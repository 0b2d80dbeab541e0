//! RELP through the real binary: both ways, with rsyslog, encrypted, and over connections that are cut again
//! and again.

use crate::interop::there_and_back;
use crate::messages::{HEAD, assert_complete, block, message};
use crate::tls::{block_of, prepared};
use rustix::process::Signal;
use std::collections::HashSet;
use testkit::{Lab, Penstock, Proxy, Sender, peers, skip, wait_until};

const COUNT: usize = 2000;

/// Sends by RELP what comes in on TCP, and writes to a file what comes in by RELP.
fn config(destination: &str, source: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         source peer {{ relp(ip(127.0.0.1) {source}); }};\n\
         destination away {{ relp(127.0.0.1 {destination}); }};\n\
         destination d {{ file(\"%dir%/out\"); file(\"%dir%/who\" template(\"${{TRANSPORT}} ${{.tls.x509_cn}}\\n\")); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n\
         log {{ source(peer); destination(d); flags(flow-control); }};\n"
    )
}

/// Receives by RELP at an address, and writes to a file.
fn receiver(address: &str, port: &str) -> String {
    format!(
        "{HEAD}source s {{ relp(ip({address}) port({port})); }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// Sends by RELP what comes in on TCP.
fn sender(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source own {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination away {{ relp(127.0.0.1 port({port}) {options}); }};\n\
         log {{ source(own); destination(away); flags(flow-control); }};\n"
    )
}

/// Sends the messages to a port, and ends when they are read.
fn feed(port: u16) {
    let mut sender = Sender::tcp(port);
    sender.raw(block(0, COUNT).as_bytes());
    sender.finish();
}

/// The lines of a file that are made of our messages.
fn ours(lab: &Lab, file: &str) -> Vec<String> {
    lab.lines(file).into_iter().filter(|line| line.contains("message number")).collect()
}

/// Waits until every message stands in the file, whatever stands there twice.
#[track_caller]
fn wait_all(lab: &Lab, file: &str) {
    wait_until("everything in the file", || {
        ours(lab, file).into_iter().collect::<HashSet<_>>().len() >= COUNT
    });
    assert_all(&ours(lab, file), COUNT);
}

#[test]
fn there_and_back_again() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("port(%port:relp%)", "port(%tcp:relp%)"));
    there_and_back(&lab, &mut penstock);
    assert_eq!(lab.lines("who")[0], "relp ");
    let log = penstock.stop();
    assert!(log.contains("RELP session established"), "{log}");
}

#[test]
fn encrypted_with_mutual_authentication() {
    let lab = Lab::new();
    prepared(&lab);
    let destination = format!("port(%port:relp%) {}", block_of("client"));
    let source = format!("port(%tcp:relp%) {}", block_of("server"));
    let mut penstock = Penstock::start(&lab, &config(&destination, &source));
    there_and_back(&lab, &mut penstock);
    assert_eq!(lab.lines("who")[0], "relp+tls client");
    penstock.stop();
}

fn rsyslog_and_back(tls: Option<[&str; 2]>, own: [&str; 2]) {
    let Some((imrelp, omrelp)) = peers::rsyslog_relp() else { return skip(peers::MISSING) };
    let Some(program) = peers::rsyslog() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    prepared(&lab);
    let [to_them, from_them] = own;
    let config = config(&format!("port(%port:peer%) {to_them}"), &format!("port(%tcp:back%) {from_them}"));
    let mut penstock = Penstock::start(&lab, &config);
    let [input, action] = tls.unwrap_or_default();
    let theirs = format!(
        "global(workDirectory=\"%dir%\")\nmodule(load=\"{imrelp}\" {library})\nmodule(load=\"{omrelp}\" {library})\n\
         input(type=\"imrelp\" port=\"%tcp:peer%\" address=\"127.0.0.1\" {input})\n\
         action(type=\"omrelp\" target=\"127.0.0.1\" port=\"%port:back%\" template=\"RSYSLOG_TraditionalForwardFormat\" {action})\n",
        library = if tls.is_some() { "tls.tlslib=\"openssl\"" } else { "" },
    );
    let _peer = peers::start_rsyslog(&lab, &program, &theirs);
    there_and_back(&lab, &mut penstock);
}

#[test]
fn rsyslog_both_ways() {
    rsyslog_and_back(None, ["", ""]);
}

#[test]
fn rsyslog_both_ways_encrypted() {
    let files = |name: &str| {
        format!(
            "tls=\"on\" tls.caCert=\"%dir%/ca.pem\" tls.myCert=\"%dir%/{name}.pem\" tls.myPrivKey=\"%dir%/{name}.key\" \
             tls.authMode=\"certvalid\""
        )
    };
    let (server, client) = (files("server"), files("client"));
    rsyslog_and_back(Some([&server, &client]), [&block_of("client"), &block_of("server")]);
}

/// Every message arrived, whatever arrived twice, and nothing else did.
#[track_caller]
fn assert_all(lines: &[String], count: usize) {
    assert_eq!(strangers(lines, count), 0);
}

/// Every message arrived, whatever arrived twice. How many other lines there are.
#[track_caller]
fn strangers(lines: &[String], count: usize) -> usize {
    let found: HashSet<&str> =
        lines.iter().map(|line| line.split("message ").nth(1).unwrap_or(line)).collect();
    let missing: Vec<usize> =
        (0..count).filter(|n| !found.contains(format!("number {n} of connection 0").as_str())).collect();
    assert!(missing.is_empty(), "{} are missing, the first is {:?}", missing.len(), missing.first());
    found.len() - count
}

/// Cut in the middle of whatever is under way, after ever more bytes, and then left alone.
const BUDGETS: [usize; 8] = [10, 150, 1000, 5000, 20_000, 33_333, 60_000, 77_777];

#[test]
fn cuts_lose_nothing() {
    let lab = Lab::new();
    let source = "port(%tcp:relp%)";
    let proxy = Proxy::to(lab.port("relp"));
    proxy.cut_after(&BUDGETS);
    let destination = format!("port({}) window-size(300)", proxy.port());
    let mut penstock = Penstock::start(&lab, &config(&destination, source));
    feed(lab.port("in"));
    let last = message(0, COUNT - 1);
    let last = last.trim_start_matches("<13>");
    wait_until("the last message", || lab.lines("out").iter().any(|line| line == last));
    let ledger = penstock.wait_settled_input();
    ledger.assert_nothing_lost();
    assert_eq!(ledger.destination("away").delivered, COUNT as u64);
    assert_all(&lab.lines("out"), COUNT);
    assert!(proxy.cuts() >= BUDGETS.len(), "{}", proxy.cuts());
    // No cut costs more than a window.
    assert!(lab.lines("out").len() <= COUNT + 300 * (BUDGETS.len() + 1), "{}", lab.lines("out").len());
}

#[test]
fn cuts_on_the_way_to_rsyslog_lose_nothing() {
    let Some((imrelp, _)) = peers::rsyslog_relp() else { return skip(peers::MISSING) };
    let Some(program) = peers::rsyslog() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let proxy = Proxy::to(lab.port("peer"));
    proxy.cut_after(&BUDGETS);
    let theirs = format!(
        "global(workDirectory=\"%dir%\")\nmodule(load=\"{imrelp}\")\n\
         input(type=\"imrelp\" port=\"%tcp:peer%\" address=\"127.0.0.1\")\n\
         action(type=\"omfile\" file=\"%dir%/theirs\" template=\"RSYSLOG_TraditionalFileFormat\")\n"
    );
    let _peer = peers::start_rsyslog(&lab, &program, &theirs);
    let config = config(&format!("port({}) window-size(300)", proxy.port()), "port(%tcp:relp%)");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"));
    let ledger = penstock.wait_ledger(|ledger| {
        let done = ledger.destination("away").delivered == COUNT as u64 && ledger.waiting() == 0;
        (!done).then(|| format!("{COUNT} delivered"))
    });
    ledger.assert_nothing_lost();
    wait_all(&lab, "theirs");
    assert!(proxy.cuts() >= BUDGETS.len(), "{}", proxy.cuts());
}

#[test]
fn cuts_on_the_way_from_rsyslog_lose_nothing() {
    let Some((_, omrelp)) = peers::rsyslog_relp() else { return skip(peers::MISSING) };
    let Some(program) = peers::rsyslog() else { return skip(peers::MISSING) };
    let lab = Lab::new();
    let proxy = Proxy::to(lab.port("relp"));
    proxy.cut_after(&BUDGETS);
    let mut penstock = Penstock::start(&lab, &config("port(%port:nowhere%)", "port(%tcp:relp%)"));
    let theirs = format!(
        "global(workDirectory=\"%dir%\")\nmodule(load=\"imtcp\")\nmodule(load=\"{omrelp}\")\n\
         input(type=\"imtcp\" port=\"%tcp:theirs%\" address=\"127.0.0.1\")\n\
         action(type=\"omrelp\" target=\"127.0.0.1\" port=\"{}\" template=\"RSYSLOG_TraditionalForwardFormat\"\n\
         action.resumeRetryCount=\"-1\" action.resumeInterval=\"1\")\n",
        proxy.port()
    );
    let _peer = peers::start_rsyslog(&lab, &program, &theirs);
    feed(lab.port("theirs"));
    wait_all(&lab, "out");
    penstock.wait_settled_input().assert_nothing_lost();
}

#[test]
fn a_receiver_that_is_killed_loses_nothing() {
    let (lab, far) = (Lab::new(), Lab::new());
    let port = lab.port("relp");
    let mut near = Penstock::start(&lab, &sender(port, "window-size(300)"));
    let receiver = receiver("127.0.0.1", &port.to_string());
    let mut sender = Sender::tcp(lab.port("in"));
    let all = block(0, COUNT);
    let pieces: Vec<&str> = all.split_inclusive('\n').collect();
    for (round, piece) in pieces.chunks(COUNT / 4).enumerate() {
        let mut receiving = Penstock::start(&far, &receiver);
        sender.raw(piece.concat().as_bytes());
        wait_until("a part of it", || far.lines("out").len() > round * COUNT / 4 + 50);
        receiving.signal(Signal::KILL);
        receiving.wait_end();
    }
    sender.finish();
    let mut receiving = Penstock::start(&far, &receiver);
    near.wait_settled(COUNT as u64).assert_nothing_lost();
    receiving.wait_settled_input().assert_nothing_lost();
    let cut = strangers(&far.lines("out"), COUNT);
    assert!(cut <= 4, "a kill leaves the beginning of a line at most, {cut} are no messages");
    near.stop();
    receiving.stop();
}

#[test]
fn a_reload_of_the_receiver_repeats_nothing() {
    let lab = Lab::new();
    let text = config("port(%port:relp%)", "port(%tcp:relp%) log-fetch-limit(100)");
    let mut penstock = Penstock::start(&lab, &text);
    let mut sender = Sender::tcp(lab.port("in"));
    for round in 0..4 {
        sender.raw(block_from(round * 500, 500).as_bytes());
        // Another window is another socket: connections of the old one end in order.
        let changed = text.replace("log-fetch-limit(100)", &format!("log-fetch-limit({})", 200 + round));
        penstock.reload_with(&lab, &changed);
    }
    sender.finish();
    wait_until("everything to come back", || lab.lines("out").len() >= COUNT);
    penstock.wait_settled_input().assert_nothing_lost();
    assert_all(&lab.lines("out"), COUNT);
}

/// Messages `from..from + count` of connection 0.
fn block_from(from: usize, count: usize) -> String {
    (from..from + count).map(|n| message(0, n) + "\n").collect()
}

#[test]
fn the_second_server_takes_over_what_the_first_has_not_answered() {
    let lab = Lab::new();
    let (one, two) = (Lab::new(), Lab::new());
    let mut serving = Penstock::start(&one, &receiver("127.0.0.1", "%tcp:relp%"));
    let port = one.port("relp");
    let mut other = Penstock::start(&two, &receiver("127.0.0.2", &port.to_string()));
    let mut near = Penstock::start(&lab, &sender(port, "failover(servers(\"127.0.0.2\"))"));
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block_from(0, 500).as_bytes());
    wait_until("the first part", || one.lines("out").len() == 500);
    serving.signal(Signal::KILL);
    serving.wait_end();
    sender.raw(block_from(500, 500).as_bytes());
    sender.finish();
    near.wait_settled(1000).assert_nothing_lost();
    other.wait_settled_input().assert_nothing_lost();
    let mut all = one.lines("out");
    all.extend(two.lines("out"));
    assert_all(&all, 1000);
    assert_complete(&one.lines("out"), 1, 500);
}
