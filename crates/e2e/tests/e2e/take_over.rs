//! `run --take-over`: another process goes on where the running one stops. No connection is refused or
//! closed, nothing is lost or doubled.

mod acked;
mod reading;
mod several;

use crate::messages::{HEAD, assert_complete, block, line, message};
use crate::tls::{block_of, prepared};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use testkit::{Collector, Lab, Penstock, Sender, wait_until};

/// Starts another process and waits until the running one has given everything to it and ended.
#[track_caller]
pub fn take_over(lab: &Lab, mut old: Penstock, config: &str) -> Penstock {
    let mut new = Penstock::configure(lab, config).arg("--take-over").spawned();
    let status = old.wait_end();
    assert!(status.success(), "ended with {status}\n{}", old.log());
    new.wait_log("Everything is handed over, ending");
    new
}

/// Sends numbered messages, a few at a time, until it is told to end; how many it were.
fn sending(mut sender: Sender, connection: usize, end: &Arc<AtomicBool>) -> JoinHandle<usize> {
    let end = Arc::clone(end);
    std::thread::spawn(move || {
        let mut number = 0;
        while !end.load(Ordering::SeqCst) {
            for _ in 0..20 {
                sender.line(&message(connection, number));
                number += 1;
            }
            // Gives the others a turn; the receiver is far faster than this.
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        sender.finish();
        number
    })
}

#[test]
fn senders_do_not_notice() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); udp(ip(127.0.0.1) port(%udp:u%));\n\
           unix-stream(\"%unix:stream%\"); unix-dgram(\"%unix:dgram%\"); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{MSG}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let end = Arc::new(AtomicBool::new(false));
    let senders = [
        Sender::tcp(lab.port("in")),
        Sender::tcp(lab.port("in")),
        Sender::udp(lab.port("u")),
        Sender::unix_stream(&lab.path("stream")),
        Sender::unix_dgram(&lab.path("dgram")),
    ];
    let running: Vec<_> = senders.into_iter().enumerate().map(|(n, s)| sending(s, n, &end)).collect();
    for round in 1..=3 {
        let before = lab.lines("out").len();
        wait_until("messages", || lab.lines("out").len() > before + 1000);
        penstock = take_over(&lab, penstock, &config);
        // Whoever comes anew is let in.
        Sender::tcp(lab.port("in")).line(&message(9 + round, 0));
    }
    end.store(true, Ordering::SeqCst);
    let sent: Vec<usize> = running.into_iter().map(|thread| thread.join().expect("a sender")).collect();
    let total = sent.iter().sum::<usize>() + 3;
    wait_until("every message", || lab.lines("out").len() >= total);
    penstock.ledger().assert_nothing_lost();
    let lines = lab.lines("out");
    for (connection, count) in sent.iter().enumerate() {
        let own = format!(" of connection {connection}");
        let own = lines.iter().filter(|line| line.ends_with(&own));
        let numbers: Vec<usize> = own.map(|line| number(line)).collect();
        assert_eq!(numbers, (0..*count).collect::<Vec<_>>(), "connection {connection}");
    }
    assert_eq!(lines.len(), total);
    penstock.stop();
    assert!(!lab.path("stream").exists(), "the last one removes its socket");
}

fn number(line: &str) -> usize {
    line.rsplit(' ').nth(3).and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn half_a_message_is_finished_at_the_new_process() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let text = message(0, 1);
    sender.line(&message(0, 0));
    sender.raw(&text.as_bytes()[..20]);
    penstock.wait_settled(1);
    let penstock = take_over(&lab, penstock, &config);
    sender.raw(&text.as_bytes()[20..]);
    sender.raw(b"\n");
    wait_until("the message", || lab.lines("out").len() == 2);
    assert_complete(&lab.lines("out"), 1, 2);
    penstock.stop();
}

#[test]
fn sessions_go_on_that_only_the_old_process_can_read() {
    let lab = Lab::new();
    prepared(&lab);
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:tls%) transport(tls) {}); }};\n\
         destination d {{ file(\"%dir%/out\"); file(\"%dir%/who\" template(\"${{.tls.x509_cn}}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        block_of("server")
    );
    let first = Penstock::start(&lab, &config);
    let edge = Lab::new();
    let certificates = block_of("client").replace("%dir%", &lab.dir().display().to_string());
    let sends = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port({}) transport(tls) {certificates}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        lab.port("tls")
    );
    let mut between = Penstock::start(&edge, &sends);
    let mut sender = Sender::tcp(edge.port("in"));
    sender.raw(block(0, 1000).as_bytes());
    wait_until("the first messages", || lab.lines("out").len() == 1000);
    let mut second =
        Penstock::configure(&lab, &config).arg("--take-over").arg("--linger").arg("600").spawned();
    second.wait_log("Syslog connection taken over");
    for number in 1000..2000 {
        sender.line(&message(0, number));
    }
    wait_until("the next messages", || lab.lines("out").len() == 2000);
    between.wait_settled(2000);
    assert!(!between.log().contains("Syslog connection broken"), "{}", between.log());
    // And once more: the new one now has a connection that others can read.
    let mut third = Penstock::configure(&lab, &config).arg("--take-over").arg("--linger").arg("1").spawned();
    let status = second.wait_end();
    assert!(status.success(), "{status}");
    for number in 2000..3000 {
        sender.line(&message(0, number));
    }
    between.wait_settled(3000);
    between.stop();
    wait_until("the last messages", || lab.lines("out").len() == 3000);
    assert_complete(&lab.lines("out"), 1, 3000);
    assert!(lab.lines("who").iter().all(|who| who == "client"), "the certificate is known further on");
    third.wait_settled_input();
    third.stop();
    let mut first = first;
    assert!(first.wait_end().success());
}

