//! Connections that come through a load balancer: it says in a PROXY header (version 1 or 2) for whom it
//! connects, in front of everything, or inside the TLS session. The messages then are the client's;
//! `${PEERIP}` is the balancer.
//!
//! Whoever may connect may also claim any address: the port has to be open to the balancer only.

mod begun;

use super::listener::{HandOff, Joined, MADE_ROOM, Permit, Protocol, inet_name};
use super::secure::SecurePort;
pub use begun::Begun;
use engine::hand_over::Part;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use parking_lot::Mutex;
use record::{Context, Peer};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::proxy::{self, Header, Origin, V2_MAX};

/// A header that takes longer does not come.
const HEADER_MAX: Duration = Duration::from_secs(10);
/// How long a connection waits for the name of its client; looked at once a second.
const NAME_MAX: Duration = Duration::from_secs(1);

/// `transport(proxied-tcp)`, `transport(proxied-tls)`, `transport(proxied-tls-passthrough)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxied {
    /// The header is the first that is read, inside the session where there is one.
    First,
    /// The header comes in the clear, then TLS begins.
    BeforeTls,
}

impl Proxied {
    pub fn named(transport: &str) -> Option<Proxied> {
        match transport {
            "proxied-tcp" | "proxied-tls" => Some(Proxied::First),
            "proxied-tls-passthrough" => Some(Proxied::BeforeTls),
            _ => None,
        }
    }
}

impl Protocol for Proxied {
    fn port(&self, connection: Joined, cx: &PortContext, token: Token) -> Box<dyn Port> {
        match self {
            Proxied::First => Box::new(ProxiedPort::new(Link::Clear(Box::new(connection)))),
            // The header has been read, and the session stands.
            Proxied::BeforeTls => connection.stream(cx, token),
        }
    }

    fn answers(&self) -> bool {
        false
    }

    fn before_tls(&self) -> bool {
        *self == Proxied::BeforeTls
    }
}

/// A connection whose header is awaited.
enum Link {
    Clear(Box<Joined>),
    Raw(Box<Raw>),
}

struct Raw {
    fd: OwnedFd,
    hand_off: HandOff,
    context: Arc<Context>,
}

/// Serves a connection whose header comes before its TLS handshake.
pub fn before_tls(
    fd: OwnedFd,
    hand_off: HandOff,
    context: Arc<Context>,
    registry: &Registry,
    token: Token,
) -> io::Result<Box<dyn Port>> {
    registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE | Interest::WRITABLE)?;
    Ok(Box::new(ProxiedPort::new(Link::Raw(Box::new(Raw { fd, hand_off, context })))))
}

struct ProxiedPort {
    phase: Phase,
    source: Arc<Source>,
    queued: bool,
    hung_up: bool,
}

enum Phase {
    Header(Waiting),
    Name(Waiting, Named),
    Open(Box<dyn Port>),
    Over,
}

struct Waiting {
    link: Link,
    /// Received so far: an unfinished header, later what follows it.
    received: Vec<u8>,
    until: Instant,
    failure: Option<String>,
}

/// A client whose name is being looked up.
struct Named {
    header: Header,
    name: Arc<Mutex<Option<String>>>,
    until: Instant,
}

impl Link {
    fn source(&self) -> &Arc<Source> {
        match self {
            Link::Clear(joined) => &joined.source,
            Link::Raw(raw) => &raw.hand_off.source,
        }
    }

    fn accepted(&self) -> &Arc<super::listener::Accepted> {
        match self {
            Link::Clear(joined) => &joined.accepted,
            Link::Raw(raw) => &raw.hand_off.accepted,
        }
    }

    fn described(&self) -> &engine::reader::Described {
        match self {
            Link::Clear(joined) => &joined.described,
            Link::Raw(raw) => &raw.hand_off.described,
        }
    }

    fn permit(&self) -> &Permit {
        match self {
            Link::Clear(joined) => &joined.permit,
            Link::Raw(raw) => &raw.hand_off.permit,
        }
    }

