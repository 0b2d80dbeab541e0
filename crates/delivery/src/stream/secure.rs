//! The encrypted side of a connection to a server: handshake without waiting, output in large pieces, what
//! the server says in return.

use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};
use tls::{Received, Session};

/// Bytes of messages encrypted for one system call.
const PIECE_BYTES: usize = 128 * 1024;
/// Reads of one look at what the server sends.
const READS_MAX: usize = 64;
/// The least and the most time a server has to refuse our certificate after the handshake.
const SETTLE_MIN: Duration = Duration::from_millis(20);
const SETTLE_MAX: Duration = Duration::from_secs(1);

pub struct Secure {
    session: Session,
    began: Instant,
    /// When nobody has refused us by then, the connection is good.
    settled: Option<Instant>,
    /// Bytes of messages that stand encrypted in the output: they count as sent when all of it is.
    claimed: usize,
    /// The server has sent bytes of messages, which is for the caller to judge.
    spoke: bool,
    ended: bool,
}

impl Secure {
    pub fn new(session: Session) -> Secure {
        Secure { session, began: Instant::now(), settled: None, claimed: 0, spoke: false, ended: false }
    }

    pub fn described(&self) -> String {
        self.session.described()
    }

    /// Goes on with the handshake. A TLS 1.3 server looks at our certificate only after it is over, so
    /// messages wait for twice the time it took: what is sent to a server that refuses us is lost.
    pub fn is_established(&mut self, socket: &Socket, now: Instant) -> io::Result<bool> {
        self.flush(socket)?;
        let was_open = self.session.is_open();
        let heard = self.receive(socket)?;
        if self.ended {
            return Err(io::Error::other("the server has ended the TLS session"));
        }
        if !self.session.is_open() || !self.session.outgoing().is_empty() {
            return Ok(false);
        }
        if (was_open && heard) || !self.session.may_be_refused() {
            return Ok(true);
        }
        let took = now.saturating_duration_since(self.began);
        let until = *self.settled.get_or_insert(now + (took * 2).clamp(SETTLE_MIN, SETTLE_MAX));
        Ok(now >= until)
    }

    /// How long until [`Secure::is_established`] has something new to say by itself.
    pub fn settles_in(&self, now: Instant) -> Option<Duration> {
        self.settled.map(|until| until.saturating_duration_since(now))
    }

    /// A piece is encrypted and not yet sent: it cannot be taken back.
    pub fn holds(&self) -> bool {
        self.claimed > 0
    }

    /// Encrypts a piece and sends it. Says how much when all of it is with the kernel; until then the same
    /// bytes have to be offered again.
    pub fn send(&mut self, socket: &Socket, bytes: &[u8]) -> io::Result<usize> {
        if self.claimed == 0 {
            let piece = bytes.get(..PIECE_BYTES).unwrap_or(bytes);
            self.session.encrypt(piece).map_err(io::Error::other)?;
            self.claimed = piece.len();
        }
        self.flush(socket)?;
        match self.session.outgoing().is_empty() {
            true => Ok(std::mem::take(&mut self.claimed)),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Reads what the server sent. Whether messages were among it, and whether it has ended the session.
    pub fn input(&mut self, socket: &Socket) -> io::Result<(bool, bool)> {
        self.receive(socket)?;
        Ok((std::mem::take(&mut self.spoke), self.ended))
    }

    /// Ends the session, as far as the kernel takes it.
    pub fn close(&mut self, socket: &Socket) {
        self.session.close();
        let _ = self.flush(socket);
    }

    fn receive(&mut self, socket: &Socket) -> io::Result<bool> {
        let mut buffer = [0u8; 16 * 1024];
        let mut heard = false;
        for _ in 0..READS_MAX {
            match rustix::net::recv(socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) if self.session.is_open() => {
                    self.ended = true;
                    break;
                }
                Ok((0, _)) => return Err(io::Error::other("the server hung up during the TLS handshake")),
                Ok((n, _)) => {
                    heard = true;
                    match self.session.handshake(buffer.get(..n).unwrap_or_default()) {
                        Ok(received) => self.ended |= received == Received::Closed,
                        Err(error) => {
                            let _ = self.flush(socket);
                            return Err(io::Error::other(format!("TLS: {error}")));
                        }
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        self.spoke |= !self.session.take_early().is_empty();
        self.flush(socket)?;
        Ok(heard)
    }

    fn flush(&mut self, socket: &Socket) -> io::Result<()> {
        while !self.session.outgoing().is_empty() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(socket, self.session.outgoing(), flags) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => self.session.sent(n),
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
