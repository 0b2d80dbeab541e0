//! Where a socket destination sends to: names looked up outside the workers, servers tried in turn, sockets
//! that connect.

pub mod given;
mod lookup;
mod route;

use engine::{Detail, Outlet, Wake};
pub use lookup::Lookup;
pub use route::{Next, Route};
use socket2::{Domain, Socket, Type};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use transport::SocketOptions;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Inet(SocketAddr),
    Unix(Arc<Path>),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Inet(a) => write!(f, "AF_INET{}({a})", if a.is_ipv6() { "6" } else { "" }),
            Address::Unix(path) => write!(f, "AF_UNIX({})", path.display()),
        }
    }
}

/// What a socket is made with before it connects.
#[derive(Clone, Debug, Default)]
pub struct Connect {
    /// `localip()` and `localport()`.
    pub from: Option<SocketAddr>,
    pub socket: SocketOptions,
}

impl Connect {
    /// Begins a connection of a stream. A unix socket is connected at once or not at all.
    pub fn stream(&self, to: &Address) -> io::Result<Socket> {
        match to {
            Address::Inet(to) => {
                let stream = transport::connect_tcp(*to, self.from, &self.socket)?;
                // Output comes in large pieces; holding back the last one only costs time.
                stream.set_nodelay(true)?;
                Ok(stream.into())
            }
            Address::Unix(path) => self.unix(path, Type::STREAM),
        }
    }

    pub fn datagram(&self, to: &Address) -> io::Result<Socket> {
        match to {
            Address::Inet(to) => Ok(transport::connect_udp(*to, self.from, &self.socket)?.into()),
            Address::Unix(path) => self.unix(path, Type::DGRAM),
        }
    }

    fn unix(&self, path: &Path, kind: Type) -> io::Result<Socket> {
        let socket = Socket::new(Domain::UNIX, kind, None)?;
        socket.set_nonblocking(true)?;
        self.socket.apply(&socket, false)?;
        transport::unix_path::connect(&socket, path)?;
        Ok(socket)
    }
}

/// This side of a socket, as logged.
pub fn local_name(socket: &Socket) -> String {
    match socket.local_addr().ok().and_then(|a| a.as_socket()) {
        Some(address) => Address::Inet(address).to_string(),
        None => "AF_UNIX(anonymous)".to_owned(),
    }
}

/// Both ends of a connection, for those who follow messages over it.
pub fn ends(socket: &Socket) -> [(&'static str, Detail); 2] {
    let peer = socket.peer_addr().ok();
    let server = match peer.as_ref().and_then(|peer| peer.as_socket()) {
        Some(address) => Address::Inet(address).to_string(),
        None => {
            let path = peer.as_ref().and_then(|peer| peer.as_pathname());
            format!("AF_UNIX({})", path.unwrap_or(Path::new("anonymous")).display())
        }
    };
    [("server", server.into()), ("from", local_name(socket).into())]
}

/// Wakes an outlet from another thread, once there is one; or a port.
#[derive(Default)]
pub struct Nudge(OnceLock<Nudged>);

enum Nudged {
    Outlet(Weak<Outlet>),
    Port(Arc<dyn Wake>),
}

impl Nudge {
    /// Of a port.
    pub fn port(waker: Arc<dyn Wake>) -> Nudge {
        Nudge(OnceLock::from(Nudged::Port(waker)))
    }

    pub fn set(&self, outlet: &Arc<Outlet>) {
        let _ = self.0.set(Nudged::Outlet(Arc::downgrade(outlet)));
    }

    pub fn nudge(&self) {
        match self.0.get() {
            Some(Nudged::Port(waker)) => waker.wake(),
            Some(Nudged::Outlet(outlet)) => outlet.upgrade().iter().for_each(|outlet| outlet.event()),
            None => {}
        }
    }
}
