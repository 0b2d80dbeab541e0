//! `loggen --reconnect`: a receiver that closes gets the rest over the next connection.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::process::{Command, Stdio};
use testkit::Lab;
use testkit::penstock::binary;

const COUNT: usize = 400;

/// What it said, after it has ended well.
struct Said(String);

/// Runs loggen beside a receiver.
fn run(args: &[&str], receiver: impl FnOnce()) -> Said {
    let mut command = Command::new(binary());
    command.args(["loggen", "--rate", "400", "--number", &COUNT.to_string(), "--reconnect"]).args(args);
    let child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("loggen");
    receiver();
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {text}");
    Said(text)
}

impl Said {
    #[track_caller]
    fn check(&self) {
        assert!(
            self.0.contains("is lost, trying to reconnect") && self.0.contains("is there again"),
            "{}",
            self.0
        );
    }
}

/// Reads some lines, goes away in the middle, and gives back what the next connection brought.
fn close_once<S: Read>(mut accept: impl FnMut() -> S) -> (Vec<String>, Vec<String>) {
    let first = BufReader::new(accept()).lines().take(20).collect::<Result<Vec<_>, _>>().expect("lines");
    let rest = BufReader::new(accept()).lines().collect::<Result<Vec<_>, _>>().expect("lines");
    (first, rest)
}

/// The number in a line that loggen made.
fn number(line: &str) -> usize {
    let rest = line.split("seq: ").nth(1).unwrap_or_else(|| panic!("not whole: {line}"));
    rest.split(',').next().and_then(|n| n.trim().parse().ok()).unwrap_or_else(|| panic!("not whole: {line}"))
}

#[track_caller]
fn check_rest(first: &[String], rest: &[String], number: impl Fn(&str) -> usize, last: usize) {
    assert_eq!(first.len(), 20);
    let numbers: Vec<usize> = rest.iter().map(|line| number(line)).collect();
    assert!(numbers.is_sorted_by(|a, b| a + 1 == *b), "without a gap: {numbers:?}");
    assert!(numbers.first().is_some_and(|n| *n >= 20) && numbers.last() == Some(&last), "{numbers:?}");
}

#[test]
fn the_next_connection_brings_the_rest() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port().to_string();
    let mut got = None;
    let args = ["--inet", "--stream", "127.0.0.1", &port];
    run(&args, || got = Some(close_once(|| listener.accept().expect("a connection").0))).check();
    let (first, rest) = got.expect("received");
    check_rest(&first, &rest, number, COUNT - 1);
}

#[test]
fn the_next_connection_brings_the_rest_of_a_file() {
    let lab = Lab::new();
    let path = lab.path("socket");
    let listener = UnixListener::bind(&path).expect("a socket");
    let lines: String = (0..COUNT).map(|n| format!("<13>line {n} {}\n", "x".repeat(300))).collect();
    std::fs::write(lab.path("lines"), lines).expect("a file");
    let file = lab.path("lines").display().to_string();
    let mut got = None;
    let args = ["--unix", "--stream", "--read-file", &file, "--dont-parse", path.to_str().expect("a path")];
    run(&args, || got = Some(close_once(|| listener.accept().expect("a connection").0))).check();
    let (first, rest) = got.expect("received");
    let number = |line: &str| line.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a whole line");
    check_rest(&first, &rest, number, COUNT - 1);
}

#[test]
fn a_datagram_socket_that_is_made_anew_gets_the_rest() {
    let lab = Lab::new();
    let path = lab.path("socket");
    let mut socket = UnixDatagram::bind(&path).expect("a socket");
    let mut last = 0;
    let args = ["--unix", "--dgram", path.to_str().expect("a path")];
    run(&args, || {
        let mut bytes = [0; 4096];
        let mut next = |socket: &UnixDatagram| {
            let count = socket.recv(&mut bytes).expect("a message");
            number(&String::from_utf8_lossy(&bytes[..count]))
        };
        for _ in 0..20 {
            next(&socket);
        }
        std::fs::remove_file(&path).expect("it is there");
        socket = UnixDatagram::bind(&path).expect("another one");
        while last != COUNT - 1 {
            last = next(&socket);
        }
    })
    .check();
}
