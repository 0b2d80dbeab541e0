//! The way to an open connection: servers tried in turn, a pause when all were, the handshake, and the way
//! back to the first of them.
//!
//! A sink that has no connection calls [`Dialing::advance`] until it gets one, says with [`Dialing::of_use`]
//! when messages can go over it, and with [`Dialing::broke`] when that is over. From its events and ticks it
//! asks with [`Dialing::heed_restart`] and [`Dialing::probe`] whether the connection [is to be
//! left](Dialing::is_leaving), which it does with [`Dialing::go_back`] as soon as nothing is on the way.

mod failback;

use super::single::SinkContext;
use super::target::{Address, Connect, Next, Route, local_name};
use super::unreachable::Unreachable;
pub use failback::Failback;
use failback::Probing;
use socket2::Socket;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tls::{Connector, Session};

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// How servers are connected to, as the configuration says it.
pub struct DialOptions {
    pub connect: Connect,
    /// From a failure to the next attempt, once every server was tried.
    pub time_reopen: Duration,
    pub failback: Option<Failback>,
    /// Connections are encrypted.
    pub secure: Option<Secured>,
}

/// How connections are encrypted.
pub struct Secured {
    pub options: tls::Options,
    /// `None` when the certificates cannot be read: each attempt to connect tries again, and says why.
    pub connector: Option<Arc<Connector>>,
}

impl Secured {
    /// Reads the certificates now, so that a reload finds those of the connections that stay.
    pub fn new(options: tls::Options) -> Secured {
        let connector = Connector::load(&options).ok();
        Secured { options, connector }
    }
}

/// What a socket that connects becomes: one connection attempt, then a connection.
pub trait Dialed: Sized {
    /// `session`: of an encrypted connection.
    fn new(socket: Socket, place: &SinkContext, session: Option<Session>) -> io::Result<Self>;

    fn socket(&self) -> &Socket;

    /// Whether the attempt came to an end; an error when it failed.
    fn is_established(&mut self, now: Instant) -> io::Result<bool>;

    /// How long until [`Dialed::is_established`] has something new to say without an event.
    fn settles_in(&self, _now: Instant) -> Option<Duration> {
        None
    }

    /// What an encrypted connection is encrypted with.
    fn session(&self) -> Option<String>;

    /// Ends the connection in order.
    fn close(self);

    fn fd(&self) -> RawFd {
        self.socket().as_raw_fd()
    }
}

/// Whether a socket has its peer; an error when it will not get it.
pub fn has_peer(socket: &Socket) -> io::Result<bool> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::NotConnected => Ok(false),
        Err(e) => Err(e),
    }
}

enum State<L> {
    /// Nothing is tried: there is a connection, or the next attempt is due at once.
    Idle,
    /// After a failure; the time of the next attempt.
    Waiting(Instant),
    Connecting(L, Address),
}

pub struct Dialing<L> {
    pub place: SinkContext,
    pub options: Arc<DialOptions>,
    connector: Option<Arc<Connector>>,
    route: Route,
    state: State<L>,
    /// The beginning of the attempt, of the connection, or of its use.
    since: Instant,
    probing: Option<Probing<L>>,
    unreachable: Unreachable,
    /// The connection is to be left as soon as nothing is on the way.
    leaving: bool,
}

impl<L: Dialed> Dialing<L> {
    pub fn new(place: SinkContext, route: Route, options: Arc<DialOptions>) -> Dialing<L> {
        Dialing {
            probing: options.failback.clone().map(Probing::new),
            unreachable: Unreachable::new(&place.counters),
            connector: options.secure.as_ref().and_then(|secured| secured.connector.clone()),
            place,
            options,
            route,
            state: State::Idle,
            since: Instant::now(),
            leaving: false,
        }
    }

    /// Does whatever can be done to be connected, without waiting. To be called while there is no connection.
    pub fn advance(&mut self, now: Instant) -> Option<L> {
        loop {
            match &mut self.state {
                State::Waiting(until) if now < *until => return None,
                State::Waiting(_) => self.state = State::Idle,
                State::Connecting(link, address) => match link.is_established(now) {
                    Ok(true) => return self.established(now),
                    Ok(false) if now.saturating_duration_since(self.since) < CONNECT_MAX => return None,
                    outcome => {
                        let error = outcome.err().unwrap_or_else(|| ErrorKind::TimedOut.into());
                        let address = address.clone();
                        self.failed(&address, &error);
                    }
                },
                State::Idle => match self.route.next(&self.place.nudge) {
                    Next::Try(address) => self.connect(address, now),
                    Next::Asking => return None,
                    Next::Pause => {
                        if let Some(why) = self.route.take_unknown() {
                            self.place.counters.setbacks.failed(why, None);
                        }
                        self.unreachable.lost(self.options.time_reopen);
                        self.state = State::Waiting(now + self.options.time_reopen);
                        return None;
                    }
                },
            }
        }
    }