#[test]
fn what_waits_for_a_dead_target_goes_along() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block(0, 20).as_bytes());
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 20).then(|| "20 waiting".to_owned()));
    let mut penstock = take_over(&lab, penstock, &config);
    penstock.wait_ledger(|ledger| (ledger.destination("d").waiting != 20).then(|| "20 waiting".to_owned()));
    (20..30).for_each(|number| sender.line(&message(0, number)));
    let collector = Collector::tcp(lab.port("out"));
    assert_complete(&collector.wait_lines(30), 1, 30);
    penstock.stop();
}

#[test]
fn a_file_is_read_on_from_where_the_old_process_was() {
    let lab = Lab::new();
    std::fs::write(lab.path("in"), "").expect("write");
    let config = format!(
        "{HEAD}source s {{ file(\"%dir%/in\" follow-freq(0.1)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::start(&lab, &config);
    let end = Arc::new(AtomicBool::new(false));
    let (path, told) = (lab.path("in"), Arc::clone(&end));
    let writing = std::thread::spawn(move || {
        let mut file = std::fs::File::options().append(true).open(path).expect("open");
        let mut number = 0;
        while !told.load(Ordering::SeqCst) {
            std::io::Write::write_all(&mut file, (message(0, number) + "\n").as_bytes()).expect("write");
            number += 1;
            std::thread::park_timeout(std::time::Duration::from_micros(200));
        }
        number
    });
    for _ in 0..3 {
        let before = lab.lines("out").len();
        wait_until("messages", || lab.lines("out").len() > before + 200);
        penstock = take_over(&lab, penstock, &config);
    }
    end.store(true, Ordering::SeqCst);
    let count = writing.join().expect("a writer");
    wait_until("every message", || lab.lines("out").len() >= count);
    assert_complete(&lab.lines("out"), 1, count);
    let state = lab.path("state").display().to_string();
    let dumped = testkit::run_command(&["state", "dump", "--state-dir", &state]);
    let name = dumped.stdout.split(" = ").next().unwrap_or_default();
    assert!(name.starts_with("affile_sd_curpos("), "{}{}", dumped.stdout, dumped.stderr);
    let removed = testkit::run_command(&["state", "remove", "--state-dir", &state, name]);
    assert_eq!(removed.code, Some(1), "it is in use");
    penstock.stop();
    let removed = testkit::run_command(&["state", "remove", "--state-dir", &state, name]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
}

#[test]
fn when_the_new_process_fails_the_old_one_goes_on() {
    let lab = Lab::new();
    std::fs::write(lab.path("in-file"), "").expect("write");
    let config = |more: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); unix-dgram(\"%unix:dgram%\");\n\
               file(\"%dir%/in-file\" follow-freq(0.1)); {more} }};\n\
             destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &config(""));
    let (config_of_old, taken) = (config(""), Collector::tcp(lab.port("taken")));
    let mut sender = Sender::tcp(lab.port("in"));
    let mut number = 0;
    let mut send = |lab: &Lab| {
        sender.raw(&message(0, number).as_bytes()[..10]);
        number += 1;
        let rest = message(0, number - 1);
        let expected = line(0, number - 1);
        sender.raw(&rest.as_bytes()[10..]);
        sender.raw(b"\n");
        wait_until("the message", || lab.lines("out").last() == Some(&expected));
    };
    send(&lab);
    let wrong = [
        ("this is no configuration {".to_owned(), 1),
        (config("network(ip(127.0.0.1) port(%port:taken%));"), 2),
        (config("file(\"/proc/nowhere/in\");").replace("destination d {", "destination d { nonsense();"), 1),
    ];
    for (round, (text, code)) in wrong.into_iter().enumerate() {
        let mut new = Penstock::configure(&lab, &text).arg("--take-over").spawned();
        assert_eq!(new.wait_end().code(), Some(code), "{}", new.log());
        // The same connection, the same sockets, and the state file is in use again.
        wait_until("an answer", || penstock.request("HEALTHCHECK").starts_with("OK"));
        send(&lab);
        Sender::unix_dgram(&lab.path("dgram")).line(&message(1, round));
        let mut file = std::fs::File::options().append(true).open(lab.path("in-file")).expect("open");
        std::io::Write::write_all(&mut file, (message(2, round) + "\n").as_bytes()).expect("write");
        for connection in [1, 2] {
            let expected = format!("message number {round} of connection {connection}");
            wait_until("both", || lab.lines("out").iter().any(|l| l.ends_with(&expected)));
        }
        lab.write_config("penstock.conf", &config_of_old);
    }
    drop(taken);
    penstock.wait_settled_input();
    // In the end it works.
    let penstock = take_over(&lab, penstock, &config(""));
    send(&lab);
    penstock.stop();
}

#[test]
fn without_a_running_process_it_is_an_ordinary_start() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let mut penstock = Penstock::configure(&lab, &config).arg("--take-over").ready();
    penstock.wait_log("There is no running program to take over from");
    let mut second = Penstock::configure(&lab, &config).spawned();
    assert_eq!(second.wait_end().code(), Some(2));
    second.wait_log("another running program has it");
    penstock.stop();
}

#[test]
fn what_waits_on_disk_is_found_by_the_new_process() {
    for mode in ["reliable(yes)", "reliable(no)"] {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ network(127.0.0.1 port(%port:out%) disk-buffer(capacity-bytes(64MiB) {mode})); }};\n\
             log {{ source(s); destination(d); flags(flow-control); }};\n"
        );
        let mut penstock = Penstock::start(&lab, &config);
        let mut sender = Sender::tcp(lab.port("in"));
        sender.raw(block(0, 500).as_bytes());
        penstock.wait_ledger(|l| (l.destination("d").waiting != 500).then(|| "500 waiting".to_owned()));
        // One that fails leaves everything as it was.
        let taken = Collector::tcp(lab.port("taken"));
        let wrong = config.replace("source s {", "source s { network(ip(127.0.0.1) port(%port:taken%));");
        let mut failing = Penstock::configure(&lab, &wrong).arg("--take-over").spawned();
        assert_eq!(failing.wait_end().code(), Some(2));
        penstock.wait_ledger(|l| (l.destination("d").waiting != 500).then(|| "500 waiting".to_owned()));
        drop(taken);
        lab.write_config("penstock.conf", &config);
        let penstock = take_over(&lab, penstock, &config);
        (500..600).for_each(|number| sender.line(&message(0, number)));
        let collector = Collector::tcp(lab.port("out"));
        assert_complete(&collector.wait_lines(600), 1, 600);
        penstock.stop();
    }
}

