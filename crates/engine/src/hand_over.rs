//! What a process gives to the one that takes its place: sockets, connections, and what waits at
//! destinations.

use crate::chunk::Chunk;
use diag::Fault;
use record::Context;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Something with a descriptor. What its port had read of it is with it.
pub enum Handed {
    /// A listener or a socket for datagrams.
    Socket(OwnedFd),
    Connection(Connection),
}

/// A connection at the border of two reads.
pub struct Connection {
    pub fd: OwnedFd,
    /// [`crate::source::Source::instance`]: where it came in.
    pub instance: String,
    /// How its bytes are to be read: whoever takes it has to read them in the same way.
    pub reading: String,
    pub context: Arc<Context>,
    /// Both sides, in messages about it.
    pub client: String,
    pub local: String,
    /// Read already: the beginning of a message.
    pub received: Vec<u8>,
}

/// Whoever serves the connections of one address.
pub trait Adopt: Send + Sync {
    /// Goes on with a connection that another process has served. The fault says why it cannot.
    fn adopt(&self, connection: Connection) -> Result<(), Fault>;
}

/// What waits at a destination, in order.
pub struct Queue {
    /// `<statement>#<n>`.
    pub destination: String,
    /// Of a destination that makes its outlets as messages come: the name of this one.
    pub outlet: Option<String>,
    pub chunks: Vec<Chunk>,
}

/// What a port does when its process hands over.
pub enum Part {
    /// It is closed as in a reload: others begin anew.
    Closes,
    /// It is in the middle of something: asked again later.
    Stays,
    /// It has given everything away.
    Gone(Vec<Handed>),
    /// It has given everything away and passes on what only this process can read.
    Becomes(Box<Connection>, Box<dyn crate::worker::Port>),
}

/// The two ends of a connection as [`record::Peer`] has them.
pub type Ends = (SocketAddr, SocketAddr, Option<SocketAddr>);
