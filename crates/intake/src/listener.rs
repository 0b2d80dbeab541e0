//! Accepts stream connections, TCP and unix, and spreads them over the workers.

mod adopted;
mod hand_off;
mod permits;

use adopted::Adopter;
pub use hand_off::{HandOff, Joined, Protocol};
pub use permits::{MADE_ROOM, Permit, Permits};

use super::senders::{Naming, PeerFacts};
use crate::multi_line::Mode;
use crate::socket_file::SocketFile;
use diag::Fault;
use engine::hand_over::{Adopt, Handed, Part};
use engine::reader::Described;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Shared, profile::Nameless};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use parking_lot::Mutex;
use record::{Context, NameId, Peer, Transport};
use rustix::io::fcntl_dupfd_cloexec;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use transport::{SocketOptions, descriptors};
use wire::FramerOptions;

/// `listen-backlog()`.
pub fn backlog(s: &conf_schema::Settings) -> i32 {
    s.int("listen-backlog").and_then(|n| i32::try_from(n).ok()).unwrap_or(BACKLOG)
}

/// What every connection of a listener gets.
pub struct Accepted {
    pub framing: FramerOptions,
    /// Lines that belong together are one message.
    /// With what tells it from another way.
    pub multi_line: Option<(Mode, String)>,
    pub idle_timeout: Option<Duration>,
    pub fetch_limit: Option<usize>,
    pub encoding: Option<conf_schema::Encoding>,
    pub socket: SocketOptions,
    pub permits: Arc<Permits>,
    pub facts: PeerFacts,
    pub naming: Naming,
    /// This machine's name, for unix sockets.
    pub local_name: Arc<str>,
    /// Whether to look at the peer's credentials (unix sockets).
    pub credentials: bool,
    /// Where the driver stands in the configuration, for messages.
    pub location: String,
    /// Connections are encrypted.
    pub secure: Option<Arc<tls::Acceptor>>,
    /// What is spoken on them, when it is more than messages one after the other.
    pub protocol: Option<Arc<dyn Protocol>>,
}

impl Accepted {
    /// How the bytes of a connection are read once they are decrypted and decoded. `None` for protocols that
    /// answer: their peers connect again, and send again what was not acknowledged.
    pub fn passes_as(&self) -> Option<Arc<str>> {
        let own = self.protocol.as_ref().is_some_and(|protocol| protocol.answers());
        let encoding = self.encoding.map_or("utf-8", |encoding| encoding.name());
        let secure = if self.secure.is_some() { " tls" } else { "" };
        let lines = self.multi_line.as_ref().map(|(_, text)| format!(" {text}")).unwrap_or_default();
        (!own).then(|| format!("{} {encoding}{secure}{lines}", self.framing.described()).into())
    }
}

pub enum Socket {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener, SocketFile),
}

impl Socket {
    fn fd(&self) -> i32 {
        match self {
            Socket::Tcp(s) => s.as_raw_fd(),
            Socket::Unix(s, _) => s.as_raw_fd(),
        }
    }

    fn duplicate(&self) -> rustix::io::Result<OwnedFd> {
        match self {
            Socket::Tcp(socket) => fcntl_dupfd_cloexec(socket, 0),
            Socket::Unix(socket, _) => fcntl_dupfd_cloexec(socket, 0),
        }
    }
}

pub struct Listener {
    socket: Socket,
    source: Arc<Source>,
    accepted: Arc<Accepted>,
    /// Accepted, and not read before the sender's name is known.
    unnamed: Vec<Unnamed>,
    /// The last connection got a descriptor that is held back for others.
    crowded: bool,
    queued: bool,
    /// Known by it to connections of another process.
    _adopter: Arc<dyn Adopt>,
}

/// A connection that waits for its sender's name. Whoever takes it out of the slot serves it: the resolver,
/// or the listener when the answer is late.
struct Unnamed {
    until: Instant,
    slot: Weak<Slot>,
    remote: SocketAddr,
    local: SocketAddr,
}

type Slot = Mutex<Option<(OwnedFd, HandOff, Nameless)>>;

/// Serves what waits in a slot, under its lock: once a closed listener has emptied it, no worker gets more.
fn serve(slot: &Slot, remote: SocketAddr, local: SocketAddr, name: &str) {
    let mut waiting = slot.lock();
    if let Some((fd, hand_off, _nameless)) = waiting.take() {
        let context = hand_off.accepted.facts.context(remote, local, name);
        hand_off.serve(fd, context);
    }
}

