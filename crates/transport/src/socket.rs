//! Makes the sockets: listeners, datagram sockets and outgoing connections, all non-blocking.

use crate::inherited;
use crate::options::SocketOptions;
use crate::unix_path;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

fn socket(address: &SocketAddr, kind: Type, options: &SocketOptions) -> io::Result<Socket> {
    let protocol = if kind == Type::STREAM { Protocol::TCP } else { Protocol::UDP };
    let socket = Socket::new(Domain::for_address(*address), kind, Some(protocol))?;
    socket.set_nonblocking(true)?;
    options.apply(&socket, address.is_ipv6())?;
    Ok(socket)
}

/// A TCP listener. `::` accepts IPv4 too, as mapped addresses.
pub fn listen_tcp(
    address: SocketAddr,
    options: &SocketOptions,
    backlog: i32,
) -> io::Result<std::net::TcpListener> {
    if let Some(socket) = inherited::take_inet(Type::STREAM, address, options)? {
        socket.listen(backlog)?;
        return Ok(socket.into());
    }
    let socket = socket(&address, Type::STREAM, options)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    options.apply_bound(&socket)?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

/// A UDP socket to receive on. A multicast group is joined, on `interface()` when that is given.
pub fn bind_udp(address: SocketAddr, options: &SocketOptions) -> io::Result<std::net::UdpSocket> {
    if let Some(socket) = inherited::take_inet(Type::DGRAM, address, options)? {
        return match join(&socket, address.ip(), options) {
            // It was joined before.
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(socket.into()),
            outcome => outcome.map(|()| socket.into()),
        };
    }
    let socket = socket(&address, Type::DGRAM, options)?;
    // Elsewhere it would let two programs have one port, and the kernel give everything to the later one.
    socket.set_reuse_address(address.ip().is_multicast())?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    options.apply_bound(&socket)?;
    join(&socket, address.ip(), options)?;
    Ok(socket.into())
}

/// Whether an address could be listened at but for its port: it is this machine's, and the options can be
/// set. For that, a socket gets the address and a port that is free, and is closed.
pub fn try_address(mut address: SocketAddr, udp: bool, options: &SocketOptions) -> io::Result<()> {
    address.set_port(0);
    let socket = socket(&address, if udp { Type::DGRAM } else { Type::STREAM }, options)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    if udp { join(&socket, address.ip(), options) } else { Ok(()) }
}

fn join(socket: &Socket, group: IpAddr, options: &SocketOptions) -> io::Result<()> {
    if !group.is_multicast() {
        return Ok(());
    }
    // 0 lets the routing table choose.
    let index = match &options.interface {
        Some(name) => nix::net::if_::if_nametoindex(name.as_str()).map_err(io::Error::from)?,
        None => 0,
    };
    match group {
        IpAddr::V4(group) => socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(index)),
        IpAddr::V6(group) => socket.join_multicast_v6(&group, index),
    }
}

/// Begins a TCP connection; it is established when the socket becomes writable and has no error.
pub fn connect_tcp(
    target: SocketAddr,
    from: Option<SocketAddr>,
    options: &SocketOptions,
) -> io::Result<std::net::TcpStream> {
    let socket = socket(&target, Type::STREAM, options)?;
    options.apply_keepalive(&socket2::SockRef::from(&socket))?;
    if let Some(from) = from {
        socket.set_reuse_address(true)?;
        socket.bind(&from.into())?;
    }
    match socket.connect(&target.into()) {
        Err(e) if e.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => {
            Err(sandbox::connection_explained(e, target.port()))
        }
        _ => Ok(socket.into()),
    }
}

/// Datagrams to a group live as long as ip-ttl() says: multicast has an option of its own for it. They leave
/// through interface(), to which the socket is bound.
pub(crate) fn prepare_multicast(socket: &Socket, target: IpAddr, options: &SocketOptions) -> io::Result<()> {
    if !target.is_multicast() {
        return Ok(());
    }
    if let Some(ttl) = options.ip_ttl {
        if target.is_ipv6() {
            socket.set_multicast_hops_v6(ttl)?
        } else {
            socket.set_multicast_ttl_v4(ttl)?
        }
    }
    Ok(())
}

/// A UDP socket that sends to one address.
pub fn connect_udp(
    target: SocketAddr,
    from: Option<SocketAddr>,
    options: &SocketOptions,
) -> io::Result<std::net::UdpSocket> {
    let socket = socket(&target, Type::DGRAM, options)?;
    if let Some(from) = from {
        socket.set_reuse_address(true)?;
        socket.bind(&from.into())?;
    }
    prepare_multicast(&socket, target.ip(), options)?;
    socket.connect(&target.into()).map_err(|error| match error.kind() {
        // The kernel says no more than "permission denied".
        io::ErrorKind::PermissionDenied if !options.so_broadcast && target.is_ipv4() => io::Error::new(
            error.kind(),
            format!("{error}; if this is a broadcast address, add so-broadcast(yes)"),
        ),
        _ => error,
    })?;
    Ok(socket.into())
}

/// Looks a target up; blocks, so never on a worker. Addresses of the wanted family only.
pub fn resolve_target(host: &str, port: u16, ipv6: bool) -> io::Result<Vec<SocketAddr>> {
    let found: Vec<SocketAddr> = (host, port).to_socket_addrs()?.filter(|a| a.is_ipv6() == ipv6).collect();
    match found.is_empty() {
        true => Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("{host} has no IPv{} address", if ipv6 { 6 } else { 4 }),
        )),
        false => Ok(found),
    }
}

