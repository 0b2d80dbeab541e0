//! A client of HTTP/1.1 for tests: one request a connection, the answer whole, or piece by piece.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Answered {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answered {
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// `GET`, with lines of headers.
#[track_caller]
pub fn get(port: u16, path: &str, headers: &str) -> Answered {
    asked(
        port,
        &format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}\r\n"),
    )
}

/// `POST` of a body, with lines of headers.
#[track_caller]
pub fn post(port: u16, path: &str, headers: &str, body: &[u8]) -> Answered {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
        body.len()
    );
    let request = [head.as_bytes(), body].concat();
    let answer = raw(port, &request);
    parsed(&answer).unwrap_or_else(|| panic!("no answer to POST {path}: {answer:?}"))
}

#[track_caller]
fn asked(port: u16, request: &str) -> Answered {
    let answer = raw(port, request.as_bytes());
    parsed(&answer).unwrap_or_else(|| panic!("no answer to {request}: {answer:?}"))
}

/// Sends bytes, and gives all that comes until the server hangs up.
pub fn raw(port: u16, request: &[u8]) -> String {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return String::new() };
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
    // A server that has heard enough may hang up before all is sent.
    let _ = stream.write_all(request);
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

/// The first answer in what came. Bodies in chunks are put together.
pub fn parsed(text: &str) -> Option<Answered> {
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header =
        |line: &str| line.split_once(':').map(|(n, v)| (n.to_ascii_lowercase(), v.trim().to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(header).collect();
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let body = if is_chunked { joined(body) } else { body.to_owned() };
    Some(Answered { status, headers, body })
}

fn joined(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        let Some(piece) = after.get(..size).filter(|_| size > 0) else { break };
        body.push_str(piece);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    body
}

/// A stream of events (`text/event-stream`).
pub struct Events(BufReader<TcpStream>);

impl Events {
    #[track_caller]
    pub fn open(port: u16, path: &str) -> Events {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("written");
        Events(BufReader::new(stream))
    }

    /// The next event: its name and data.
    #[track_caller]
    pub fn next_event(&mut self) -> (String, serde_json::Value) {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).expect("an event") > 0, "the stream has ended");
            if let Some(found) = line.strip_prefix("event: ") {
                name = found.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}