    fn connect(&mut self, address: Address, now: Instant) {
        self.since = now;
        let opened = self.session().and_then(|session| {
            let socket = self.options.connect.stream(&address)?;
            L::new(socket, &self.place, session)
        });
        match opened {
            Ok(link) => self.state = State::Connecting(link, address),
            Err(error) => self.failed(&address, &error),
        }
    }

    /// The session a new connection begins with, when it is encrypted.
    fn session(&mut self) -> io::Result<Option<Session>> {
        let Some(secured) = &self.options.secure else { return Ok(None) };
        let connector = match &self.connector {
            Some(connector) => connector,
            None => self.connector.insert(Connector::load(&secured.options).map_err(io::Error::other)?),
        };
        connector.session(self.route.server_name()).map(Some).map_err(io::Error::other)
    }

    fn failed(&mut self, address: &Address, error: &io::Error) {
        let wait = self.options.time_reopen.as_secs();
        let fields: [oplog::Field<'_>; 3] = [("server", address), ("error", error), ("time_reopen", &wait)];
        oplog::error("Syslog connection failed", &fields);
        self.place.counters.setbacks.failed(format_args!("{address}: {error}"), None);
        self.route.failed();
        self.state = State::Idle;
    }

    fn established(&mut self, now: Instant) -> Option<L> {
        let State::Connecting(link, address) = std::mem::replace(&mut self.state, State::Idle) else {
            return None;
        };
        oplog::notice(
            "Syslog connection established",
            &[("fd", &link.fd()), ("server", &address), ("local", &local_name(link.socket()))],
        );
        if let Some(session) = link.session() {
            oplog::notice("TLS session established", &[("fd", &link.fd()), ("session", &session)]);
        }
        self.since = now;
        Some(link)
    }

    /// From now on messages can go over the connection.
    pub fn of_use(&mut self, now: Instant) {
        self.unreachable.reached();
        self.since = now;
        if let Some(probing) = &mut self.probing {
            probing.begin(now);
        }
    }

    /// Notes why it is about to end, for whoever asks what messages wait for.
    pub fn breaks(&self, reason: &str, error: Option<&io::Error>) {
        let setbacks = &self.place.counters.setbacks;
        match error {
            Some(error) => setbacks.failed(format_args!("{reason}: {error}"), None),
            None => setbacks.failed(reason, None),
        }
    }

    /// The connection broke: the next server, after a pause when none of them lasts. `of_use`: messages went
    /// over it.
    pub fn broke(&mut self, of_use: bool, now: Instant) {
        self.leaving = false;
        self.route.broke(of_use && self.age(now) >= self.options.time_reopen);
    }

    /// How long the connection has been there, or of use.
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// Whether the connection is to be left: a reload has asked for a new one, or the primary server is back.
    pub fn is_leaving(&self) -> bool {
        self.leaving
    }

    /// Looks whether a reload has asked for new connections.
    pub fn heed_restart(&mut self) {
        self.leaving |= self.place.restart.swap(false, Ordering::Relaxed);
    }

    /// Looks whether the primary server has answered often enough to go back to it. To be called while there
    /// is a connection of use.
    pub fn probe(&mut self, now: Instant) {
        self.leaving = self.leaving || self.is_primary_back(now);
    }

    fn is_primary_back(&mut self, now: Instant) -> bool {
        let Some(probing) = &mut self.probing else { return false };
        if self.route.is_primary() {
            return false;
        }
        let address = if probing.is_due(now) { self.route.primary(&self.place.nudge) } else { None };
        let back = probing.turn(address, &self.options.connect, &self.place, now);
        if back {
            oplog::notice(
                "Primary server reachable again, going back to it",
                &[("server", &self.route.primary_name())],
            );
        }
        back
    }

    /// Begins anew with the first server.
    pub fn go_back(&mut self) {
        self.leaving = false;
        self.stop();
        self.route.go_back();
    }

    /// How long until [`Dialing::advance`] has something new to do by itself; otherwise an event or a nudge
    /// follows.
    pub fn retry_in(&self, now: Instant) -> Option<Duration> {
        match &self.state {
            State::Waiting(until) => Some(until.saturating_duration_since(now)),
            State::Connecting(link, _) => link.settles_in(now),
            State::Idle => None,
        }
    }

    /// The server in use, as configured.
    pub fn server_name(&self) -> &str {
        self.route.server_name()
    }

    /// The last call.
    pub fn close(&mut self) {
        self.stop();
        self.unreachable.set(false);
    }

    fn stop(&mut self) {
        if let State::Connecting(link, _) = std::mem::replace(&mut self.state, State::Idle) {
            link.close();
        }
    }
}
