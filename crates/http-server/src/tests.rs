//! What clients can do to a server, over real sockets.

use crate::{Answer, Handler, Head, Hosts, Later, Limits, Request, Server, Settings};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Says what it got.
struct Echo;

impl Handler for Echo {
    fn admit(&self, head: &Head) -> Result<(), Answer> {
        match head.path() {
            "/echo" => Ok(()),
            _ => Err(Answer::text(404, "there is no such place")),
        }
    }

    fn answer(&self, request: Request) -> Later {
        Box::pin(async move { Answer::new(200, "text/plain", request.body) })
    }
}

const LIMITS: Limits = Limits {
    connections_max: 8,
    head_bytes_max: 16 << 10,
    body_bytes_max: 10_000,
    bodies_bytes_max: 20_000,
    first_time: Duration::from_secs(5),
    head_time: Duration::from_secs(2),
    piece_time: Duration::from_millis(300),
    body_time: Duration::from_secs(1),
    handshake_time: Duration::from_secs(1),
    stalled_time: Duration::from_secs(1),
};

fn server(limits: Limits) -> Server {
    let settings = Settings {
        name: "test".to_owned(),
        listener: TcpListener::bind("127.0.0.1:0").expect("a port"),
        tls: None,
        limits,
        hosts: Hosts::Named(Vec::new()),
    };
    Server::start(settings, Arc::new(Echo)).expect("a server")
}

fn connected(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a limit");
    stream
}

/// Everything that is answered until the server hangs up.
fn said(stream: &mut TcpStream) -> String {
    let mut all = Vec::new();
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return String::from_utf8_lossy(&all).into_owned(),
            Ok(n) => all.extend_from_slice(&piece[..n]),
        }
    }
}

fn asked(server: &Server, bytes: &[u8]) -> String {
    let mut stream = connected(server);
    // A server that has heard enough may hang up before all is sent.
    let _ = stream.write_all(bytes);
    said(&mut stream)
}

#[track_caller]
fn check(server: &Server, request: &str, status: &str) {
    let answer = asked(server, request.as_bytes());
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.200}: {answer:.300}");
}

#[test]
fn requests_get_the_answers_that_belong_to_them() {
    let server = server(LIMITS);
    let end = "Host: localhost\r\nConnection: close\r\n";
    check(&server, &format!("GET /echo HTTP/1.1\r\n{end}\r\n"), "200");
    check(&server, &format!("GET /other HTTP/1.1\r\n{end}\r\n"), "404");
    check(&server, "GET /echo HTTP/1.1\r\n\r\n", "400");
    check(&server, &format!("GET /echo HTTP/1.1\r\nHost: localhost\r\n{end}\r\n"), "400");
    check(&server, "GET /echo HTTP/1.1\r\nHost: evil.example.com\r\n\r\n", "421");
    check(&server, &format!("GET http://evil.example.com/echo HTTP/1.1\r\n{end}\r\n"), "421");
    check(&server, &format!("POST /echo HTTP/1.1\r\n{end}Content-Length: 10001\r\n\r\n"), "413");
    check(
        &server,
        &format!("POST /echo HTTP/1.1\r\n{end}Content-Encoding: br\r\nContent-Length: 1\r\n\r\nx"),
        "415",
    );
    check(
        &server,
        &format!("POST /echo HTTP/1.1\r\n{end}Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx"),
        "400",
    );
    // Halves of a body whose rest never comes.
    check(&server, &format!("POST /echo HTTP/1.1\r\n{end}Content-Length: 5\r\n\r\nab"), "408");
    let big = "x".repeat(10_001);
    check(
        &server,
        &format!("POST /echo HTTP/1.1\r\n{end}Transfer-Encoding: chunked\r\n\r\n2711\r\n{big}\r\n0\r\n\r\n"),
        "413",
    );
    let header = "x".repeat(20_000);
    check(&server, &format!("GET /echo HTTP/1.1\r\n{end}X: {header}\r\n\r\n"), "431");
    let headers: String = (0..150).map(|n| format!("X-{n}: 1\r\n")).collect();
    check(&server, &format!("GET /echo HTTP/1.1\r\n{end}{headers}\r\n"), "431");
    let answer =
        asked(&server, format!("POST /echo HTTP/1.1\r\n{end}Content-Length: 3\r\n\r\nabc").as_bytes());
    assert!(answer.ends_with("\r\n\r\nabc"), "{answer}");
    let answer = asked(&server, format!("HEAD /echo HTTP/1.1\r\n{end}\r\n").as_bytes());
    assert!(answer.ends_with("\r\n\r\n") && answer.contains("content-length: 0"), "{answer}");
}