/// As systemd starts it: `socket` is descriptor 3.
#[track_caller]
fn activated(lab: &Lab, config: &str, socket: std::os::fd::OwnedFd) -> Penstock {
    let shell = "-n 4096 && exec 3<&0 0</dev/null && export LISTEN_PID=$$ LISTEN_FDS=1";
    Penstock::configure(lab, config).stdin(socket).ulimit(shell).ready()
}

#[test]
fn sockets_that_systemd_has_opened() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\nsource u {{ unix-dgram(\"%unix:dgram%\"); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{MSG}}\\n\")); }};\n\
         log {{ source(s); source(u); destination(d); flags(flow-control); }};\n"
    );
    let listener = std::net::TcpListener::bind(("127.0.0.1", lab.port("in"))).expect("bind");
    let mut early = Sender::tcp(lab.port("in"));
    early.line(&message(0, 0));
    let penstock = activated(&lab, &config, listener.try_clone().expect("a copy").into());
    wait_until("who came before", || lab.lines("out").len() == 1);
    penstock.stop();
    let mut late = Sender::tcp(lab.port("in"));
    late.line(&message(0, 1));
    let penstock = activated(&lab, &config, listener.into());
    wait_until("who came meanwhile", || lab.lines("out").len() == 2);
    penstock.stop();
    let _ = std::fs::remove_file(lab.path("dgram"));
    let socket = std::os::unix::net::UnixDatagram::bind(lab.path("dgram")).expect("bind");
    Sender::unix_dgram(&lab.path("dgram")).line(&message(0, 2));
    let penstock = activated(&lab, &config, socket.into());
    wait_until("what was sent before", || lab.lines("out").len() == 3);
    penstock.stop();
    assert!(lab.path("dgram").exists(), "it is systemd's");
}

#[test]
fn the_service_manager_is_told() {
    let lab = Lab::new();
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let manager = std::os::unix::net::UnixDatagram::bind(lab.path("notify")).expect("bind");
    manager.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a timeout");
    let hear = |wanted: &str| {
        let mut buffer = [0; 256];
        loop {
            let length = manager.recv(&mut buffer).expect(wanted);
            if String::from_utf8_lossy(&buffer[..length]).contains(wanted) {
                return;
            }
        }
    };
    let notify = lab.path("notify").display().to_string();
    let start =
        Penstock::configure(&lab, &config).env("NOTIFY_SOCKET", &notify).env("WATCHDOG_USEC", "100000");
    let mut old = start.ready();
    hear(&format!("READY=1\nMAINPID={}", old.id()));
    hear("WATCHDOG=1");
    old.reload();
    hear("RELOADING=1");
    hear("READY=1");
    // The new one need not be told by its environment.
    let new = Penstock::configure(&lab, &config).arg("--take-over").spawned();
    hear(&format!("READY=1\nMAINPID={}", new.id()));
    assert!(old.wait_end().success());
    hear("WATCHDOG=1");
    hear("WATCHDOG=1");
    new.stop();
    hear("STOPPING=1");
}