/// Connections the kernel may hold without listen-backlog(). A client beyond it tries again a second later.
const BACKLOG: i32 = 4096;
/// Connections accepted in one turn.
const TURN_ACCEPTS: usize = 64;
/// How long a connection waits for its sender's name; looked at once a second. Afterwards it is called by its
/// number.
const NAME_WAIT: Duration = Duration::from_secs(1);

impl Listener {
    /// Adds the listener to a worker.
    pub fn start(
        socket: Socket,
        source: &Arc<Source>,
        accepted: Arc<Accepted>,
        shared: &Arc<Shared>,
    ) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let source = Arc::clone(source);
        source.counters.connections_max.store(accepted.permits.max as u64, Ordering::Relaxed);
        let adopter = Adopter::start(&source, &accepted, shared);
        worker.add(move |token, cx| {
            register(&socket.fd(), cx.handle.registry(), token)?;
            Ok(Box::new(Listener {
                socket,
                source,
                accepted,
                unnamed: Vec::new(),
                crowded: false,
                queued: false,
                _adopter: adopter,
            }))
        });
        Ok(())
    }

    fn accept(&mut self, cx: &PortContext) -> std::io::Result<()> {
        let (fd, peer) = match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, remote) = listener.accept()?;
                let local = stream.local_addr()?;
                stream.set_nonblocking(true)?;
                if self.accepted.protocol.is_some() {
                    // Answers are small, and the peer waits for them.
                    stream.set_nodelay(true)?;
                }
                if let Err(error) = self.accepted.socket.apply_keepalive(&socket2_ref(&stream)) {
                    oplog::limited(
                        "keepalive",
                        oplog::Level::Warning,
                        "Cannot set keep-alive options",
                        &[("error", &error)],
                    );
                }
                (OwnedFd::from(stream), Client::Inet { remote, local })
            }
            Socket::Unix(listener, file) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let values = match self.accepted.credentials {
                    true => credentials(&stream),
                    false => Vec::new(),
                };
                (OwnedFd::from(stream), Client::Unix { path: file.name(), values })
            }
        };
        self.crowded = !descriptors::is_below_ceiling(&fd);
        self.admit(fd, peer, cx);
        Ok(())
    }

    /// Whether there is a descriptor for another connection. Without, it waits in the kernel: those that are
    /// left are not for connections.
    fn has_descriptor(&mut self) -> bool {
        if !self.crowded {
            return true;
        }
        let tried = || self.socket.duplicate().is_ok_and(|fd| descriptors::is_below_ceiling(&fd));
        self.crowded = !tried() && (descriptors::close_idle() == 0 || !tried());
        if self.crowded {
            oplog::limited(
                "connection-descriptors",
                oplog::Level::Error,
                "No descriptor is left for another connection, it waits: raise the limit of open files (LimitNOFILE= of the service, \
                 ulimit -n)",
                &[("location", &self.source.id), ("limit", &descriptors::limit())],
            );
        }
        !self.crowded
    }

    /// Closes the connections that nobody serves yet.
    fn forget_unnamed(&mut self) {
        for slot in self.unnamed.drain(..).filter_map(|waiting| waiting.slot.upgrade()) {
            *slot.lock() = None;
        }
    }

    /// Starts serving a connection, or turns it away.
    fn admit(&mut self, fd: OwnedFd, client: Client, cx: &PortContext) {
        let (client_name, local_name) = client.described();
        let accepted = &self.accepted;
        let Some(permit) = accepted.permits.take() else {
            self.source.counters.rejected_connections.add(1);
            oplog::limited(
                "max-connections",
                oplog::Level::Error,
                "Number of allowed concurrent connections reached, rejecting connection",
                &[
                    ("client", &client_name),
                    ("local", &local_name),
                    ("group_name", &self.source.group),
                    ("location", &accepted.location),
                    ("max", &accepted.permits.max),
                ],
            );
            return;
        };
        oplog::often(
            "connection-accepted",
            oplog::Level::Notice,
            "Syslog connection accepted",
            &[("fd", &fd.as_raw_fd()), ("client", &client_name), ("local", &local_name)],
        );
        let Ok(worker) = cx.shared.any_worker().cloned() else { return };
        let described = Described { fd: fd.as_raw_fd(), client: client_name, local: local_name };
        let (source, accepted) = (Arc::clone(&self.source), Arc::clone(accepted));
        let hand_off = HandOff { worker, source, accepted: Arc::clone(&accepted), permit, described };
        match client {
            Client::Inet { remote, local } => {
                let slot: Arc<Slot> = Arc::new(Mutex::new(Some((fd, hand_off, Nameless::begin()))));
                let later = Arc::clone(&slot);
                match accepted.naming.name(remote, move |name| serve(&later, remote, local, &name)) {
                    Some(name) => serve(&slot, remote, local, &name),
                    None => {
                        let until = Instant::now() + NAME_WAIT;
                        self.unnamed.push(Unnamed { until, slot: Arc::downgrade(&slot), remote, local });
                    }
                }
            }
            Client::Unix { values, .. } => {
                let context = Context {
                    source: Arc::clone(&accepted.facts.group),
                    peer: Peer::Local,
                    host_from: Arc::clone(&accepted.local_name),
                    transport: Transport("local+unix-stream"),
                    ip_protocol: 0,
                    values,
                };
                hand_off.serve(fd, Arc::new(context));
            }
        }
    }
}

