//! A connected stream, TCP or unix: connects by itself, keeps its place in what it writes, and begins a message anew on a new connection.
//! Over TCP, messages that the peer's kernel has not acknowledged are sent again when a connection breaks.

mod connection;
mod failback;
mod kept;
mod options;
mod secure;
mod unreachable;

use super::finish::finish;
use super::single::Place;
use super::target::{Address, Next, Route, local_name};
use connection::{Connection, Input};
use engine::{Chunk, Progress, Sink, Status};
pub use failback::{Failback, Probing};
use kept::Kept;
pub use options::{Secured, StreamOptions};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::{Connector, Session};
pub use unreachable::Unreachable;

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);

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
    kept: Kept,
    unreachable: Unreachable,
    connected_before: bool,
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
            kept: Kept::default(),
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
        let left = if connection.keeps { connection.unacknowledged() } else { 0 };
        let again = self.kept.broke(left, &self.place);
        match again {
            0 => oplog::error("Connection broken", &[("time_reopen", &wait)]),
            _ => oplog::error("Connection broken", &[("time_reopen", &wait), ("sent_again", &again)]),
        }
        connection.close();
        self.rewind = true;
        self.inside = false;
        self.leaving = false;
        self.route.broke(now.duration_since(self.since) >= self.options.time_reopen);
    }

    /// Ends a connection on purpose, between two messages.
    fn leave(&mut self) {
        self.leaving = false;
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Open(connection) => {
                connection.close();
                self.kept.left(&self.place);
            }
            State::Connecting(connection, _) => connection.close(),
            State::Idle | State::Waiting(_) => {}
        }
        self.route.go_back();
    }

    /// Counts as delivered what the peer's kernel has acknowledged.
    fn settle(&mut self) {
        if let State::Open(connection) = &self.state
            && connection.keeps
            && !self.kept.is_empty()
        {
            self.kept.acknowledged(connection.unacknowledged(), &self.place);
        }
    }

    /// Sends what a broken connection has not brought to its peer.
    fn resend(&mut self) -> io::Result<Sent> {
        while let Some(chunk) = self.kept.again() {
            let State::Open(connection) = &mut self.state else { return Ok(Sent::NotOpen) };
            let bytes = chunk.pending();
            match if bytes.is_empty() { Ok(0) } else { connection.send(bytes) } {
                Ok(n) => self.kept.wrote_again(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.inside = connection.holds() || !chunk.rest().is_empty();
                    return Err(e);
                }
            }
        }
        Ok(Sent::All)
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
        let (keeps, kept, place) = (connection.keeps, &mut self.kept, &self.place);
        if keeps {
            kept.begin(chunk, place);
        }
        let mut wrote = |bytes, messages| match keeps {
            true => {
                kept.wrote(bytes, messages, place);
                progress.delivered(0, bytes);
            }
            false => progress.delivered(messages, bytes),
        };
        // Messages without a byte are done by being looked at.
        wrote(0, chunk.advance(0));
        loop {
            let to_border = self.leaving && !connection.holds();
            let bytes = if to_border { chunk.rest() } else { chunk.pending() };
            if bytes.is_empty() {
                self.inside = false;
                return Ok(if to_border { Sent::Border } else { Sent::All });
            }
            match connection.send(bytes) {
                Ok(n) => wrote(n, chunk.advance(n)),
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
        self.kept.recycle(progress);
        loop {
            self.advance(now);
            if std::mem::take(&mut self.rewind) {
                self.kept.rewind(chunks, &self.place);
                if let Some(chunk) = chunks.front_mut() {
                    chunk.rewind();
                }
                self.inside = false;
            }
            let sent = match (self.resend(), chunks.front_mut()) {
                (Ok(Sent::All), Some(chunk)) => self.send(chunk, progress),
                (Ok(Sent::All), None) => return Status::Done,
                (other, _) => other,
            };
            if self.kept.is_much() {
                self.settle();
                self.kept.recycle(progress);
            }
            match sent {
                Ok(Sent::All) => {
                    if let Some(chunk) = chunks.pop_front() {
                        match &self.state {
                            State::Open(connection) if connection.keeps => self.kept.keep(chunk),
                            _ => progress.finished(chunk),
                        }
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
        self.settle();
        // The queue may be empty, and nobody else would send it.
        match self.resend() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => {
                self.broke("I/O error occurred while writing", Some(&e), now);
            }
            _ => {}
        }
    }

    fn tick(&mut self, now: Instant) {
        self.settle();
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
        self.settle();
        if let State::Open(connection) = std::mem::replace(&mut self.state, State::Idle) {
            connection.close();
            self.kept.left(&self.place);
        }
        let lost = self.kept.give_up(&self.place);
        if lost > 0 {
            let fields: [oplog::Field<'_>; 1] = [("messages", &lost)];
            oplog::error(
                "The peer has not got the last messages, and there is no connection to send them again",
                &fields,
            );
        }
        self.unreachable.set(false);
    }
}

#[cfg(test)]
mod tests;
