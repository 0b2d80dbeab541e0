//! Many datagrams in one system call: recvmmsg() and sendmmsg(), with the kernel's count of what it dropped.
#![allow(unsafe_code)]

use socket2::SockAddr;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Room for the control messages we ask for: the drop counter and credentials.
const CONTROL_BYTES: usize = 128;

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

/// Process that sent a datagram over a unix socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Credentials {
    pub pid: i32,
    pub uid: u32,
    pub gid: u32,
}

/// One received datagram, valid until the next call.
pub struct Datagram<'a> {
    pub bytes: &'a [u8],
    /// `None` on unix sockets.
    pub sender: Option<SocketAddr>,
    /// It was longer than its slot.
    pub truncated: bool,
    /// Datagrams the kernel dropped on this socket since it was made (wraps).
    pub dropped: Option<u32>,
    pub credentials: Option<Credentials>,
}

/// Buffers for receiving up to `count` datagrams at once.
///
/// The pointers in `headers` point into the other boxed slices, which are never resized or replaced.
pub struct Receiver {
    slots: Box<[u8]>,
    slot_bytes: usize,
    names: Box<[libc::sockaddr_storage]>,
    controls: Box<[Control]>,
    _vectors: Box<[libc::iovec]>,
    headers: Box<[libc::mmsghdr]>,
}

// SAFETY: the raw pointers lead to memory this value owns, and are only followed under `&mut self`.
unsafe impl Send for Receiver {}

impl Receiver {
    pub fn new(count: usize, slot_bytes: usize) -> Receiver {
        let mut slots = vec![0; count * slot_bytes].into_boxed_slice();
        // SAFETY: all-zero is a valid value of these plain C structures.
        let mut names = vec![unsafe { zeroed::<libc::sockaddr_storage>() }; count].into_boxed_slice();
        let mut controls = vec![Control([0; CONTROL_BYTES]); count].into_boxed_slice();
        let mut vectors: Box<[libc::iovec]> = slots
            .chunks_exact_mut(slot_bytes)
            .map(|slot| libc::iovec { iov_base: slot.as_mut_ptr().cast(), iov_len: slot_bytes })
            .collect();
        let headers = (0..count)
            .map(|at| {
                // SAFETY: as above.
                let mut header = unsafe { zeroed::<libc::mmsghdr>() };
                header.msg_hdr.msg_name = (&raw mut names[at]).cast();
                header.msg_hdr.msg_iov = &raw mut vectors[at];
                header.msg_hdr.msg_iovlen = 1;
                header.msg_hdr.msg_control = (&raw mut controls[at]).cast();
                header
            })
            .collect();
        Receiver { slots, slot_bytes, names, controls, _vectors: vectors, headers }
    }

    /// Takes what is there; `WouldBlock` when nothing is.
    pub fn receive(&mut self, fd: BorrowedFd<'_>) -> io::Result<usize> {
        for header in &mut self.headers {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_hdr.msg_controllen = CONTROL_BYTES as _;
            header.msg_hdr.msg_flags = 0;
        }
        // SAFETY: every header points at live buffers of the lengths it names (see the type's invariant).
        let received = unsafe {
            libc::recvmmsg(
                fd.as_raw_fd(),
                self.headers.as_mut_ptr(),
                self.headers.len() as _,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        if received < 0 { Err(io::Error::last_os_error()) } else { Ok(received as usize) }
    }

    /// Number `at` of the datagrams the last [`Receiver::receive`] took.
    pub fn datagram(&self, at: usize) -> Option<Datagram<'_>> {
        let header = self.headers.get(at)?;
        let slot = self.slots.chunks_exact(self.slot_bytes).nth(at)?;
        let mut datagram = Datagram {
            bytes: slot.get(..header.msg_len as usize).unwrap_or(slot),
            sender: self.sender(at),
            truncated: header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            dropped: None,
            credentials: None,
        };
        let used = header.msg_hdr.msg_controllen.min(CONTROL_BYTES);
        self.controls(at, used, &mut datagram);
        Some(datagram)
    }

    fn sender(&self, at: usize) -> Option<SocketAddr> {
        let (name, length) = (self.names.get(at)?, self.headers.get(at)?.msg_hdr.msg_namelen);
        if length == 0 {
            return None;
        }
        // SAFETY: the kernel wrote `length` bytes of an address into `name`; socket2's storage is the same C
        // type.
        let address = unsafe {
            let mut storage = socket2::SockAddrStorage::zeroed();
            *storage.view_as::<libc::sockaddr_storage>() = *name;
            SockAddr::new(storage, length)
        };
        address.as_socket()
    }

    /// Walks the control messages: `cmsghdr`, data, padding to eight bytes.
    fn controls(&self, at: usize, used: usize, datagram: &mut Datagram<'_>) {
        const HEADER: usize = size_of::<libc::cmsghdr>();
        let Some(mut rest) = self.controls.get(at).and_then(|c| c.0.get(..used)) else { return };
        let number = |bytes: &[u8], at: usize| -> Option<u32> {
            bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_ne_bytes)
        };
        while rest.len() >= HEADER {
            let length = rest[..8].try_into().map_or(0, usize::from_ne_bytes);
            let (Some(level), Some(kind)) = (number(rest, 8), number(rest, 12)) else { return };
            if length < HEADER || length > rest.len() {
                return;
            }
            let data = &rest[HEADER..length];
            if level == libc::SOL_SOCKET as u32 && kind == libc::SO_RXQ_OVFL as u32 {
                datagram.dropped = number(data, 0);
            } else if level == libc::SOL_SOCKET as u32
                && kind == libc::SCM_CREDENTIALS as u32
                && let (Some(pid), Some(uid), Some(gid)) = (number(data, 0), number(data, 4), number(data, 8))
            {
                datagram.credentials = Some(Credentials { pid: pid as i32, uid, gid });
            }
            rest = rest.get(length.next_multiple_of(8)..).unwrap_or_default();
        }
    }
}