#[test]
fn a_bomb_stops_at_the_limit() {
    use flate2::{Compression, write::GzEncoder};
    let server = server(LIMITS);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 8 << 20]).expect("packed");
    let packed = encoder.finish().expect("packed");
    assert!(packed.len() < LIMITS.body_bytes_max);
    let mut request = format!(
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        packed.len()
    )
    .into_bytes();
    request.extend_from_slice(&packed);
    assert!(asked(&server, &request).starts_with("HTTP/1.1 413 "));
}

#[test]
fn clients_that_say_nothing_make_room_for_others() {
    // None of the times is ever over.
    let for_ever = Duration::from_secs(1000);
    let server = server(Limits { connections_max: 2, first_time: for_ever, head_time: for_ever, ..LIMITS });
    let mut known = connected(&server);
    known.write_all(b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    let mut byte = [0];
    known.read_exact(&mut byte).expect("an answer");
    let mut silent = connected(&server);
    silent.write_all(b"GET /echo HTT").expect("written");
    for _ in 0..3 {
        check(&server, "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", "200");
    }
    assert_eq!(said(&mut silent), "");
    // Who has asked before stays.
    known.write_all(b"GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("written");
    assert_eq!(said(&mut known).matches("TTP/1.1 200 OK").count(), 2);
}

#[test]
fn clients_that_say_nothing_are_not_waited_for() {
    let for_ever = Duration::from_secs(1000);
    let server = server(Limits { first_time: Duration::from_millis(50), head_time: for_ever, ..LIMITS });
    let mut slow = connected(&server);
    slow.write_all(b"GET /echo HTT").expect("written");
    assert_eq!(said(&mut slow), "");
    // A place that there is not makes nobody known.
    let mut stranger = connected(&server);
    stranger.write_all(b"GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    assert!(said(&mut stranger).starts_with("HTTP/1.1 404 "));
}

#[test]
fn a_server_that_is_dropped_gives_its_address_away_at_once() {
    let first = server(LIMITS);
    let mut open = connected(&first);
    open.write_all(b"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("written");
    let mut byte = [0];
    open.read_exact(&mut byte).expect("an answer");
    let address = first.address();
    drop(first);
    let options = transport_like(address);
    assert_eq!(options.local_addr().expect("an address"), address);
    // The other end hears that nothing more is answered.
    said(&mut open);
}

/// As the house opens listeners: with SO_REUSEADDR.
fn transport_like(address: std::net::SocketAddr) -> TcpListener {
    TcpListener::bind(address).expect("the address is free")
}

#[test]
fn pieces_go_out_as_they_come() {
    struct Pieces;
    impl Handler for Pieces {
        fn admit(&self, _head: &Head) -> Result<(), Answer> {
            Ok(())
        }
        fn answer(&self, _request: Request) -> Later {
            Box::pin(async {
                let (sender, pieces) = tokio::sync::mpsc::channel(1);
                tokio::spawn(async move {
                    for piece in ["one ", "two "] {
                        let _ = sender.send(piece.into()).await;
                    }
                });
                Answer::pieces("text/event-stream", pieces)
            })
        }
    }
    let settings = Settings {
        name: "test".to_owned(),
        listener: TcpListener::bind("127.0.0.1:0").expect("a port"),
        tls: None,
        limits: LIMITS,
        hosts: Hosts::Any,
    };
    let server = Server::start(settings, Arc::new(Pieces)).expect("a server");
    let answer = asked(&server, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("4\r\none \r\n4\r\ntwo \r\n0\r\n"), "{answer}");
}
