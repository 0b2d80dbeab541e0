//! A hundred requests that mean no good: none is answered with anything but a refusal, none costs more than
//! its connection.

use super::{FILE, start};
use crate::messages::send;
use std::io::Write;
use std::net::TcpStream;
use testkit::{Lab, wait_until, web};

/// The whole text of each, and what may be answered: nothing at all is always good.
fn requests(port: u16) -> Vec<(String, &'static [&'static str])> {
    const BAD: &[&str] = &["400", "404", "405", "413", "414", "421", "431", "505"];
    let host = format!("Host: 127.0.0.1:{port}\r\nConnection: close\r\n");
    let mut all: Vec<(String, &'static [&'static str])> = Vec::new();
    // Paths that are not there, however they are written.
    for path in [
        "/../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/ledger.json",
        "//ledger.json",
        "/./ledger.json",
        "/ledger.json/",
        "/ledger.json%00",
        "/LEDGER.JSON",
        "/ledger%2ejson",
        "/\\ledger.json",
        "/ledger.json;x",
        "/metrics/../ledger.json",
        "/%",
        "/%zz",
        "/%c0%ae%c0%ae/",
        "/.git/config",
        "/control",
        "/control/stop",
        "/events/",
        "/metrics%20",
        "*",
        "ledger.json",
        "/metrics\\..\\x",
        "/etc/penstock/penstock.conf",
        "/console",
        "/index.html",
        "/favicon.ico",
        "http://evil.example.com/metrics",
        "http://127.0.0.1.evil.example.com/metrics",
        "file:///etc/passwd",
    ] {
        all.push((format!("GET {path} HTTP/1.1\r\n{host}\r\n"), BAD));
    }
    // Names that are not ours, and none.
    for name in [
        "evil.example.com",
        "127.0.0.1.evil.example.com",
        "localhost.evil.example.com",
        "169.254.169.254",
        "0.0.0.0",
        "[::1]",
        "127.0.0.2",
        "2130706433",
        "127.1",
        "0x7f.1",
        "user@127.0.0.1",
        "127.0.0.1:x",
        "127.0.0.1/..",
        "",
        " ",
        "127.0.0.1, evil.example.com",
    ] {
        all.push((format!("GET /metrics HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n"), BAD));
    }
    all.push(("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), BAD));
    all.push((format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{host}\r\n"), BAD));
    // Methods that nobody has.
    for method in [
        "POST",
        "PUT",
        "DELETE",
        "PATCH",
        "OPTIONS",
        "TRACE",
        "CONNECT",
        "get",
        "GET\0",
        "",
        "PRI",
        "X".repeat(5000).as_str(),
    ] {
        all.push((format!("{method} /metrics HTTP/1.1\r\n{host}\r\n"), BAD));
    }
    // Heads that are too large, or none.
    all.push((format!("GET /metrics HTTP/1.1\r\n{host}X: {}\r\n\r\n", "x".repeat(1 << 20)), BAD));
    all.push((format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(1 << 20)), BAD));
    all.push((format!("GET /metrics HTTP/1.1\r\n{host}{}\r\n", "X: y\r\n".repeat(10_000)), BAD));
    all.push((format!("GET /metrics HTTP/1.1\r\n{host}{}: y\r\n\r\n", "X".repeat(100_000)), BAD));
    all.push(("\r\n".repeat(50_000), BAD));
    for head in [
        "GET /metrics HTTP/9.9\r\n",
        "GET /metrics HTTP/1.1 x\r\n",
        "GET /metrics\r\n",
        "GET  /metrics  HTTP/1.1\r\n",
        "GET /metrics HTTP/2.0\r\n",
        "GET\t/metrics\tHTTP/1.1\r\n",
        "\u{16}\u{3}\u{1}\0\u{1}",
        "GET /metrics HTTP/1.1\nX\0: y\n",
        "SSH-2.0-x\r\n",
        "<34>Oct 11 22:14:15 host app: no request\n",
        "{\"event\":1}\n",
    ] {
        all.push((format!("{head}{host}\r\n"), BAD));
    }
    // Bodies that lie about themselves.
    for body in [
        "Content-Length: -1\r\n\r\n",
        "Content-Length: 99999999999999999999\r\n\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "Content-Length: 1 2\r\n\r\nx",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
        "Content-Length: 1000000000\r\n\r\nx",
        "X : y\r\n\r\n",
        " folded: y\r\n\r\n",
        "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
        "Content-Encoding: x\r\nContent-Length: 3\r\n\r\nabc",
        "Expect: 200-ok\r\nContent-Length: 1000000000\r\n\r\n",
        "X: a\rb\r\n\r\n",
        "X: a\0b\r\n\r\n",
    ] {
        all.push((
            format!("POST /control/reload HTTP/1.1\r\n{host}X-Penstock: 1\r\n{body}"),
            &["400", "403", "408", "413", "415", "501"],
        ));
    }
    // Pages of somebody else.
    for header in [
        "Origin: http://evil.example.com",
        "Origin: null",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Origin: https://localhost.evil.example.com",
    ] {
        all.push((format!("GET /ledger.json HTTP/1.1\r\n{host}{header}\r\n\r\n"), &["403"]));
    }
    // A second request hidden in the first.
    let inner = format!("GET /metrics HTTP/1.1\r\n{host}\r\n");
    all.push((
        format!("POST /nothing HTTP/1.1\r\n{host}Content-Length: {}\r\n\r\n{inner}", inner.len()),
        BAD,
    ));
    all
}

#[test]
fn a_hundred_hostile_requests_break_nothing_and_learn_nothing() {
    let lab = Lab::new();
    let (mut penstock, port) = start(&lab, "", FILE);
    let requests = requests(port);
    assert!(requests.len() >= 100, "{}", requests.len());
    let answers: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            requests.iter().map(|(text, _)| scope.spawn(|| web::raw(port, text.as_bytes()))).collect();
        asked.into_iter().map(|one| one.join().expect("an answer")).collect()
    });
    for ((request, statuses), answer) in requests.iter().zip(&answers) {
        let said = answer.split(' ').nth(1).unwrap_or_default();
        assert!(answer.is_empty() || statuses.contains(&said), "{request:.200?}\n{answer}");
        for secret in ["syslogng_", "\"sources\"", "root:", "@version", "panicked"] {
            assert!(!answer.contains(secret), "{request:.200?}\n{answer}");
        }
    }
    // Clients that say nothing, or half of something, hold up nobody for long.
    let mut silent: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("a connection")).collect();
    for (number, stream) in silent.iter_mut().enumerate() {
        let halves = ["", "GET /met", "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "];
        let _ = stream.write_all(halves[number % halves.len()].as_bytes());
    }
    wait_until("an answer", || web::get(port, "/healthz", "").status == 200);
    drop(silent);
    send(&lab, 0, 10);
    penstock.wait_ledger(|ledger| (ledger.destination("d").delivered != 10).then(|| "10".to_owned()));
    assert!(!penstock.log().contains("panicked"), "{}", penstock.log());
    penstock.stop();
}
