//! A connected stream, TCP or unix: connects by itself, keeps its place in what it writes, and begins a message anew on a new connection.

mod connection;
mod failback;
mod secure;

use super::finish::finish;
use super::single::Place;
use super::target::{Address, Connect, Next, Route, local_name};
use connection::{Connection, Input};
use engine::ledger::DestinationCounters;
use engine::{Chunk, Progress, Sink, Status};
pub use failback::{Failback, Probing};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::{Connector, Session};

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);

pub struct StreamOptions {
    pub connect: Connect,
    pub close_on_input: bool,
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

enum State {
    Idle,
    /// After a failure; the time of the next attempt.
    Waiting(Instant),
    Connecting(Connection, Address),
    Open(Connection),
}

pub struct StreamSink {
    place: Place,
    options: Arc<StreamOptions>,
    connector: Option<Arc<Connector>>,
    route: Route,
    state: State,
    since: Instant,
    probing: Option<Probing>,
    /// The connection is to be left at the end of the message that is being written.
    leaving: bool,
    /// A message was begun and not finished.
    inside: bool,
    /// The connection such a message was begun on is gone.
    rewind: bool,
    unreachable: Unreachable,
    connected_before: bool,
}

/// The note in the ledger that a destination cannot be reached, taken back when it is dropped.
pub struct Unreachable {
    counters: Arc<DestinationCounters>,
    is: bool,
}

impl Unreachable {
    pub fn new(counters: &Arc<DestinationCounters>) -> Unreachable {
        Unreachable { counters: Arc::clone(counters), is: false }
    }

    pub fn set(&mut self, is: bool) {
        match (std::mem::replace(&mut self.is, is), is) {
            (false, true) => self.counters.unreachable.add(1),
            (true, false) => self.counters.unreachable.sub(1),
            _ => {}
        }
    }
}

impl Drop for Unreachable {
    fn drop(&mut self) {
        self.set(false);
    }
}

impl StreamSink {
    pub fn new(place: Place, route: Route, options: Arc<StreamOptions>) -> StreamSink {
        StreamSink {
            probing: options.failback.clone().map(Probing::new),
            unreachable: Unreachable::new(&place.counters),
            place,
            connector: options.secure.as_ref().and_then(|secured| secured.connector.clone()),
            options,
            route,
            state: State::Idle,
            since: Instant::now(),
            leaving: false,
            inside: false,
            rewind: false,
            connected_before: false,
        }
    }

    /// Does whatever can be done to be connected, without waiting.
    fn advance(&mut self, now: Instant) {
        loop {
            match &mut self.state {
                State::Open(_) => return,
                State::Waiting(until) if now < *until => return,
                State::Waiting(_) => self.state = State::Idle,
                State::Connecting(connection, address) => match connection.is_established(now) {
                    Ok(true) => self.established(now),
                    Ok(false) if now.duration_since(self.since) < CONNECT_MAX => return,
                    outcome => {
                        let error = outcome.err().unwrap_or_else(|| ErrorKind::TimedOut.into());
                        let address = address.clone();
                        self.failed(&address, &error);
                    }
                },
                State::Idle => match self.route.next(&self.place.nudge) {
                    Next::Try(address) => self.connect(address, now),
                    Next::Asking => return,
                    Next::Pause => {
                        self.unreachable.set(true);
                        self.state = State::Waiting(now + self.options.time_reopen);
                        return;
                    }
                },
            }
        }
    }

