//! The receive buffer of sockets: as large as asked for, or as the system allows, and what to say when that
//! is not enough.

use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use socket2::Socket;
use std::io;
use std::os::fd::AsFd;

/// Receive buffer of UDP sockets when so-rcvbuf() is not given: more than a tenth of a second of 300,000
/// datagrams of 1,000 bytes a second, the kernel's bookkeeping included.
pub const UDP_RECEIVE_BYTES: usize = 64 * 1024 * 1024;

/// so-rcvbuf(): beyond the system's limit where we may (CAP_NET_ADMIN), up to it otherwise.
pub(crate) fn set(socket: &Socket, bytes: usize) -> io::Result<()> {
    if setsockopt(socket, sockopt::RcvBufForce, &bytes).is_ok() {
        return Ok(());
    }
    // Without the privilege the kernel gives as much as net.core.rmem_max says, and takes that for success.
    socket.set_recv_buffer_size(bytes)?;
    let granted = granted(socket);
    if granted < bytes {
        oplog::warning(
            "The kernel granted a smaller receive buffer than so-rcvbuf() asks for; raise the system's limit",
            &[("asked", &bytes), ("granted", &granted), ("raise", &limit(bytes))],
        );
    }
    Ok(())
}

/// Makes the receive buffer of a UDP socket as large as the system allows, up to [`UDP_RECEIVE_BYTES`], and
/// notes when it refuses.
pub fn raise(socket: &impl AsFd) {
    let fd = socket.as_fd();
    if setsockopt(&fd, sockopt::RcvBufForce, &UDP_RECEIVE_BYTES).is_ok() {
        return;
    }
    let _ = setsockopt(&fd, sockopt::RcvBuf, &UDP_RECEIVE_BYTES);
    let granted = granted(socket);
    if granted < UDP_RECEIVE_BYTES {
        oplog::limited(
            "receive-buffer",
            oplog::Level::Notice,
            "The system allows only a small receive buffer for UDP; of large bursts some will be lost",
            &[("granted", &granted), ("raise", &limit(UDP_RECEIVE_BYTES))],
        );
    }
}

/// Bytes of the receive buffer as so-rcvbuf() counts them; 0 when the kernel does not say.
pub fn granted(socket: &impl AsFd) -> usize {
    // The kernel reports twice what was asked for: its own bookkeeping has a place in it.
    getsockopt(&socket.as_fd(), sockopt::RcvBuf).unwrap_or(0) / 2
}

/// How to raise the system's limit to so many bytes.
pub fn limit(bytes: usize) -> String {
    format!("sysctl -w net.core.rmem_max={bytes}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn the_buffer_is_as_large_as_the_system_allows() {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("bind");
        let before = granted(&socket);
        raise(&socket);
        let system: usize = std::fs::read_to_string("/proc/sys/net/core/rmem_max")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0);
        let after = granted(&socket);
        assert!(
            before > 0 && after >= before.max(system.min(UDP_RECEIVE_BYTES)),
            "{before} {after} {system}"
        );
        set(&socket2::Socket::from(socket.try_clone().expect("socket")), 8192).expect("option");
        assert_eq!(granted(&socket), 8192);
    }
}