fn socket2_ref(stream: &std::net::TcpStream) -> socket2::SockRef<'_> {
    socket2::SockRef::from(stream)
}

enum Client {
    Inet { remote: SocketAddr, local: SocketAddr },
    Unix { path: String, values: Vec<(NameId, Box<[u8]>)> },
}

impl Client {
    fn described(&self) -> (String, String) {
        match self {
            Client::Inet { remote, local } => (inet_name(*remote), inet_name(*local)),
            Client::Unix { path, .. } => ("AF_UNIX(anonymous)".to_owned(), format!("AF_UNIX({path})")),
        }
    }
}

/// An address as syslog-ng's messages have it. IPv4 in IPv6 shows as IPv4.
pub fn inet_name(address: SocketAddr) -> String {
    let address = super::senders::canonical(address);
    format!("AF_INET{}({address})", if address.is_ipv6() { "6" } else { "" })
}

/// `.unix.pid` and its companions, from the kernel.
fn credentials(stream: &std::os::unix::net::UnixStream) -> Vec<(NameId, Box<[u8]>)> {
    let Ok(peer) = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials) else {
        return Vec::new();
    };
    crate::processes::process_values(peer.pid(), peer.uid(), peer.gid())
}

/// Watches a descriptor for readability.
pub fn register(fd: &i32, registry: &Registry, token: Token) -> std::io::Result<()> {
    registry.register(&mut SourceFd(fd), token, Interest::READABLE)
}

impl Port for Listener {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        for _ in 0..TURN_ACCEPTS {
            if !self.has_descriptor() {
                return After::Idle;
            }
            match self.accept(cx) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return After::Idle,
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) if descriptors::are_used_up(&error) => {
                    self.crowded = true;
                    if !self.has_descriptor() {
                        return After::Idle;
                    }
                }
                Err(error) => {
                    oplog::limited(
                        "accept",
                        oplog::Level::Error,
                        "Error accepting new connection",
                        &[("location", &self.source.id), ("error", &error)],
                    );
                    return After::Idle;
                }
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        true
    }

    /// The other process accepts from now on; its listener and this one are the same.
    fn part(&mut self, cx: &mut PortContext) -> Part {
        // Out of descriptors: it is tried again.
        let Ok(fd) = self.socket.duplicate() else { return Part::Stays };
        let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.fd()));
        // Who waits for a name goes without.
        self.serve_unnamed(|_| false);
        Part::Gone(vec![Handed::Socket(fd)])
    }

    fn tick(&mut self, now: Instant) -> bool {
        self.serve_unnamed(|until| now < until);
        true
    }

    fn closed(&mut self, cx: &mut PortContext) {
        let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.fd()));
        self.forget_unnamed();
        if let Socket::Unix(_, file) = &self.socket {
            file.remove();
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}

impl Listener {
    /// Serves those by their number who may not wait any longer.
    fn serve_unnamed(&mut self, may_wait: impl Fn(Instant) -> bool) {
        self.unnamed.retain(|waiting| {
            let Some(slot) = waiting.slot.upgrade() else { return false };
            if may_wait(waiting.until) {
                return true;
            }
            serve(&slot, waiting.remote, waiting.local, &waiting.remote.ip().to_canonical().to_string());
            false
        });
    }
}

#[cfg(test)]
mod tests;
