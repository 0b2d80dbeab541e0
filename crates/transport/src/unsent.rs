//! What a TCP peer has not acknowledged: bytes that wait in the kernel of this machine, sent or not.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Bytes written to a TCP socket that the peer's kernel has not acknowledged (SIOCOUTQ, see tcp(7)); also of
/// a connection that broke.
pub fn unacknowledged(socket: &impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open as long as it is borrowed, and the kernel writes one int to where the
    // pointer shows.
    let result = unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    match result {
        0 => Ok(usize::try_from(bytes).unwrap_or_default()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_a_peer_has_is_not_counted_and_what_it_cannot_take_is() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let mut stream = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
        let mut peer = listener.accept().expect("accept").0;
        stream.write_all(b"abc").expect("write");
        peer.read_exact(&mut [0; 3]).expect("read");
        while unacknowledged(&stream).expect("ioctl") > 0 {
            std::thread::yield_now();
        }
        stream.set_nonblocking(true).expect("option");
        let mut sent = 0;
        while let Ok(n) = stream.write(&[b'x'; 65536]) {
            sent += n;
        }
        let left = unacknowledged(&stream).expect("ioctl");
        assert!(left > 0 && left <= sent, "{left} of {sent}");
        // Unread input makes this a reset; what was not acknowledged is known all the same.
        drop(peer);
        while !stream.write(b"y").is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
            std::thread::yield_now();
        }
        assert!(unacknowledged(&stream).expect("ioctl") > 0);
    }
}
