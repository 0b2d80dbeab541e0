//! Accepts stream connections, TCP and unix, and spreads them over the workers.

use super::encoding::EncodedInput;
use super::input::FdInput;
use super::senders::{Naming, PeerFacts};
use engine::reader::{Input, StreamOptions, StreamPort};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Shared, WorkerHandle};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use record::{Context, NameId, Peer, Transport};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use transport::SocketOptions;
use wire::FramerOptions;

/// What every connection of a listener gets.
pub struct Accepted {
    pub framing: FramerOptions,
    pub idle_timeout: Option<Duration>,
    pub window_messages: Option<usize>,
    pub fetch_limit: Option<usize>,
    pub encoding: Option<&'static encoding_rs::Encoding>,
    pub socket: SocketOptions,
    pub connections_max: usize,
    pub facts: PeerFacts,
    pub naming: Naming,
    /// This machine's name, for unix sockets.
    pub local_name: Arc<str>,
    /// Whether to look at the peer's credentials (unix sockets).
    pub credentials: bool,
    pub open: AtomicUsize,
}

pub enum Socket {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener, String),
}

impl Socket {
    fn fd(&self) -> i32 {
        match self {
            Socket::Tcp(s) => s.as_raw_fd(),
            Socket::Unix(s, _) => s.as_raw_fd(),
        }
    }
}

pub struct Listener {
    socket: Socket,
    source: Arc<Source>,
    accepted: Arc<Accepted>,
    queued: bool,
}

/// Connections accepted in one turn.
const TURN_ACCEPTS: usize = 64;

impl Listener {
    /// Adds the listener to a worker.
    pub fn start(socket: Socket, source: &Arc<Source>, accepted: Arc<Accepted>, shared: &Arc<Shared>) -> Result<(), String> {
        let worker = shared.any_worker().ok_or("there are no workers")?;
        let source = Arc::clone(source);
        worker.add(move |token, cx| {
            register(&socket.fd(), cx.handle.registry(), token)?;
            Ok(Box::new(Listener { socket, source, accepted, queued: false }))
        });
        Ok(())
    }

