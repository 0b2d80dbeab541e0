//! The bytes of messages behind an encrypted connection, and the answers to it.

use crate::input::read_spare;
use diag::Fault;
use engine::reader::Input;
use mio::Registry;
use mio::unix::SourceFd;
use rustix::net::{SendFlags, Shutdown};
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use tls::{Received, Session};

/// A record and what is around it: kept free in the slab, so that an unfinished one of the last read fits as
/// well.
const RECORD_BYTES: usize = 17 * 1024;
/// Answers to the peer encrypted at a time.
const SENT_BYTES: usize = 64 * 1024;

thread_local! {
    /// Received bytes of the connection whose turn it is: one buffer a worker, not one a connection.
    static RECEIVED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Sends what the session wants sent, as much as the kernel takes.
pub(super) fn flush(fd: &OwnedFd, session: &mut Session) -> io::Result<()> {
    while !session.outgoing().is_empty() {
        match rustix::net::send(fd, session.outgoing(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(n) => session.sent(n),
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The bytes of messages behind an encrypted connection.
pub(super) struct SecureInput {
    pub(super) fd: OwnedFd,
    pub(super) session: Session,
    /// The last read brought all it asked for: there may be more.
    pub(super) more: bool,
    /// The peer has ended the session.
    pub(super) ended: bool,
    /// What broke it, to be said after what came before it.
    pub(super) failed: Option<Fault>,
}

impl Input for SecureInput {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let early = self.session.take_early();
        if !early.is_empty() {
            into.extend_from_slice(&early);
            return Ok(early.len());
        }
        if let Some(error) = self.failed.take() {
            return Err(io::Error::other(error));
        }
        if self.ended {
            return Ok(0);
        }
        RECEIVED.with_borrow_mut(|received| self.receive(received, into, max))
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        flush(&self.fd, &mut self.session)?;
        if !self.session.outgoing().is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let piece = bytes.get(..SENT_BYTES).unwrap_or(bytes);
        if !piece.is_empty() {
            self.session.encrypt(piece).map_err(io::Error::other)?;
            flush(&self.fd, &mut self.session)?;
        }
        Ok(piece.len())
    }

    fn always_ready(&self) -> bool {
        // Decrypted, it is always less than what was asked for.
        self.more || self.ended || self.failed.is_some()
    }

    fn farewell(&mut self) {
        self.session.close();
        // Whoever takes nothing any more is cut off later.
        let _ = flush(&self.fd, &mut self.session);
    }

    fn shut(&mut self) {
        self.farewell();
        let _ = rustix::net::shutdown(&self.fd, Shutdown::Write);
    }

    fn deregister(&mut self, registry: &Registry) {
        self.farewell();
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }
}

impl SecureInput {
    fn receive(&mut self, received: &mut Vec<u8>, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let wanted = max.saturating_sub(RECORD_BYTES).max(RECORD_BYTES);
        let before = into.len();
        loop {
            self.session.begin(received);
            let read = read_spare(&self.fd, received, wanted);
            self.more = matches!(read, Ok(n) if n == wanted);
            // Also when nothing came: the unfinished record goes back to where it is kept.
            match self.session.decrypt(received, into) {
                Ok(outcome) => self.ended |= outcome == Received::Closed,
                Err(error) => self.failed = Some(error),
            }
            // Answers to what the peer changes while it sends, and the alert of a failure.
            let flushed = flush(&self.fd, &mut self.session);
            let got = into.len() - before;
            if got > 0 {
                return Ok(got);
            }
            if let Some(error) = self.failed.take() {
                return Err(io::Error::other(error));
            }
            if self.ended {
                return Ok(0);
            }
            if read? == 0 {
                let text = "the peer has gone without ending the TLS session";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
            }
            flushed?;
        }
    }
}
