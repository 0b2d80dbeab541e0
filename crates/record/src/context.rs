//! What the messages of one peer have in common: kept once, named by each record with a small index.

use std::net::SocketAddr;
use std::sync::Arc;

/// How a message came in, printed by the TRANSPORT macro.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transport(pub &'static str);

/// The sender's side of a connection or datagram.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Peer {
    /// Unix sockets, files, pipes, own messages.
    #[default]
    Local,
    Inet {
        remote: SocketAddr,
        local: SocketAddr,
        /// Address before a PROXY header replaced it.
        proxy: Option<SocketAddr>,
    },
}

/// Made once per connection, file or UDP sender; shared by all its batches.
#[derive(Clone, Debug)]
pub struct Context {
    /// Name of the source statement (`$SOURCE`, tag `.source.<name>`).
    pub source: Arc<str>,
    pub peer: Peer,
    /// Resolved name of the sender, by use-dns() and its companions (`$HOST_FROM`).
    pub host_from: Arc<str>,
    pub transport: Transport,
    /// 6 TCP, 17 UDP, 0 otherwise (`$IP_PROTO` and `$PROTO` read it).
    pub ip_protocol: u8,
    /// Extra pairs every message of this peer carries (`.unix.pid`, `.tls.x509_cn`, `FILE_NAME` ...).
    pub values: Vec<(crate::NameId, Box<[u8]>)>,
}

impl Context {
    pub fn local(source: &str, host: &str, transport: &'static str) -> Context {
        Context {
            source: source.into(),
            peer: Peer::Local,
            host_from: host.into(),
            transport: Transport(transport),
            ip_protocol: 0,
            values: Vec::new(),
        }
    }
}
