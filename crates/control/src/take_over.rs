//! The words two processes speak when one takes the place of the other, over a connection to the control
//! socket: frames, each with a body and at most one descriptor. docs/restart.md says who says what when.

mod fields;

pub use fields::{Reader, Writer};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Of the words below. Both sides have to have the same.
pub const VERSION: u64 = 1;
/// Longest body: a piece of a destination's queue.
pub const BODY_BYTES_MAX: usize = 64 << 20;
/// `PSTO`, the kind, whether a descriptor comes with it, two zero bytes, the length of the body
/// (little-endian).
const HEADER_BYTES: usize = 12;
const MAGIC: &[u8; 4] = b"PSTO";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// From the old process: who it is.
    Hello = 1,
    /// From the new one: everything is prepared, stop and hand over.
    Stop = 2,
    Socket = 3,
    Connection = 4,
    Queue = 5,
    /// From the old one: that was all, and its files are closed.
    Released = 6,
    /// From the new one: everything is open and works.
    Ready = 7,
    /// From the old one: it will not go on.
    Done = 8,
    /// From either: why nothing comes of it.
    Failed = 9,
}

impl Kind {
    const ALL: [Kind; 9] = [
        Kind::Hello,
        Kind::Stop,
        Kind::Socket,
        Kind::Connection,
        Kind::Queue,
        Kind::Released,
        Kind::Ready,
        Kind::Done,
        Kind::Failed,
    ];
}

/// One word.
#[derive(Debug)]
pub struct Frame {
    pub kind: Kind,
    pub fd: Option<OwnedFd>,
    pub body: Vec<u8>,
}

fn header(kind: Kind, with_fd: bool, length: usize) -> io::Result<[u8; HEADER_BYTES]> {
    let length = u32::try_from(length).ok().filter(|n| *n as usize <= BODY_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "a frame that is too long"))?;
    let [a, b, c, d] = length.to_le_bytes();
    let [m, n, o, p] = *MAGIC;
    Ok([m, n, o, p, kind as u8, u8::from(with_fd), 0, 0, a, b, c, d])
}

/// Kind, whether a descriptor belongs to it, length of the body.
pub fn parse_header(header: &[u8; HEADER_BYTES]) -> Option<(Kind, bool, usize)> {
    let [m, n, o, p, kind, with_fd, 0, 0, a, b, c, d] = *header else { return None };
    if [m, n, o, p] != *MAGIC || with_fd > 1 {
        return None;
    }
    let kind = Kind::ALL.into_iter().find(|known| *known as u8 == kind)?;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    (length <= BODY_BYTES_MAX).then_some((kind, with_fd == 1, length))
}

/// Sends one word; blocks.
pub fn send(mut stream: &UnixStream, kind: Kind, fd: Option<BorrowedFd<'_>>, body: &[u8]) -> io::Result<()> {
    let header = header(kind, fd.is_some(), body.len())?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = fd.map(|fd| [fd]);
    if let Some(fds) = &fds {
        ancillary.push(SendAncillaryMessage::ScmRights(fds));
    }
    let sent = loop {
        let parts = [IoSlice::new(&header)];
        match rustix::net::sendmsg(stream, &parts, &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(n) => break n,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    stream.write_all(header.get(sent..).unwrap_or_default())?;
    stream.write_all(body)
}

/// Waits for the next word, as long as the stream's timeout says.
pub fn receive(mut stream: &UnixStream) -> io::Result<Frame> {
    let mut bytes = [0u8; HEADER_BYTES];
    let (mut got, mut fd) = (0, None);
    while got < HEADER_BYTES {
        let rest = bytes.get_mut(got..).unwrap_or_default();
        let n = receive_some(stream, rest, &mut fd)?;
        if n == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        got += n;
    }
    let strange = || io::Error::new(ErrorKind::InvalidData, "what came is no word of this protocol");
    let (kind, with_fd, length) = parse_header(&bytes).ok_or_else(strange)?;
    if with_fd != fd.is_some() {
        return Err(strange());
    }
    let mut body = Vec::new();
    (&mut stream).take(length as u64).read_to_end(&mut body)?;
    match body.len() == length {
        true => Ok(Frame { kind, fd, body }),
        false => Err(ErrorKind::UnexpectedEof.into()),
    }
}

/// One read, with the descriptor that comes with it. A second one is closed.
fn receive_some(stream: &UnixStream, into: &mut [u8], fd: &mut Option<OwnedFd>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let n = loop {
        let parts = &mut [IoSliceMut::new(into)];
        match rustix::net::recvmsg(stream.as_fd(), parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received.bytes,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            for one in fds {
                fd.get_or_insert(one);
            }
        }
    }
    Ok(n)
}

#[cfg(test)]
mod tests;
