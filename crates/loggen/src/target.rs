//! Where messages go: a TCP, UDP or unix socket address, and how to connect to it.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use stdio::CommandError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    UnixStream(PathBuf),
    UnixDgram(PathBuf),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Any,
    V6,
}

/// Resolves `host` and takes its first address; `Family::V6` takes IPv6 addresses only.
pub fn resolve(host: &str, port: u16, family: Family) -> Result<SocketAddr, CommandError> {
    let addresses = (host, port).to_socket_addrs().map_err(|e| format!("cannot resolve {host}: {e}"))?;
    let mut addresses = addresses.filter(|address| family == Family::Any || address.is_ipv6()).peekable();
    let first = addresses.peek().copied();
    // A name with both kinds of address means IPv4 unless asked otherwise, as the original does.
    let found = addresses.find(|address| family == Family::V6 || address.is_ipv4()).or(first);
    Ok(found
        .ok_or_else(|| format!("{host} has no {}address", if family == Family::V6 { "IPv6 " } else { "" }))?)
}

impl Target {
    pub fn is_stream(&self) -> bool {
        matches!(self, Target::Tcp(_) | Target::UnixStream(_))
    }

    /// Connects a socket, blocking; `client_port` binds an IP socket's own port first.
    pub fn connect(&self, client_port: Option<u16>) -> Result<OwnedFd, Errno> {
        match self {
            Target::Tcp(address) => connect_ip(address, SocketType::STREAM, client_port),
            Target::Udp(address) => connect_ip(address, SocketType::DGRAM, client_port),
            Target::UnixStream(path) => connect_unix(path, SocketType::STREAM),
            Target::UnixDgram(path) => connect_unix(path, SocketType::DGRAM),
        }
    }
}

fn connect_ip(address: &SocketAddr, kind: SocketType, client_port: Option<u16>) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
    if let Some(port) = client_port {
        sockopt::set_socket_reuseaddr(&socket, true)?;
        let any = if address.is_ipv4() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED)
        } else {
            IpAddr::V6(Ipv6Addr::UNSPECIFIED)
        };
        rustix::net::bind(&socket, &SocketAddr::new(any, port))?;
    }
    rustix::net::connect(&socket, address)?;
    Ok(socket)
}

fn connect_unix(path: &PathBuf, kind: SocketType) -> Result<OwnedFd, Errno> {
    let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None)?;
    // The kernel takes 107 bytes; a longer path is reached through a descriptor of the file.
    let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let through = format!("/proc/self/fd/{}", file.as_raw_fd());
    let address = if path.as_os_str().len() <= 107 { path.clone() } else { through.into() };
    rustix::net::connect(&socket, &SocketAddrUnix::new(address)?)?;
    Ok(socket)
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Tcp(address) | Target::Udp(address) => address.fmt(f),
            Target::UnixStream(path) | Target::UnixDgram(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_addresses() {
        assert_eq!(resolve("127.0.0.1", 514, Family::Any).unwrap().to_string(), "127.0.0.1:514");
        assert_eq!(resolve("::1", 514, Family::V6).unwrap().to_string(), "[::1]:514");
        assert!(resolve("127.0.0.1", 514, Family::V6).is_err());
    }

    #[test]
    fn nobody_listens() {
        let path = PathBuf::from("/nonexistent/socket");
        assert_eq!(Target::UnixStream(path).connect(None).unwrap_err(), Errno::NOENT);
    }
}
