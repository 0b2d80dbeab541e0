//! Sockets that were open before this process: from the service manager (LISTEN_FDS), or from the process
//! whose place this one takes. Whoever opens a socket at the address of one of them gets that one.

use crate::options::SocketOptions;
use crate::unix_path;
use parking_lot::Mutex;
use socket2::{SockAddr, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A socket that waits for whoever opens its address.
pub struct Inherited {
    pub fd: OwnedFd,
    /// The service manager's: it made the socket's file, which stays.
    pub managed: bool,
}

#[derive(Default)]
struct Pool {
    offered: Vec<(Socket, bool)>,
    /// Socket files of the service manager's that are in use.
    managed: Vec<PathBuf>,
    /// Those of the process that still may go on itself.
    borrowed: Vec<PathBuf>,
}

static POOL: Mutex<Pool> =
    Mutex::new(Pool { offered: Vec::new(), managed: Vec::new(), borrowed: Vec::new() });

/// Offers sockets, in the order in which sockets of one address are to be taken.
pub fn offer(sockets: Vec<Inherited>) {
    let sockets = sockets.into_iter().map(|one| (Socket::from(one.fd), one.managed));
    POOL.lock().offered.extend(sockets);
}

/// Closes what nobody has taken. Their addresses, for a message.
pub fn withdraw() -> Vec<String> {
    std::mem::take(&mut POOL.lock().offered).iter().map(|(socket, _)| name(socket)).collect()
}

/// Whether the file of a unix socket belongs to the service manager.
pub fn is_managed(path: &Path) -> bool {
    POOL.lock().managed.iter().any(|managed| managed == path)
}

/// Whether it is ours to remove a socket's file.
pub fn may_remove(path: &Path) -> bool {
    let pool = POOL.lock();
    !pool.managed.iter().chain(&pool.borrowed).any(|known| known == path)
}

/// The process before this one is not going on: what was taken is ours.
pub fn own() {
    POOL.lock().borrowed.clear();
}

/// The same of a socket that was taken.
pub fn is_managed_socket(fd: &impl std::os::fd::AsFd) -> bool {
    let address = socket2::SockRef::from(fd).local_addr();
    address.is_ok_and(|address| address.as_pathname().is_some_and(is_managed))
}

/// The address of a socket, as configurations write it.
fn name(socket: &Socket) -> String {
    let Ok(address) = socket.local_addr() else { return "unknown".to_owned() };
    let kind = match socket.r#type() {
        Ok(Type::DGRAM) => "dgram",
        _ => "stream",
    };
    match (address.as_socket(), address.as_pathname()) {
        (Some(inet), _) => format!("{kind} {inet}"),
        (_, Some(path)) => format!("{kind} {}", path.display()),
        _ => format!("{kind} without a name"),
    }
}

fn take(kind: Type, fits: impl Fn(&SockAddr) -> bool) -> Option<(Socket, bool)> {
    let mut pool = POOL.lock();
    let at = pool.offered.iter().position(|(socket, _)| {
        let listens = kind != Type::STREAM || socket.is_listener().unwrap_or(false);
        let same = socket.r#type().is_ok_and(|found| found == kind);
        same && listens && socket.local_addr().is_ok_and(|address| fits(&address))
    })?;
    // Keeps the order of those that stay.
    Some(pool.offered.remove(at))
}

/// The socket at an internet address, ready to be used as if it had been opened here.
pub(crate) fn take_inet(
    kind: Type,
    address: SocketAddr,
    options: &SocketOptions,
) -> io::Result<Option<Socket>> {
    let Some((socket, _)) = take(kind, |found| found.as_socket() == Some(address)) else { return Ok(None) };
    socket.set_nonblocking(true)?;
    socket.set_cloexec(true)?;
    options.apply(&socket, address.is_ipv6())?;
    options.apply_bound(&socket)?;
    Ok(Some(socket))
}

/// The same of a unix socket.
pub(crate) fn take_unix(kind: Type, path: &Path, options: &SocketOptions) -> io::Result<Option<Socket>> {
    let found =
        take(kind, |found| found.as_pathname().is_some_and(|found| unix_path::is_address_of(found, path)));
    let Some((socket, managed)) = found else { return Ok(None) };
    socket.set_nonblocking(true)?;
    socket.set_cloexec(true)?;
    options.apply(&socket, false)?;
    let mut pool = POOL.lock();
    let known = if managed { &mut pool.managed } else { &mut pool.borrowed };
    if !known.iter().any(|known| known == path) {
        known.push(path.to_owned());
    }
    Ok(Some(socket))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bind_udp, bind_unix_datagram, listen_tcp, listen_unix};
    use std::io::{Read, Write};

    fn inherited(fd: impl Into<OwnedFd>, managed: bool) -> Inherited {
        Inherited { fd: fd.into(), managed }
    }

    /// One test, because the pool is one for the process.
    #[test]
    fn what_was_open_is_taken_by_address_and_kind() {
        let options = SocketOptions::default();
        let any: SocketAddr = "127.0.0.1:0".parse().expect("address");
        let listener = listen_tcp(any, &options, 5).expect("listen");
        let udp = bind_udp(any, &options).expect("bind");
        let (tcp_at, udp_at) = (listener.local_addr().expect("at"), udp.local_addr().expect("at"));
        let mut client = std::net::TcpStream::connect(tcp_at).expect("connect");
        client.write_all(b"early").expect("write");
        let sender = std::net::UdpSocket::bind(any).expect("bind");
        sender.send_to(b"datagram", udp_at).expect("send");
        let dir = tempfile::tempdir().expect("folder");
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let (ours, theirs) = (listen_unix(&a, &options, None, 5), bind_unix_datagram(&b, &options, None));
        offer(vec![
            inherited(listener, false),
            inherited(udp, false),
            inherited(ours.expect("listen"), false),
            inherited(theirs.expect("bind"), true),
        ]);
        assert!(bind_udp(any, &options).is_ok(), "another address is opened");
        let listener = listen_tcp(tcp_at, &options, 5).expect("taken");
        let mut text = [0; 5];
        listener.accept().expect("who connected before").0.read_exact(&mut text).expect("read");
        assert_eq!(&text, b"early");
        let udp = bind_udp(udp_at, &options).expect("taken");
        let mut text = [0; 8];
        udp.recv(&mut text).expect("what was sent before");
        assert_eq!(&text, b"datagram");
        assert!(listen_unix(&b, &options, None, 5).is_err(), "it is of another kind");
        let _theirs = bind_unix_datagram(&b, &options, None).expect("taken");
        assert!(is_managed(&b) && !is_managed(&a));
        let ours = listen_unix(&a, &options, None, 5).expect("taken");
        assert!(!may_remove(&b) && !may_remove(&a), "the other process may still go on");
        own();
        assert!(!may_remove(&b) && may_remove(&a));
        offer(vec![inherited(ours, false)]);
        let left = withdraw();
        assert_eq!(left, [format!("stream {}", a.display())]);
        let kind = listen_tcp(tcp_at, &options, 5).map(drop).map_err(|e| e.kind());
        assert_eq!(kind, Err(io::ErrorKind::AddrInUse), "it is taken once");
    }
}
