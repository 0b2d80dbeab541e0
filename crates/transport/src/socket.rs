//! Makes the sockets: listeners, datagram sockets and outgoing connections, all non-blocking.

use crate::options::SocketOptions;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
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
pub fn listen_tcp(address: SocketAddr, options: &SocketOptions, backlog: i32) -> io::Result<std::net::TcpListener> {
    let socket = socket(&address, Type::STREAM, options)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

/// A UDP socket to receive on. A multicast group is joined.
pub fn bind_udp(address: SocketAddr, options: &SocketOptions) -> io::Result<std::net::UdpSocket> {
    let socket = socket(&address, Type::DGRAM, options)?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    match address.ip() {
        IpAddr::V4(group) if group.is_multicast() => {
            socket.join_multicast_v4(&group, &std::net::Ipv4Addr::UNSPECIFIED)?;
        }
        IpAddr::V6(group) if group.is_multicast() => socket.join_multicast_v6(&group, 0)?,
        _ => {}
    }
    Ok(socket.into())
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
        Err(e) if e.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(e),
        _ => Ok(socket.into()),
    }
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
    socket.connect(&target.into())?;
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
fn clear_stale(path: &Path) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.file_type().is_socket() => std::fs::remove_file(path),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AlreadyExists, "something other than a socket is at this path")),
        Err(_) => Ok(()),
    }
}

fn unix_socket(path: &Path, kind: Type, options: &SocketOptions) -> io::Result<Socket> {
    clear_stale(path)?;
    let socket = Socket::new(Domain::UNIX, kind, None)?;
    socket.set_nonblocking(true)?;
    options.apply(&socket, false)?;
    socket.bind(&SockAddr::unix(path)?)?;
    Ok(socket)
}

pub fn listen_unix(path: &Path, options: &SocketOptions, backlog: i32) -> io::Result<std::os::unix::net::UnixListener> {
    let socket = unix_socket(path, Type::STREAM, options)?;
    socket.listen(backlog)?;
    Ok(socket.into())
}

pub fn bind_unix_datagram(path: &Path, options: &SocketOptions) -> io::Result<std::os::unix::net::UnixDatagram> {
    Ok(unix_socket(path, Type::DGRAM, options)?.into())
}
