//! One connection to a receiver, both ways: plain, or encrypted in large pieces.

use super::dialing::{Dialed, has_peer};
use super::single::SinkContext;
use super::target::Nudge;
use super::tunnel::Tunnel;
use engine::WorkerHandle;
use mio::unix::SourceFd;
use mio::{Interest, Token};
use rustix::buffer::spare_capacity;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, sendmsg};
use socket2::Socket;
use std::io::{self, ErrorKind, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;
use tls::{Received, Session};

/// Reads of one look at what a receiver says.
const READS_MAX: usize = 64;
/// Bytes of one read, unless there is room for more.
const READ_BYTES: usize = 16 * 1024;
/// Bytes encrypted at a time.
const PIECE_BYTES: usize = 128 * 1024;

/// Who hears what happens on a connection, and of a name that is found: an outlet, or a port.
#[derive(Clone)]
pub struct Owner {
    pub home: WorkerHandle,
    pub token: Token,
    pub nudge: Arc<Nudge>,
}

impl From<&SinkContext> for Owner {
    fn from(place: &SinkContext) -> Owner {
        let token = WorkerHandle::outlet_token(place.id);
        Owner { home: place.home.clone(), token, nudge: Arc::clone(&place.nudge) }
    }
}

pub struct Link {
    socket: Socket,
    home: WorkerHandle,
    session: Option<Box<Session>>,
    /// Until the proxy lets bytes through.
    tunnel: Option<Tunnel>,
    ended: bool,
}

impl Dialed for Link {
    fn new(socket: Socket, place: &SinkContext, session: Option<Session>) -> io::Result<Link> {
        Link::seated(socket, &Owner::from(place), session)
    }

    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn session(&self) -> Option<String> {
        self.session.as_ref().map(|session| session.described())
    }

    fn is_established(&mut self, _now: Instant) -> io::Result<bool> {
        if !has_peer(&self.socket)? {
            return Ok(false);
        }
        if let Some(tunnel) = &mut self.tunnel {
            if !tunnel.is_open(&self.socket)? {
                return Ok(false);
            }
            self.tunnel = None;
        }
        if self.session.is_none() {
            return Ok(true);
        }
        self.flush()?;
        let mut early = Vec::new();
        self.receive(&mut early)?;
        match &self.session {
            Some(_) if self.ended => Err(io::Error::other("the server hung up during the TLS handshake")),
            Some(session) => Ok(session.is_open() && session.outgoing().is_empty()),
            None => Ok(true),
        }
    }

    /// Unread input would make the kernel cut off what is still on its way.
    fn close(mut self) {
        if let Some(session) = &mut self.session {
            session.close();
            let _ = self.flush();
        }
        let _ = self.receive(&mut Vec::new());
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

impl Link {
    /// A connection attempt of whoever sits there.
    pub fn seated(socket: Socket, seat: &Owner, session: Option<Session>) -> io::Result<Link> {
        let both = Interest::READABLE | Interest::WRITABLE;
        seat.home.registry().register(&mut SourceFd(&socket.as_raw_fd()), seat.token, both)?;
        let session = session.map(Box::new);
        Ok(Link { socket, home: seat.home.clone(), session, tunnel: None, ended: false })
    }

    /// The socket leads to a proxy, and this way to the server.
    pub fn through(mut self, tunnel: Tunnel) -> Link {
        self.tunnel = Some(tunnel);
        self
    }

    /// Appends what the receiver has sent. `false` when it has ended the connection.
    pub fn receive(&mut self, into: &mut Vec<u8>) -> io::Result<bool> {
        if self.session.is_none() {
            self.receive_plain(into)?;
            return Ok(!self.ended);
        }
        let mut buffer = [0u8; READ_BYTES];
        for _ in 0..READS_MAX {
            let n = match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    self.ended = true;
                    break;
                }
                Ok((n, _)) => n,
                Err(rustix::io::Errno::INTR) => continue,
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            };
            let received = buffer.get(..n).unwrap_or_default();
            let Some(session) = &mut self.session else { break };
            match session.handshake(received) {
                Ok(outcome) => self.ended |= outcome == Received::Closed,
                Err(error) => {
                    let _ = self.flush();
                    return Err(io::Error::other(format!("TLS: {error}")));
                }
            }
        }
        if let Some(session) = &mut self.session
            && session.is_open()
        {
            into.append(&mut session.take_early());
        }
        self.flush()?;
        Ok(!self.ended)
    }

    /// Reads to where the bytes are to be: into the room that there is, or some more.
    fn receive_plain(&mut self, into: &mut Vec<u8>) -> io::Result<()> {
        let most = into.len() + READS_MAX * READ_BYTES;
        while into.len() < most {
            into.reserve(READ_BYTES);
            match rustix::net::recv(&self.socket, spare_capacity(into), RecvFlags::DONTWAIT) {
                Ok((0, _)) => {
                    self.ended = true;
                    break;
                }
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends what can be sent without waiting; returns how much of both parts was taken.
    pub fn send(&mut self, first: &[u8], second: &[u8]) -> io::Result<usize> {
        let Some(session) = &mut self.session else {
            let parts = [IoSlice::new(first), IoSlice::new(second)];
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            return match sendmsg(&self.socket, &parts, &mut SendAncillaryBuffer::default(), flags)? {
                0 if !first.is_empty() || !second.is_empty() => Err(ErrorKind::WriteZero.into()),
                n => Ok(n),
            };
        };
        if session.outgoing().is_empty() {
            for piece in first.chunks(PIECE_BYTES).chain(second.chunks(PIECE_BYTES)) {
                session.encrypt(piece).map_err(io::Error::other)?;
            }
            self.flush()?;
            // Encrypted, it cannot be taken back; whether it arrives is for the receiver to say.
            return Ok(first.len() + second.len());
        }
        self.flush()?;
        match self.is_clear() {
            true => self.send(first, second),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Nothing that was taken waits here.
    pub fn is_clear(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.outgoing().is_empty())
    }

    /// Sends what waits of an encrypted session.
    pub fn flush(&mut self) -> io::Result<()> {
        let Some(session) = &mut self.session else { return Ok(()) };
        while !session.outgoing().is_empty() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match rustix::net::send(&self.socket, session.outgoing(), flags) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => session.sent(n),
                Err(rustix::io::Errno::AGAIN) => return Ok(()),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Fails only when it was never registered.
        let _ = self.home.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
    }
}