    fn connect(&mut self, address: Address, now: Instant) {
        self.since = now;
        let opened = self.session().and_then(|session| {
            let socket = self.options.connect.stream(&address)?;
            Connection::new(socket, &self.place, session)
        });
        match opened {
            Ok(connection) => self.state = State::Connecting(connection, address),
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
        oplog::error(
            "Syslog connection failed",
            &[("server", address), ("error", error), ("time_reopen", &self.options.time_reopen.as_secs())],
        );
        self.route.failed();
        self.state = State::Idle;
    }

    fn established(&mut self, now: Instant) {
        let State::Connecting(connection, address) = std::mem::replace(&mut self.state, State::Idle) else {
            return;
        };
        oplog::notice(
            "Syslog connection established",
            &[("fd", &connection.fd()), ("server", &address), ("local", &local_name(&connection.socket))],
        );
        if let Some(session) = connection.session() {
            oplog::notice("TLS session established", &[("fd", &connection.fd()), ("session", &session)]);
        }
        self.unreachable.set(false);
        if std::mem::replace(&mut self.connected_before, true) {
            self.place.counters.reconnects.add(1);
        }
        self.since = now;
        self.state = State::Open(connection);
        if let Some(probing) = &mut self.probing {
            probing.begin(now);
        }
    }

    fn broke(&mut self, reason: &'static str, error: Option<&io::Error>, now: Instant) {
        let State::Open(connection) = std::mem::replace(&mut self.state, State::Idle) else { return };
        let (fd, wait) = (connection.fd(), self.options.time_reopen.as_secs());
        match error {
            Some(error) => oplog::error(reason, &[("fd", &fd), ("error", error)]),
            None => oplog::notice(reason, &[("fd", &fd)]),
        }
        oplog::error("Connection broken", &[("time_reopen", &wait)]);
        connection.close();
        self.rewind = true;
        self.inside = false;
        self.leaving = false;
        self.route.broke(now.duration_since(self.since) >= self.options.time_reopen);
    }

    /// Ends a connection on purpose, between two messages.
    fn leave(&mut self) {
        self.leaving = false;
        if let State::Open(connection) | State::Connecting(connection, _) =
            std::mem::replace(&mut self.state, State::Idle)
        {
            connection.close();
        }
        self.route.go_back();
    }

    /// Notices what the peer did.
    fn look(&mut self, now: Instant) {
        let State::Open(connection) = &mut self.state else { return };
        match connection.input() {
            Ok(Input::Nothing) => {}
            Ok(Input::Data) if !self.options.close_on_input => {}
            Ok(Input::Data) => self.broke("The server sent data on a connection that only sends", None, now),
            Ok(Input::End) => self.broke("EOF occurred while idle", None, now),
            Err(error) => self.broke("I/O error occurred while idle", Some(&error), now),
        }
    }

    /// Whether the primary server has answered often enough to go back to it.
    fn probe(&mut self, now: Instant) {
        let Some(probing) = &mut self.probing else { return };
        if matches!(self.state, State::Open(_)) && !self.route.is_primary() && !self.leaving {
            let address = if probing.is_due(now) { self.route.primary(&self.place.nudge) } else { None };
            if probing.turn(address, &self.options.connect, &self.place, now) {
                oplog::notice(
                    "Primary server reachable again, going back to it",
                    &[("server", &self.route.primary_name())],
                );
                self.leaving = true;
            }
        }
    }

    fn status(&self, now: Instant) -> Status {
        match &self.state {
            State::Waiting(until) => Status::Retry(until.saturating_duration_since(now)),
            State::Connecting(connection, _) => {
                connection.settles_in(now).map_or(Status::Blocked, Status::Retry)
            }
            // An event or a nudge follows.
            _ => Status::Blocked,
        }
    }

    /// Writes one chunk as far as it goes.
    fn send(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>) -> io::Result<Sent> {
        let State::Open(connection) = &mut self.state else { return Ok(Sent::NotOpen) };
        // Messages without a byte are done by being looked at.
        progress.delivered(chunk.advance(0), 0);
        loop {
            let to_border = self.leaving && !connection.holds();
            let bytes = if to_border { chunk.rest() } else { chunk.pending() };
            if bytes.is_empty() {
                self.inside = false;
                return Ok(if to_border { Sent::Border } else { Sent::All });
            }
            match connection.send(bytes) {
                Ok(n) => {
                    let done = chunk.advance(n);
                    progress.delivered(done, n);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.inside = connection.holds() || !chunk.rest().is_empty();
                    return Err(e);
                }
            }
        }
    }
}

enum Sent {
    All,
    /// At the end of a message, with more to come that belongs on another connection.
    Border,
    NotOpen,
}

impl Sink for StreamSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        loop {
            self.advance(now);
            let Some(chunk) = chunks.front_mut() else { return Status::Done };
            if std::mem::take(&mut self.rewind) {
                chunk.rewind();
                self.inside = false;
            }
            match self.send(chunk, progress) {
                Ok(Sent::All) => {
                    if let Some(chunk) = chunks.pop_front() {
                        progress.finished(chunk);
                    }
                }
                Ok(Sent::Border) => self.leave(),
                Ok(Sent::NotOpen) => return self.status(now),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Status::Blocked,
                Err(e) => self.broke("I/O error occurred while writing", Some(&e), now),
            }
        }
    }

    fn event(&mut self) {
        let now = Instant::now();
        if self.place.restart.swap(false, std::sync::atomic::Ordering::Relaxed) {
            self.leaving = true;
        }
        self.advance(now);
        self.look(now);
        self.probe(now);
        if self.leaving && !self.inside {
            self.leave();
        }
        self.advance(now);
    }

    fn tick(&mut self, now: Instant) {
        self.probe(now);
        if self.leaving && !self.inside {
            self.leave();
        }
        self.advance(now);
    }

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, until: Instant) {
        if !self.inside || self.rewind {
            return;
        }
        let State::Open(connection) = &mut self.state else { return };
        if let Err(error) = finish(connection, chunk, progress, until) {
            let fields: [oplog::Field<'_>; 2] = [("fd", &connection.fd()), ("error", &error)];
            oplog::notice("The server does not take the end of a message, it will get it whole", &fields);
            self.leave();
        }
        self.inside = false;
    }

    fn close(&mut self) {
        if let State::Open(connection) = std::mem::replace(&mut self.state, State::Idle) {
            connection.close();
        }
        self.unreachable.set(false);
    }
}

#[cfg(test)]
mod tests;
