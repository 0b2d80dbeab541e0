//! One client: its unread line, its unsent reply, and which of the two is under way.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use crate::asker::Asker;

/// Longest request line without its end.
pub const LINE_BYTES_MAX: usize = 512 * 1024;
const READ_BYTES: usize = 4096;

/// A client waits for the answer to one request at a time; further lines stay unread meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Reading,
    /// A job works on the answer.
    Busy,
    Writing,
}

pub struct Conn {
    pub stream: UnixStream,
    pub token: u64,
    pub phase: Phase,
    pub last_active: Instant,
    /// Whom the job works for that is under way.
    pub asker: Option<Asker>,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    /// The client will send nothing more.
    eof: bool,
    /// Nothing more is read: close once the reply is out.
    closing: bool,
}

/// What became of an attempt to go on.
#[derive(Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for the socket.
    Wait,
    /// A whole request line.
    Line(String),
    /// The line is too long.
    TooLong,
    Close,
}

impl Conn {
    pub fn new(stream: UnixStream, token: u64, now: Instant) -> Self {
        Conn {
            stream,
            token,
            phase: Phase::Reading,
            last_active: now,
            asker: None,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            eof: false,
            closing: false,
        }
    }

    /// Takes what the socket has. At most one line beyond the limit is ever held.
    pub fn read(&mut self) -> Step {
        let mut chunk = [0; READ_BYTES];
        while self.input.len() <= LINE_BYTES_MAX && !self.input.contains(&b'\n') {
            match self.stream.read(&mut chunk) {
                Ok(0) => {
                    self.eof = true;
                    break;
                }
                Ok(count) => self.input.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Step::Close,
            }
        }
        self.next_line()
    }

    /// The next line already held. Empty lines are skipped: older clients end a request with two line breaks.
    pub fn next_line(&mut self) -> Step {
        while let Some(end) = self.input.iter().position(|b| *b == b'\n') {
            if end > LINE_BYTES_MAX {
                return Step::TooLong;
            }
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let line = String::from_utf8_lossy(line.trim_ascii());
            if !line.is_empty() {
                return Step::Line(line.into_owned());
            }
        }
        match (self.input.len() > LINE_BYTES_MAX, self.eof || self.closing) {
            (true, _) => Step::TooLong,
            (false, true) => Step::Close,
            (false, false) => Step::Wait,
        }
    }

    /// Queues a reply; `last`: the connection ends with it.
    pub fn reply(&mut self, text: &str, last: bool) {
        frame(text, &mut self.output);
        self.phase = Phase::Writing;
        self.asker = None;
        self.closing |= last;
        if last {
            self.input = Vec::new();
        }
    }

    /// Sends what it can. `Ok(true)`: all is out, the next line may be looked at.
    pub fn flush(&mut self) -> io::Result<bool> {
        while let Some(rest) = self.output.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        self.output = Vec::new();
        self.sent = 0;
        self.phase = Phase::Reading;
        Ok(true)
    }
}

/// A reply on the wire: its lines, then a line of one dot. A line of one dot inside gets a blank behind it,
/// or it would end the reply.
fn frame(text: &str, out: &mut Vec<u8>) {
    for line in text.lines() {
        out.extend_from_slice(line.as_bytes());
        if line == "." {
            out.push(b' ');
        }
        out.push(b'\n');
    }
    out.extend_from_slice(b".\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_framed() {
        let check = |text: &str, expected: &str| {
            let mut out = Vec::new();
            frame(text, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected);
        };
        check("OK x", "OK x\n.\n");
        check("a\nb\n", "a\nb\n.\n");
        check("", ".\n");
        check("a\n.\nb\n", "a\n. \nb\n.\n");
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        let (mut peer, ours) = UnixStream::pair().expect("socket pair");
        ours.set_nonblocking(true).expect("nonblocking");
        let mut conn = Conn::new(ours, 1, Instant::now());
        assert_eq!(conn.read(), Step::Wait);
        peer.write_all(b"ST").expect("write");
        assert_eq!(conn.read(), Step::Wait);
        peer.write_all(b"ATS\n\n\r\n RELOAD\n").expect("write");
        assert_eq!(conn.read(), Step::Line("STATS".into()));
        assert_eq!(conn.next_line(), Step::Line("RELOAD".into()));
        assert_eq!(conn.next_line(), Step::Wait);
        peer.write_all(b"half").expect("write");
        drop(peer);
        assert_eq!(conn.read(), Step::Close);
    }

    #[test]
    fn a_line_at_the_limit_passes_and_one_beyond_does_not() {
        let check = |length: usize, passes: bool| {
            let (mut peer, ours) = UnixStream::pair().expect("socket pair");
            ours.set_nonblocking(true).expect("nonblocking");
            let mut conn = Conn::new(ours, 1, Instant::now());
            // More than a socket holds: it is written while it is read. Who is refused does not read on.
            let writer = std::thread::spawn(move || {
                let _ = peer.write_all(&[vec![b'x'; length], b"\n".to_vec()].concat());
            });
            let step = loop {
                match conn.read() {
                    Step::Wait => std::thread::yield_now(),
                    step => break step,
                }
            };
            assert_eq!(matches!(step, Step::Line(_)), passes, "{length}");
            drop(conn);
            writer.join().expect("written");
        };
        check(LINE_BYTES_MAX, true);
        check(LINE_BYTES_MAX + 1, false);
        check(LINE_BYTES_MAX + READ_BYTES * 2, false);
    }
}
