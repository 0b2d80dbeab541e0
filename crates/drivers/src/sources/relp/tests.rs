//! A RELP client spoken by hand, against a real engine.

use crate::testing::{HEAD, Running, errors, free_port, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use wire::relp;

fn config(options: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) {options}); }};\ndestination d {{ {destination} }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn to_file(options: &str) -> String {
    config(options, "file(\"%dir%/out\" template(\"${HOST}|${PROGRAM}|${TRANSPORT}|${MSG}\\n\"));")
}

struct Client {
    stream: BufReader<TcpStream>,
    txnr: u32,
}

impl Client {
    /// Connects and opens a session.
    fn open(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
        let mut client = Client { stream: BufReader::new(stream), txnr: 1 };
        let mut out = Vec::new();
        relp::open(&mut out, 1);
        client.write(&out);
        assert_eq!(client.line(), "1 rsp 60 200 OK");
        assert_eq!(client.line(), "relp_version=0");
        assert_eq!(client.line(), "relp_software=penstock");
        assert_eq!(client.line(), "commands=syslog");
        client
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).expect("write");
    }

    /// Messages `from..to` with one write.
    fn send(&mut self, from: usize, to: usize) {
        let mut out = Vec::new();
        for number in from..to {
            self.txnr += 1;
            relp::message(&mut out, self.txnr, format!("<13>Nov 11 01:02:03 h app: m{number}").as_bytes());
        }
        self.write(&out);
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("read");
        line.trim_end().to_owned()
    }

    #[track_caller]
    fn expect_answers(&mut self, numbers: std::ops::RangeInclusive<u32>) {
        for number in numbers {
            assert_eq!(self.line(), format!("{number} rsp 6 200 OK"));
        }
    }
}

fn expected(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("h|app|relp|m{n}")).collect()
}

#[test]
fn messages_are_answered_once_they_are_in_the_file() {
    let port = free_port();
    let running = Running::start(&to_file(&format!("port({port})")));
    let mut client = Client::open(port);
    client.send(0, 500);
    client.expect_answers(2..=501);
    assert_eq!(running.wait_lines("out", 500), expected(0, 500));
    client.send(500, 501);
    client.expect_answers(502..=502);
    let mut out = Vec::new();
    relp::close(&mut out, 503);
    client.write(&out);
    assert_eq!((client.line(), client.line()), ("503 rsp 0".to_owned(), "0 serverclose 0".to_owned()));
    assert_eq!(client.line(), "", "the connection is closed");
}

#[test]
fn nothing_is_answered_while_the_destination_is_away() {
    let (listener, port) = (TcpListener::bind("127.0.0.1:0").expect("bind"), free_port());
    let away = listener.local_addr().expect("address").port();
    drop(listener);
    let destination = format!("network(\"127.0.0.1\" port({away}) time-reopen(1) template(\"$MSG\\n\"));");
    let mut running = Running::start(&config(&format!("port({port})"), &destination));
    let mut client = Client::open(port);
    client.send(0, 3);
    wait_until("the messages to be received", || running.source("s#0").counters.received.value() == 3);
    client.stream.get_mut().set_nonblocking(true).expect("option");
    assert!(client.stream.read(&mut [0; 1]).is_err(), "not delivered and answered all the same");
    client.stream.get_mut().set_nonblocking(false).expect("option");
    let listener = TcpListener::bind(("127.0.0.1", away)).expect("bind");
    let mut peer = BufReader::new(listener.accept().expect("accept").0);
    client.expect_answers(2..=4);
    let mut line = String::new();
    peer.read_line(&mut line).expect("read");
    assert_eq!(line, "m0\n");
    running.stop();
}

#[test]
fn a_reload_that_ends_the_source_answers_what_is_under_way() {
    let (listener, port) = (TcpListener::bind("127.0.0.1:0").expect("bind"), free_port());
    let away = listener.local_addr().expect("address").port();
    drop(listener);
    let destination = format!("network(\"127.0.0.1\" port({away}) time-reopen(1) template(\"$MSG\\n\"));");
    let mut running = Running::start(&config(&format!("port({port})"), &destination));
    let mut client = Client::open(port);
    client.send(0, 3);
    wait_until("the messages to be received", || running.source("s#0").counters.received.value() == 3);
    let without = config("port(0) persist-name(other)", &destination);
    running.reload(&without).expect("reload");
    let listener = TcpListener::bind(("127.0.0.1", away)).expect("bind");
    let _peer = listener.accept().expect("accept");
    client.expect_answers(2..=4);
    assert_eq!((client.line(), client.line()), ("0 serverclose 0".to_owned(), String::new()));
}

#[test]
fn peers_that_do_not_keep_to_the_protocol_are_told_and_left() {
    let port = free_port();
    let running = Running::start(&to_file(&format!("port({port}) log-msg-size(30)")));
    for (said, answered) in [
        ("<13>Nov 11 01:02:03 h app: plain\n", ""),
        ("1 syslog 1 x\n", ""),
        ("1 open 17 relp_version=zero\n", "1 rsp 37 500 the peer names no version of RELP\n"),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
        stream.write_all(said.as_bytes()).expect("write");
        stream.shutdown(Shutdown::Write).expect("shutdown");
        let mut got = String::new();
        stream.read_to_string(&mut got).expect("read");
        assert!(got.replace("0 serverclose 0\n", "") == answered, "{said:?}: {got:?}");
    }
    let mut client = Client::open(port);
    client.send(0, 1);
    // What is too long is cut; empty messages are answered, and are none.
    client.write(
        b"3 syslog 35 <13>Nov 11 01:02:03 h app: 12345678\n4 syslog 0\n5 syslog 1 \n\n6 eventlog 1 x\n",
    );
    client.expect_answers(2..=2);
    let rest: Vec<String> = std::iter::from_fn(|| Some(client.line()).filter(|l| !l.is_empty())).collect();
    assert!(rest.iter().any(|l| l == "6 rsp 37 500 this command is not expected here"), "{rest:?}");
    for number in 3..=5 {
        assert!(rest.iter().any(|l| *l == format!("{number} rsp 6 200 OK")), "{number}: {rest:?}");
    }
    assert_eq!(running.wait_lines("out", 2), ["h|app|relp|m0", "h|app|relp|123"]);
    assert_eq!(running.source("s#0").counters.truncated.value(), 1);
}

#[test]
fn other_character_sets() {
    let port = free_port();
    let running = Running::start(&to_file(&format!("port({port}) encoding(\"iso-8859-1\")")));
    let mut client = Client::open(port);
    client.write(b"2 syslog 29 <13>Nov 11 01:02:03 h app: \xe9t\n");
    client.expect_answers(2..=2);
    assert_eq!(running.wait_lines("out", 1), ["h|app|relp|\u{e9}t"]);
}

#[test]
fn what_is_wrong_with_an_address_is_said() {
    for (options, code) in [
        ("ip(\"::1\")", "D0103"),
        ("ip(127.0.0.1) ip-protocol(6)", "D0103"),
        ("port(\"no-such-service\")", "D0104"),
    ] {
        let text = format!(
            "{HEAD}source s {{ relp({options}); }};\ndestination d {{ file(\"/dev/null\"); }};\nlog {{ source(s); destination(d); }};\n"
        );
        assert!(errors(&text).contains(code), "{options}");
    }
}
