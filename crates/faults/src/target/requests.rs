//! A receiver that answers: each request is taken whole, counted, and said to be. Now and then it is not
//! taken, or the answer to one that was taken is lost.

use super::Shared;
use std::io::{BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use testkit::Request;

/// One request in so many is not taken.
const REFUSED_EACH: u64 = 20;
/// After one in so many the connection ends without an answer.
const UNANSWERED_EACH: u64 = 31;

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
        let Ok(reading) = stream.try_clone() else { return };
        let mut reader = BufReader::new(reading);
        while !self.is_over.load(Ordering::SeqCst) {
            let Some(request) = Request::read(&mut reader, connection) else { return };
            let slow = self.slow.load(Ordering::SeqCst);
            thread::sleep(Duration::from_millis(slow));
            self.came();
            let number = self.requests.fetch_add(1, Ordering::SeqCst);
            let is_taken = number % REFUSED_EACH != 3;
            if is_taken {
                self.count(&request.body, connection);
            }
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
