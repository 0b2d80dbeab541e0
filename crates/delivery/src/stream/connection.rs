//! One connection attempt or connection: a non-blocking socket in the readiness loop of its outlet's worker.

use super::secure::Secure;
use crate::dialing::{Dialed, has_peer};
use crate::finish::Peer;
use crate::single::SinkContext;
use engine::WorkerHandle;
use mio::Interest;
use mio::unix::SourceFd;
use rustix::net::{RecvFlags, SendFlags};
use socket2::{Domain, Socket};
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};
use tls::Session;

/// Reads of one look at what a peer sends: it is thrown away, so there is no hurry.
const READS_MAX: usize = 64;

pub struct Connection {
    socket: Socket,
    home: WorkerHandle,
    secure: Option<Box<Secure>>,
    /// What the peer's kernel has is known: over TCP.
    pub keeps: bool,
}

pub enum Input {
    Nothing,
    Data,
    End,
}

impl Dialed for Connection {
    fn new(socket: Socket, place: &SinkContext, session: Option<Session>) -> io::Result<Connection> {
        let token = WorkerHandle::outlet_token(place.id);
        place.home.registry().register(
            &mut SourceFd(&socket.as_raw_fd()),
            token,
            Interest::READABLE | Interest::WRITABLE,
        )?;
        let secure = session.map(|session| Box::new(Secure::new(session)));
        let keeps = socket.domain().is_ok_and(|domain| domain != Domain::UNIX);
        Ok(Connection { socket, home: place.home.clone(), secure, keeps })
    }

    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn is_established(&mut self, now: Instant) -> io::Result<bool> {
        match (has_peer(&self.socket)?, &mut self.secure) {
            (true, Some(secure)) => secure.is_established(&self.socket, now),
            (has_peer, _) => Ok(has_peer),
        }
    }

    fn settles_in(&self, now: Instant) -> Option<Duration> {
        self.secure.as_ref().and_then(|secure| secure.settles_in(now))
    }

    fn session(&self) -> Option<String> {
        self.secure.as_ref().map(|secure| secure.described())
    }

    /// Unread input would make the kernel cut off what is still on its way to the peer.
    fn close(mut self) {
        if let Some(secure) = &mut self.secure {
            secure.close(&self.socket);
        }
        let _ = self.input();
        let _ = self.socket.shutdown(Shutdown::Write);
    }
}

impl Connection {
    /// Bytes offered to [`Connection::send`] are under way and have to be offered again.
    pub fn holds(&self) -> bool {
        self.secure.as_ref().is_some_and(|secure| secure.holds())
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(secure) = &mut self.secure {
            return secure.send(&self.socket, bytes);
        }
        match rustix::net::send(&self.socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)? {
            0 => Err(ErrorKind::WriteZero.into()),
            n => Ok(n),
        }
    }

    /// The peer may lack so many of the last bytes of messages, and no more: its kernel has not acknowledged
    /// them, or they stand in an encrypted record of which it has the beginning only, and which nobody can
    /// read.
    pub fn unacknowledged(&self) -> usize {
        let left = transport::unacknowledged(&self.socket).unwrap_or(usize::MAX);
        match &self.secure {
            Some(_) if left > 0 => left.saturating_add(tls::RECORD_BYTES),
            _ => left,
        }
    }

    /// Ends it at once: what the kernel has not sent yet is not sent any more.
    pub fn abort(self) {
        // Where that fails, some messages may come twice.
        let _ = self.socket.set_linger(Some(Duration::ZERO));
    }

    /// Reads what the peer sent and forgets it.
    pub fn input(&mut self) -> io::Result<Input> {
        if let Some(secure) = &mut self.secure {
            return Ok(match secure.input(&self.socket)? {
                (_, true) => Input::End,
                (true, _) => Input::Data,
                _ => Input::Nothing,
            });
        }
        let mut buffer = [0u8; 4096];
        let mut input = Input::Nothing;
        for _ in 0..READS_MAX {
            match rustix::net::recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Ok(Input::End),
                Ok(_) => input = Input::Data,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(input)
    }
}

impl Peer for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.send(bytes)
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.as_fd())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Fails only when it was never registered.
        let _ = self.home.registry().deregister(&mut SourceFd(&self.socket.as_raw_fd()));
    }
}