    fn accept(&mut self, cx: &PortContext) -> std::io::Result<()> {
        let (fd, peer) = match &self.socket {
            Socket::Tcp(listener) => {
                let (stream, remote) = listener.accept()?;
                let local = stream.local_addr()?;
                stream.set_nonblocking(true)?;
                if let Err(error) = self.accepted.socket.apply_keepalive(&socket2_ref(&stream)) {
                    oplog::limited("keepalive", oplog::Level::Warning, "Cannot set keep-alive options", &[("error", &error)]);
                }
                (OwnedFd::from(stream), Client::Inet { remote, local })
            }
            Socket::Unix(listener, path) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                let values = match self.accepted.credentials {
                    true => credentials(&stream),
                    false => Vec::new(),
                };
                (OwnedFd::from(stream), Client::Unix { path: path.clone(), values })
            }
        };
        self.admit(fd, peer, cx);
        Ok(())
    }

    /// Starts serving a connection, or turns it away.
    fn admit(&self, fd: OwnedFd, client: Client, cx: &PortContext) {
        let (client_name, local_name) = client.described();
        let accepted = &self.accepted;
        let open = accepted.open.fetch_add(1, Ordering::Relaxed);
        if open >= accepted.connections_max {
            accepted.open.fetch_sub(1, Ordering::Relaxed);
            self.source.counters.rejected_connections.add(1);
            oplog::limited(
                "max-connections",
                oplog::Level::Error,
                "Number of allowed concurrent connections reached, rejecting connection",
                &[
                    ("client", &client_name),
                    ("local", &local_name),
                    ("group_name", &self.source.group),
                    ("location", &self.source.id),
                    ("max", &accepted.connections_max),
                ],
            );
            return;
        }
        oplog::notice(
            "Syslog connection accepted",
            &[("fd", &fd.as_raw_fd()), ("client", &client_name), ("local", &local_name)],
        );
        let Some(worker) = cx.shared.any_worker().cloned() else { return };
        let (source, accepted) = (Arc::clone(&self.source), Arc::clone(accepted));
        match client {
            Client::Inet { remote, local } => {
                let place = Place { worker, source, accepted: Arc::clone(&accepted), described: (client_name, local_name) };
                // The connection is not read before its sender's name is known.
                let fd = Arc::new(parking_lot::Mutex::new(Some((fd, place))));
                let later = Arc::clone(&fd);
                let facts = accepted.facts.clone();
                let serve = move |slot: &parking_lot::Mutex<Option<(OwnedFd, Place)>>, name: &str| {
                    if let Some((fd, place)) = slot.lock().take() {
                        place.serve(fd, facts.context(remote, local, name));
                    }
                };
                let serve_later = serve.clone();
                if let Some(name) = accepted.naming.name(remote, move |name| serve_later(&later, &name)) {
                    serve(&fd, &name);
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
                let place = Place { worker, source, accepted, described: (client_name, local_name) };
                place.serve(fd, Arc::new(context));
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
        let inet = |a: &SocketAddr| format!("AF_INET{}({a})", if a.is_ipv6() { "6" } else { "" });
        match self {
            Client::Inet { remote, local } => (inet(remote), inet(local)),
            Client::Unix { path, .. } => ("AF_UNIX(anonymous)".to_owned(), format!("AF_UNIX({path})")),
        }
    }
}

/// Who will serve a connection, and as what.
struct Place {
    worker: WorkerHandle,
    source: Arc<Source>,
    accepted: Arc<Accepted>,
    described: (String, String),
}

impl Place {
    fn serve(self, fd: OwnedFd, context: Arc<Context>) {
        let Place { worker, source, accepted, described } = self;
        worker.add(move |token, cx| {
            let leaving = Arc::clone(&accepted);
            register(&fd.as_raw_fd(), cx.handle.registry(), token).inspect_err(|_| {
                leaving.open.fetch_sub(1, Ordering::Relaxed);
            })?;
            let mut input: Box<dyn Input> = Box::new(FdInput(fd));
            if let Some(encoding) = accepted.encoding {
                input = Box::new(EncodedInput::new(input, encoding));
            }
            let options = StreamOptions {
                framing: accepted.framing,
                idle_timeout: accepted.idle_timeout,
                window_messages: accepted.window_messages,
                fetch_limit: accepted.fetch_limit,
                described: Some(described),
                on_close: Some(Box::new(move || {
                    leaving.open.fetch_sub(1, Ordering::Relaxed);
                })),
            };
            Ok(Box::new(StreamPort::new(input, source, context, options, cx, token)))
        });
    }
}

/// `.unix.pid` and its companions, from the kernel.
fn credentials(stream: &std::os::unix::net::UnixStream) -> Vec<(NameId, Box<[u8]>)> {
    let Ok(peer) = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials) else {
        return Vec::new();
    };
    super::process_values(peer.pid(), peer.uid(), peer.gid())
}

/// Watches a descriptor for readability.
pub fn register(fd: &i32, registry: &Registry, token: Token) -> std::io::Result<()> {
    registry.register(&mut SourceFd(fd), token, Interest::READABLE)
}

impl Port for Listener {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        for _ in 0..TURN_ACCEPTS {
            match self.accept(cx) {
                Ok(()) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return After::Idle,
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionAborted) => {}
                Err(error) => {
                    // Out of descriptors: the connection waits in the kernel until one is free.
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

    fn closed(&mut self, cx: &mut PortContext) {
        let _ = cx.handle.registry().deregister(&mut SourceFd(&self.socket.fd()));
        if let Socket::Unix(_, path) = &self.socket {
            let _ = std::fs::remove_file(path);
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}
