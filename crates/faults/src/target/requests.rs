//! A receiver that answers: each request is taken whole, counted, and said to be. Now and then it is not
//! taken, or the answer to one that was taken is lost.

use super::Shared;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// One request in so many is not taken.
const REFUSED_EACH: u64 = 20;
/// After one in so many the connection ends without an answer.
const UNANSWERED_EACH: u64 = 31;
/// Bytes of a head, at most.
const HEAD_BYTES_MAX: usize = 64 << 10;

/// Whether a connection begins with a request and not with a line.
pub fn begin(first: &[u8]) -> bool {
    first.starts_with(b"P")
}

impl Shared {
    /// Reads requests until the connection ends. What is not whole was never taken.
    pub(super) fn answer(&self, mut stream: TcpStream, connection: usize) {
        self.take_requests(&mut stream, connection);
        // Others have copies of the connection.
        let _ = stream.shutdown(Shutdown::Both);
    }

    fn take_requests(&self, stream: &mut TcpStream, connection: usize) {
        let mut bytes = Vec::new();
        while !self.is_over.load(Ordering::SeqCst) {
            let Some((head, whole)) = next(stream, &mut bytes) else { return };
            let slow = self.slow.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(slow));
            self.came();
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            let is_taken = number % REFUSED_EACH != 3;
            if is_taken {
                self.count(&bytes[head..whole], connection);
            }
            bytes.drain(..whole);
            if is_taken && number % UNANSWERED_EACH == 5 {
                self.unanswered.fetch_add(1, Ordering::SeqCst);
                return;
            }
            let status = if is_taken { "200 OK" } else { "503 Service Unavailable" };
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
            // Whoever cannot hear it sends the request again.
            let unheard = stream.write_all(answer.as_bytes()).is_err();
            if unheard {
                self.unanswered.fetch_add(u64::from(is_taken), Ordering::SeqCst);
            }
        }
    }
}

/// Where the head of the next request ends, and its body. `None`: it never becomes whole.
fn next(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<(usize, usize)> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        if let Some(head) = bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4) {
            let whole = head + length(&bytes[..head])?;
            if bytes.len() >= whole {
                return Some((head, whole));
            }
        } else if bytes.len() > HEAD_BYTES_MAX {
            return None;
        }
        match stream.read(&mut buffer) {
            Ok(n) if n > 0 => bytes.extend_from_slice(&buffer[..n]),
            _ => return None,
        }
    }
}

/// `Content-Length`.
fn length(head: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(head).ok()?;
    let value = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    };
    text.lines().find_map(value)
}
