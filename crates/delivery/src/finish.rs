//! The last bytes to a peer before its queue goes elsewhere: the rest of the message it has the beginning of,
//! and no more.

use engine::{Chunk, Whole};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::time::Instant;

/// What takes bytes without blocking.
pub trait Peer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// `None` when it is closed.
    fn fd(&self) -> Option<BorrowedFd<'_>>;
}

/// Writes what is missing of the message in the front of `chunk`, waiting for the peer until then at most.
/// `wrote` hears of the bytes of each write, and of the messages that are whole by that.
pub fn finish(
    peer: &mut impl Peer,
    chunk: &mut Chunk,
    mut wrote: impl FnMut(usize, Whole),
    until: Instant,
) -> io::Result<()> {
    while !chunk.rest().is_empty() {
        match peer.write(chunk.rest()) {
            Ok(n) => wrote(n, chunk.advance(n)),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => wait(peer, until)?,
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn wait(peer: &impl Peer, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    let fd = peer.fd().ok_or(ErrorKind::NotConnected)?;
    let timeout = Timespec::try_from(left).map_err(|_| ErrorKind::InvalidInput)?;
    if left.is_zero() || poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&timeout))? == 0 {
        return Err(ErrorKind::TimedOut.into());
    }
    Ok(())
}