    fn context(&mut self) -> &mut Arc<Context> {
        match self {
            Link::Clear(joined) => &mut joined.context,
            Link::Raw(raw) => &mut raw.context,
        }
    }

    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        match self {
            Link::Clear(joined) => joined.input.read(into, max),
            Link::Raw(raw) => super::input::read_spare(&raw.fd, into, max),
        }
    }

    /// The client takes the place of the balancer, which stays known as the one that connected.
    fn introduce(&mut self, header: &Header, name: &str) {
        let Origin::Client { source, destination } = header.origin else { return };
        let balancer = match &self.context().peer {
            Peer::Inet { remote, .. } => Some(*remote),
            _ => None,
        };
        // What TLS has told of the balancer stays.
        let values = self.context().values.clone();
        let context = self.accepted().facts.context(source, destination, name);
        let mut context = Context::clone(&context);
        if let Peer::Inet { proxy, .. } = &mut context.peer {
            *proxy = balancer;
        }
        context.values = values;
        *self.context() = Arc::new(context);
    }
}

impl Waiting {
    /// Reads until the header is there. `None`: it is not yet, or the peer has gone without one.
    fn header(&mut self) -> Result<Option<Header>, After> {
        loop {
            match proxy::parse(&self.received) {
                Ok(Some(header)) => return Ok(Some(header)),
                Ok(None) => {}
                Err(error) => {
                    self.failure = Some(error.to_string());
                    return Err(After::Close);
                }
            }
            let before = self.received.len();
            match self.link.read(&mut self.received, V2_MAX - before.min(V2_MAX - 1)) {
                Ok(0) => {
                    // A balancer that only looks whether somebody listens says nothing.
                    self.failure =
                        (before > 0).then(|| "the connection ended within the PROXY header".to_owned());
                    return Err(After::Close);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error.to_string());
                    return Err(After::Close);
                }
            }
        }
    }

    /// What reads the rest of the connection.
    fn open(mut self, header: &Header, name: &str, hung_up: bool, cx: &mut PortContext) -> Box<dyn Port> {
        self.link.introduce(header, name);
        if let Origin::Client { source, .. } = header.origin {
            let described = self.link.described();
            oplog::verbose(
                "PROXY header received",
                &[("fd", &described.fd), ("proxy", &described.client), ("client", &inet_name(source))],
            );
        }
        self.received.drain(..header.len.min(self.received.len()));
        let token = cx.token;
        let mut port: Box<dyn Port> = match self.link {
            Link::Clear(mut joined) => {
                joined.input =
                    Box::new(Begun { received: self.received, input: joined.input, unasked: true });
                joined.stream(cx, token)
            }
            Link::Raw(raw) => {
                let Raw { fd, hand_off, context } = *raw;
                Box::new(SecurePort::begun(fd, &self.received, hand_off, context))
            }
        };
        if hung_up {
            port.hung_up();
        }
        port
    }
}

impl ProxiedPort {
    fn new(link: Link) -> ProxiedPort {
        let source = Arc::clone(link.source());
        let limit = link.accepted().idle_timeout.map_or(HEADER_MAX, |idle| idle.min(HEADER_MAX));
        let waiting = Waiting { link, received: Vec::new(), until: Instant::now() + limit, failure: None };
        ProxiedPort { phase: Phase::Header(waiting), source, queued: false, hung_up: false }
    }

    /// The header is there: asks for the client's name, or goes on.
    fn found(&mut self, waiting: Waiting, header: Header, cx: &mut PortContext) -> After {
        let Origin::Client { source, .. } = header.origin else {
            return self.open(waiting, &header, "", cx);
        };
        let (slot, waker) = (Arc::new(Mutex::new(None)), cx.handle.waker(cx.token));
        let later = Arc::clone(&slot);
        let known = waiting.link.accepted().naming.name(source, move |name| {
            *later.lock() = Some(name);
            waker.wake();
        });
        match known {
            Some(name) => self.open(waiting, &header, &name, cx),
            None => {
                let named = Named { header, name: slot, until: Instant::now() + NAME_MAX };
                self.phase = Phase::Name(waiting, named);
                After::Idle
            }
        }
    }