/// Removes a socket nobody listens on any more. Anything else at the path stays and is an error.
fn clear_stale(path: &Path, kind: Type) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_socket() => {
            let probe = Socket::new(Domain::UNIX, kind, None)?;
            probe.set_nonblocking(true)?;
            match unix_path::connect(&probe, path) {
                Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
                // The socket file of another name of this one was removed meanwhile.
                Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(e),
                // Connected, a full backlog, or a socket of another type: somebody is there.
                _ => Err(io::Error::new(io::ErrorKind::AddrInUse, "another program listens on this socket")),
            }
        }
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "something other than a socket is at this path"))
        }
        Err(_) => Ok(()),
    }
}

fn unix_socket(path: &Path, kind: Type, options: &SocketOptions, mode: Option<u32>) -> io::Result<Socket> {
    if let Some(socket) = inherited::take_unix(kind, path, options)? {
        return Ok(socket);
    }
    clear_stale(path, kind)?;
    let socket = Socket::new(Domain::UNIX, kind, None)?;
    socket.set_nonblocking(true)?;
    options.apply(&socket, false)?;
    unix_path::bind(&socket, path, mode)?;
    Ok(socket)
}

/// `mode`: the permissions with which the file is born; `None` leaves it to the umask.
pub fn listen_unix(
    path: &Path,
    options: &SocketOptions,
    mode: Option<u32>,
    backlog: i32,
) -> io::Result<std::os::unix::net::UnixListener> {
    let socket = unix_socket(path, Type::STREAM, options, mode)?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

/// `mode`: as with [`listen_unix`]; what is sent before the file has its permissions would count as any
/// other.
pub fn bind_unix_datagram(
    path: &Path,
    options: &SocketOptions,
    mode: Option<u32>,
) -> io::Result<std::os::unix::net::UnixDatagram> {
    Ok(unix_socket(path, Type::DGRAM, options, mode)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_never_more_open_than_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("folder");
        let options = SocketOptions::default();
        let born = |name: &str| {
            let mode = dir.path().join(name).metadata().expect("a file").permissions().mode();
            mode & 0o777
        };
        let _stream = listen_unix(&dir.path().join("stream"), &options, Some(0o600), 5).expect("bind");
        let _datagram =
            bind_unix_datagram(&dir.path().join("datagram"), &options, Some(0o200)).expect("bind");
        assert_eq!((born("stream"), born("datagram")), (0o600, 0o200));
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_living_one_is_not() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("s");
        let options = SocketOptions::default();
        let first = bind_unix_datagram(&path, &options, None).expect("bind");
        let kind = |r: io::Result<()>| r.map_err(|e| e.kind());
        assert_eq!(kind(bind_unix_datagram(&path, &options, None).map(drop)), Err(io::ErrorKind::AddrInUse));
        assert_eq!(kind(listen_unix(&path, &options, None, 5).map(drop)), Err(io::ErrorKind::AddrInUse));
        drop(first);
        let listener = listen_unix(&path, &options, None, 5).expect("the file was left behind");
        assert_eq!(kind(listen_unix(&path, &options, None, 5).map(drop)), Err(io::ErrorKind::AddrInUse));
        drop(listener);
        std::fs::remove_file(&path).expect("remove");
        std::fs::write(&path, "text").expect("write");
        assert_eq!(kind(listen_unix(&path, &options, None, 5).map(drop)), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(std::fs::read_to_string(&path).expect("untouched"), "text");
    }

    #[test]
    fn a_udp_port_has_one_owner() {
        let any: SocketAddr = "127.0.0.1:0".parse().expect("address");
        let options = SocketOptions::default();
        let first = bind_udp(any, &options).expect("bind");
        let taken = first.local_addr().expect("address");
        assert_eq!(bind_udp(taken, &options).map(drop).map_err(|e| e.kind()), Err(io::ErrorKind::AddrInUse));
        let shared = SocketOptions { so_reuseport: true, ..SocketOptions::default() };
        let first = bind_udp(any, &shared).expect("bind");
        bind_udp(first.local_addr().expect("address"), &shared).expect("so-reuseport() shares");
    }

    #[test]
    fn what_is_sent_has_the_ttl_and_tos_asked_for() {
        let options = SocketOptions { ip_ttl: Some(7), ip_tos: Some(16), ..SocketOptions::default() };
        let to = |target: &str, options: &SocketOptions| {
            Socket::from(connect_udp(target.parse().expect("address"), None, options).expect("connect"))
        };
        let socket = to("127.0.0.1:9", &options);
        assert_eq!((socket.ttl_v4().expect("ttl"), socket.tos_v4().expect("tos")), (7, 16));
        let group = SocketOptions { interface: Some("lo".to_owned()), ..options };
        assert_eq!(to("239.1.2.3:9", &group).multicast_ttl_v4().expect("ttl"), 7);
        let plain = SocketOptions { ip_ttl: None, ..group };
        assert_eq!(to("239.1.2.3:9", &plain).multicast_ttl_v4().expect("ttl"), 1);
    }

    #[test]
    fn a_broadcast_address_needs_its_option() {
        let target: SocketAddr = "127.255.255.255:9".parse().expect("address");
        let error = connect_udp(target, None, &SocketOptions::default()).expect_err("not allowed");
        assert!(error.to_string().contains("so-broadcast(yes)"), "{error}");
        let options = SocketOptions { so_broadcast: true, ..SocketOptions::default() };
        connect_udp(target, None, &options).expect("allowed");
    }
}