/// Datagrams sent with one call at most.
pub const SEND_MAX: usize = 64;

/// Sends messages on a connected socket, one datagram each; says how many went out. An error concerns the
/// first message.
pub fn send_many<'a>(fd: BorrowedFd<'_>, messages: impl Iterator<Item = &'a [u8]>) -> io::Result<usize> {
    let mut vectors = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; SEND_MAX];
    // SAFETY: all-zero is a valid value of this plain C structure.
    let mut headers = [unsafe { zeroed::<libc::mmsghdr>() }; SEND_MAX];
    let mut count = 0;
    for (message, vector) in messages.zip(&mut vectors) {
        *vector = libc::iovec { iov_base: message.as_ptr().cast_mut().cast(), iov_len: message.len() };
        count += 1;
    }
    for (header, vector) in headers.iter_mut().zip(&mut vectors).take(count) {
        header.msg_hdr.msg_iov = vector;
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: the first `count` headers point at vectors of this frame, those at the callers' messages, which
    // the kernel only reads.
    let sent = unsafe {
        libc::sendmmsg(
            fd.as_raw_fd(),
            headers.as_mut_ptr(),
            count as _,
            (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
        )
    };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(sent as usize) }
}

/// Asks the kernel to say with each datagram how many it dropped.
pub fn count_drops(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
    nix::sys::socket::setsockopt(&socket.as_fd(), nix::sys::socket::sockopt::RxqOvfl, &1)
        .map_err(io::Error::from)
}

/// How many datagrams the kernel dropped on a socket since it was made (wraps); `None` when it does not say.
pub fn drops(socket: &impl std::os::fd::AsFd) -> Option<u32> {
    /// `SK_MEMINFO_DROPS` and the number of values, of linux/sock_diag.h.
    const DROPS: usize = 8;
    const VALUES: usize = 9;
    let mut values = [0u32; VALUES];
    let mut length = size_of::<[u32; VALUES]>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `values`, which has that many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            values.as_mut_ptr().cast(),
            &mut length,
        )
    };
    let known = length as usize / size_of::<u32>();
    (result == 0 && known > DROPS).then(|| values[DROPS])
}

/// Asks the kernel for the sender's process with each datagram of a unix socket.
pub fn pass_credentials(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
    nix::sys::socket::setsockopt(&socket.as_fd(), nix::sys::socket::sockopt::PassCred, &true)
        .map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn udp_round_trip_with_senders() {
        let to = UdpSocket::bind("127.0.0.1:0").expect("bind");
        let from = UdpSocket::bind("127.0.0.1:0").expect("bind");
        from.connect(to.local_addr().expect("address")).expect("connect");
        count_drops(&to).expect("option");
        let messages: [&[u8]; 3] = [b"one", b"", b"three-is-longer"];
        assert_eq!(send_many(from.as_fd(), messages.into_iter()).expect("send"), 3);
        let mut receiver = Receiver::new(8, 8);
        let mut got = Vec::new();
        while got.len() < 3 {
            let Ok(n) = receiver.receive(to.as_fd()) else { continue };
            for d in (0..n).filter_map(|at| receiver.datagram(at)) {
                got.push((d.bytes.to_vec(), d.truncated, d.sender == from.local_addr().ok()));
            }
        }
        assert_eq!(
            got,
            [(b"one".to_vec(), false, true), (vec![], false, true), (b"three-is".to_vec(), true, true)]
        );
    }

    #[test]
    fn the_kernel_says_what_it_dropped() {
        let to = UdpSocket::bind("127.0.0.1:0").expect("bind");
        let from = UdpSocket::bind("127.0.0.1:0").expect("bind");
        from.connect(to.local_addr().expect("address")).expect("connect");
        assert_eq!(drops(&to), Some(0));
        socket2::SockRef::from(&to).set_recv_buffer_size(4096).expect("option");
        for _ in 0..1000 {
            from.send(&[0; 1000]).expect("send");
        }
        assert!(drops(&to).expect("known") > 900);
    }

    #[test]
    fn unix_credentials() {
        let (a, b) = UnixDatagram::pair().expect("pair");
        pass_credentials(&b).expect("option");
        a.send(b"x").expect("send");
        let mut receiver = Receiver::new(2, 16);
        assert_eq!(receiver.receive(b.as_fd()).expect("receive"), 1);
        let datagram = receiver.datagram(0).expect("one");
        assert_eq!(datagram.credentials.map(|c| c.pid), Some(std::process::id() as i32));
        assert!(datagram.sender.is_none());
    }
}