    fn open(&mut self, waiting: Waiting, header: &Header, name: &str, cx: &mut PortContext) -> After {
        let mut port = waiting.open(header, name, self.hung_up, cx);
        let after = port.turn(cx);
        self.phase = Phase::Open(port);
        after
    }
}

impl Port for ProxiedPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Open(mut port) => {
                let after = port.turn(cx);
                self.phase = Phase::Open(port);
                after
            }
            Phase::Header(mut waiting) => match waiting.header() {
                Ok(Some(header)) => self.found(waiting, header, cx),
                Ok(None) => {
                    let is_to_go = waiting.link.permit().is_to_go();
                    if is_to_go {
                        waiting.failure = Some(MADE_ROOM.to_owned());
                    }
                    self.phase = Phase::Header(waiting);
                    if is_to_go { After::Close } else { After::Idle }
                }
                Err(after) => {
                    self.phase = Phase::Header(waiting);
                    after
                }
            },
            Phase::Name(waiting, named) => {
                let name = named.name.lock().take();
                let name = name.or_else(|| match named.header.origin {
                    Origin::Client { source, .. } if Instant::now() >= named.until => {
                        Some(source.ip().to_canonical().to_string())
                    }
                    _ => None,
                });
                match name {
                    Some(name) => self.open(waiting, &named.header, &name, cx),
                    None => {
                        self.phase = Phase::Name(waiting, named);
                        After::Idle
                    }
                }
            }
            Phase::Over => After::Close,
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn hung_up(&mut self) {
        self.hung_up = true;
        if let Phase::Open(port) = &mut self.phase {
            port.hung_up();
        }
    }

    /// The turn of one whose name does not come.
    fn retry(&self) -> bool {
        match &self.phase {
            Phase::Name(..) => true,
            Phase::Open(port) => port.retry(),
            _ => false,
        }
    }

    fn tick(&mut self, now: Instant) -> bool {
        match &mut self.phase {
            Phase::Open(port) => port.tick(now),
            Phase::Header(waiting) if now >= waiting.until => {
                waiting.failure = Some("no PROXY header came in time".to_owned());
                false
            }
            _ => true,
        }
    }

    fn closed(&mut self, cx: &mut PortContext) {
        let waiting = match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Open(mut port) => return port.closed(cx),
            Phase::Over => return,
            Phase::Header(waiting) | Phase::Name(waiting, _) => waiting,
        };
        let Waiting { mut link, failure, .. } = waiting;
        if let Some(error) = failure {
            self.source.counters.rejected_connections.add(1);
            self.source.counters.transport_errors.add(engine::ledger::TransportError::ProxyHeader);
            let described = link.described();
            oplog::often(
                "proxy-header",
                oplog::Level::Error,
                "Cannot tell whom a proxy connects for, closing the connection",
                &[("client", &described.client), ("local", &described.local), ("error", &error)],
            );
        }
        let registry = cx.handle.registry();
        match &mut link {
            Link::Clear(joined) => joined.input.deregister(registry),
            // Fails only when it was never registered.
            Link::Raw(raw) => drop(registry.deregister(&mut SourceFd(&raw.fd.as_raw_fd()))),
        }
        link.described().say_closed(None);
    }

    fn part(&mut self, cx: &mut PortContext) -> Part {
        match &mut self.phase {
            Phase::Open(port) => port.part(cx),
            Phase::Header(_) | Phase::Name(..) => Part::Stays,
            Phase::Over => Part::Closes,
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transports() {
        assert_eq!(Proxied::named("proxied-tcp"), Some(Proxied::First));
        assert_eq!(Proxied::named("proxied-tls"), Some(Proxied::First));
        assert_eq!(Proxied::named("proxied-tls-passthrough"), Some(Proxied::BeforeTls));
        assert_eq!(Proxied::named("tls"), None);
    }
}
