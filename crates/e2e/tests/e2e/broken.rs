//! A connection breaks, and then the program stops or is told of another destination: what the receiver's
//! kernel did not get is with the next receiver, judged by what both had.

use crate::messages::{HEAD, message};
use std::collections::BTreeSet;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use testkit::{Collector, Lab, Penstock, Sender, wait_until};

const COUNT: usize = 1500;
const SIZE: usize = 4000;

/// Takes one connection and reads nothing; what its kernel has got is known all the same.
struct Deaf(TcpStream);

impl Deaf {
    fn meet(listener: TcpListener) -> Deaf {
        Deaf(listener.accept().expect("a connection").0)
    }

    /// The numbers of the whole messages that came; the connection is gone then, and its port closed.
    fn end(self) -> BTreeSet<usize> {
        let mut bytes = vec![0; 32 << 20];
        self.0.set_nonblocking(true).expect("a socket");
        let count = self.0.peek(&mut bytes).unwrap_or(0);
        let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(number).collect()
    }
}

fn number(line: &str) -> Option<usize> {
    line.split(' ').skip_while(|word| *word != "number").nth(1)?.parse().ok()
}

fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) {options}); }};\nlog {{ source(s); destination(d); }};\n"
    )
}

/// Sends until all of it is received, breaks the connection, lets `end` end the outlet, and asks the next
/// receiver.
fn check(options: &str, end: impl FnOnce(&Lab, Penstock) -> Penstock) {
    let lab = Lab::new();
    let listener = TcpListener::bind(("127.0.0.1", lab.port("out"))).expect("a free port");
    let mut penstock = Penstock::start(&lab, &config(options));
    let meeting = std::thread::spawn(move || Deaf::meet(listener));
    let long = "x".repeat(SIZE);
    let mut sender = Sender::tcp(lab.port("in"));
    (0..COUNT).for_each(|n| sender.line(&format!("{} {long}", message(0, n))));
    sender.finish();
    let deaf = meeting.join().expect("a connection");
    wait_until("everything received", || penstock.ledger().received() == COUNT as u64);
    let had = deaf.end();
    penstock.wait_log("Connection broken");
    let ledger = penstock.ledger();
    assert!(ledger.waiting() > 0, "the sockets have taken it all\n{ledger}");
    let penstock = end(&lab, penstock);
    let collector = Collector::tcp(lab.port("out"));
    let got = || -> Vec<usize> { collector.lines().iter().filter_map(|line| number(line)).collect() };
    wait_until("everything at one of the two", || {
        let all: BTreeSet<usize> = got().into_iter().chain(had.iter().copied()).collect();
        all.len() == COUNT
    });
    let got = got();
    assert!(got.is_sorted(), "{options}: not in order: {got:?}");
    penstock.stop();
}

fn restart(options: &'static str) -> impl FnOnce(&Lab, Penstock) -> Penstock {
    move |lab, penstock| {
        penstock.stop();
        Penstock::start(lab, &config(options))
    }
}

fn reload(options: &'static str) -> impl FnOnce(&Lab, Penstock) -> Penstock {
    move |lab, mut penstock| {
        penstock.reload_with(lab, &config(options));
        penstock
    }
}

const NO: &str = "disk-buffer(capacity-bytes(1GiB) reliable(no))";
const SMALL: &str = "disk-buffer(capacity-bytes(1GiB) reliable(no) front-cache-size(100))";
const YES: &str = "disk-buffer(capacity-bytes(1GiB) reliable(yes))";

#[test]
fn what_a_broken_connection_did_not_bring_outlives_a_stop() {
    for options in [NO, SMALL, YES, ""] {
        check(options, restart(options));
    }
}

#[test]
fn what_a_broken_connection_did_not_bring_outlives_a_reload() {
    check(NO, reload("disk-buffer(capacity-bytes(1GiB) reliable(no)) time-reopen(2)"));
    check(NO, reload(YES));
    check(NO, reload(""));
    check(SMALL, reload(YES));
    check("", reload("time-reopen(2)"));
}

/// What is left of a stop is delivered; what comes behind it waits in memory, and its connection breaks.
#[test]
fn what_came_behind_the_rest_of_a_stop_outlives_the_next() {
    check("", |lab, penstock| {
        penstock.stop();
        restart("")(lab, Penstock::start(lab, &config("")))
    });
}

/// What the next receiver gets, up to `bytes`, from the first connection on.
fn bytes_at(port: u16, bytes: usize) -> Vec<u8> {
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    let (mut stream, _) = listener.accept().expect("a connection");
    let mut got = vec![0; bytes];
    stream.read_exact(&mut got).expect("as much as was said");
    got
}

/// Messages wait for nobody; the next configuration sends them in another form.
fn change_form(from: &str, to: &str, wait: usize) -> String {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(from));
    let mut sender = Sender::tcp(lab.port("in"));
    (0..3).for_each(|n| sender.line(&message(0, n)));
    sender.finish();
    wait_until("everything received", || penstock.ledger().received() == 3);
    penstock.reload_with(&lab, &config(to));
    let got = bytes_at(lab.port("out"), wait);
    penstock.stop();
    String::from_utf8(got).expect("text")
}

#[test]
fn what_waits_gets_the_form_of_its_new_connection() {
    let plain = "template(\"$MSG\\n\")";
    let framed = format!("transport(\"framed\") {plain}");
    let lines: Vec<String> = (0..3).map(|n| format!("message number {n} of connection 0\n")).collect();
    let frames: Vec<String> = lines.iter().map(|line| format!("{} {line}", line.len())).collect();
    let (lines, frames) = (lines.concat(), frames.concat());
    assert_eq!(change_form(plain, &framed, frames.len()), frames);
    assert_eq!(change_form(&framed, plain, lines.len()), lines);
}
