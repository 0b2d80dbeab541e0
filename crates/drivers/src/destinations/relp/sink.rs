//! One connection to a RELP server: sends up to a window, and keeps what is not answered for the next connection.

use super::RelpOptions;
use super::session::{Heard, RelpSession};
use crate::destinations::rltp::Link;
use crate::destinations::single::Place;
use crate::destinations::stream::{Probing, Unreachable};
use crate::destinations::target::{Address, Next, Route, local_name};
use crate::destinations::unacked::Unacked;
use engine::ledger::Reason;
use engine::{Chunk, Progress, Sink, Status};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tls::{Connector, Session};

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// A server that has not accepted the session by then does not speak RELP.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// A message that servers refuse so often in a row is dropped: behind it everything would wait for ever.
const REFUSALS_MAX: u32 = 3;

enum State {
    Idle,
    /// After a failure; the time of the next attempt.
    Waiting(Instant),
    Connecting(Link, Address),
    /// Connected; the session may still be about to be opened.
    Session(Link, Box<RelpSession>),
}

pub struct RelpSink {
    place: Place,
    options: Arc<RelpOptions>,
    connector: Option<Arc<Connector>>,
    route: Route,
    state: State,
    since: Instant,
    probing: Option<Probing>,
    unreachable: Unreachable,
    connected_before: bool,
    /// The connection is to be left as soon as everything is answered.
    leaving: bool,
    unacked: Unacked,
    /// How often the next message was refused.
    refusals: u32,
}

impl RelpSink {
    pub fn new(place: Place, route: Route, options: Arc<RelpOptions>) -> RelpSink {
        RelpSink {
            probing: options.failback.clone().map(Probing::new),
            unreachable: Unreachable::new(&place.counters),
            place,
            connector: options.secure.as_ref().and_then(|secured| secured.connector.clone()),
            options,
            route,
            state: State::Idle,
            since: Instant::now(),
            connected_before: false,
            leaving: false,
            unacked: Unacked::default(),
            refusals: 0,
        }
    }

    /// Does whatever can be done to be connected, without waiting.
    fn advance(&mut self, now: Instant) {
        loop {
            match &mut self.state {
                State::Session(_, session) if session.is_open() => return,
                State::Session(..) if now.saturating_duration_since(self.since) < OPEN_MAX => return,
                State::Session(..) => self.left("the server does not answer as RELP servers do", None, now),
                State::Waiting(until) if now < *until => return,
                State::Waiting(_) => self.state = State::Idle,
                State::Connecting(link, address) => match link.is_established() {
                    Ok(true) => self.established(now),
                    Ok(false) if now.saturating_duration_since(self.since) < CONNECT_MAX => return,
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
        let opened = self.secure_session().and_then(|session| {
            let socket = self.options.connect.stream(&address)?;
            Link::new(socket, &self.place, session)
        });
        match opened {
            Ok(link) => self.state = State::Connecting(link, address),
            Err(error) => self.failed(&address, &error),
        }
    }

    /// What a new connection begins with, when it is encrypted.
    fn secure_session(&mut self) -> io::Result<Option<Session>> {
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
        self.route.failed();
        self.state = State::Idle;
    }

    fn established(&mut self, now: Instant) {
        let State::Connecting(link, address) = std::mem::replace(&mut self.state, State::Idle) else {
            return;
        };
        oplog::notice(
            "Syslog connection established",
            &[("fd", &link.fd()), ("server", &address), ("local", &local_name(&link.socket))],
        );
        if let Some(session) = link.session() {
            oplog::notice("TLS session established", &[("fd", &link.fd()), ("session", &session)]);
        }
        self.since = now;
        self.state = State::Session(link, Box::new(RelpSession::new(self.options.window)));
        // A new socket has room for the few bytes that open the session.
        if let Err(error) = self.flush() {
            self.left("the RELP session cannot be opened", Some(&error), now);
        }
    }

    /// The server has accepted the session.
    fn opened(&mut self, software: &str, now: Instant) {
        oplog::notice("RELP session established", &[("software", &software)]);
        self.unreachable.set(false);
        if std::mem::replace(&mut self.connected_before, true) {
            self.place.counters.reconnects.add(1);
        }
        self.since = now;
        if let Some(probing) = &mut self.probing {
            probing.begin(now);
        }
    }

    /// Hears what the server says.
    fn listen(&mut self, now: Instant) {
        let State::Session(link, session) = &mut self.state else { return };
        let outcome = link.receive(session.input());
        let mut heard = Heard::default();
        let understood = session.hear(&mut heard);
        if let Some(software) = &heard.opened {
            self.opened(software, now);
        }
        if heard.acknowledged > 0 {
            self.refusals = 0;
            if !self.unacked.acknowledge(heard.acknowledged) {
                return self.left("the server answers more than was sent", None, now);
            }
        }
        if let Some(why) = heard.refused {
            self.refusals += 1;
            return self.left(&format!("the server cannot take a message: {why}"), None, now);
        }
        match (understood, outcome) {
            (Err(why), _) => self.left(&why, None, now),
            (_, Err(error)) => self.left("I/O error occurred while reading", Some(&error), now),
            _ if heard.ended => self.left("the server has ended the session", None, now),
            (_, Ok(false)) => self.left("EOF occurred while idle", None, now),
            _ => {}
        }
    }

    /// The connection is of no use any more: what is not answered is sent again on the next one.
    fn left(&mut self, reason: &str, error: Option<&io::Error>, now: Instant) {
        let State::Session(link, session) = std::mem::replace(&mut self.state, State::Idle) else { return };
        let wait = self.options.time_reopen.as_secs();
        let unanswered = self.unacked.messages();
        let common: [oplog::Field<'_>; 3] =
            [("reason", &reason), ("time_reopen", &wait), ("unacknowledged", &unanswered)];
        match error {
            Some(error) => {
                oplog::error("Connection broken", &[common[0], ("error", error), common[1], common[2]])
            }
            None => oplog::error("Connection broken", &common),
        }
        let lasted = session.is_open()
            && self.refusals == 0
            && now.saturating_duration_since(self.since) >= self.options.time_reopen;
        link.close();
        self.unacked.reset();
        self.leaving = false;
        self.route.broke(lasted);
    }

    /// Goes elsewhere on purpose, once nothing is on the way.
    fn leave(&mut self) {
        if !self.leaving || self.unacked.messages() > 0 {
            return;
        }
        self.leaving = false;
        self.end();
        self.route.go_back();
    }

    /// Ends the session and the connection.
    fn end(&mut self) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Session(mut link, mut session) => {
                session.close();
                let _ = link.send(&session.out, &[]);
                link.close();
                self.unacked.reset();
            }
            State::Connecting(link, _) => link.close(),
            State::Idle | State::Waiting(_) => {}
        }
    }

    /// Whether the primary server has answered often enough to go back to it.
    fn probe(&mut self, now: Instant) {
        let Some(probing) = &mut self.probing else { return };
        if matches!(self.state, State::Session(..)) && !self.route.is_primary() && !self.leaving {
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

    /// Sends the frames that are made. `WouldBlock` when not all of them went.
    fn flush(&mut self) -> io::Result<()> {
        let State::Session(link, session) = &mut self.state else { return Ok(()) };
        let mut gone = 0;
        let outcome = loop {
            let rest = session.out.get(gone..).unwrap_or_default();
            if rest.is_empty() {
                break link.flush();
            }
            match link.send(rest, &[]) {
                Ok(n) => gone += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        session.out.drain(..gone);
        outcome?;
        if link.is_clear() { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    /// Sends messages until the window or the socket is full.
    fn send(&mut self, chunks: &mut VecDeque<Chunk>) -> io::Result<()> {
        loop {
            self.flush()?;
            let State::Session(_, session) = &mut self.state else { return Ok(()) };
            if self.leaving {
                return Ok(());
            }
            // Small chunks share a piece.
            let mut count = 0;
            while let Some(chunk) = self.unacked.next(chunks).and_then(|at| chunks.get_mut(at)) {
                let sent = session.send(chunk);
                if sent == 0 {
                    break;
                }
                self.unacked.sent(chunk, sent);
                count += sent;
            }
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Drops the next message when it was refused too often.
    fn give_up(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) {
        let idle = !matches!(self.state, State::Session(..)) && self.unacked.acknowledged() == 0;
        if self.refusals < REFUSALS_MAX || !idle {
            return;
        }
        let Some(chunk) = chunks.front_mut() else { return };
        self.refusals = 0;
        chunk.skip(1);
        progress.dropped(Reason::Refused, 1);
        oplog::limited(
            "relp-refused",
            oplog::Level::Error,
            "Message dropped, the server refuses it again and again",
            &[("server", &self.route.server_name())],
        );
        if chunk.is_empty()
            && let Some(chunk) = chunks.pop_front()
        {
            progress.finished(chunk);
        }
    }
}

impl Sink for RelpSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        if !self.unacked.settle(chunks, progress) {
            self.left("internal error contained while sending", None, now);
        }
        loop {
            self.give_up(chunks, progress);
            self.advance(now);
            match &self.state {
                State::Session(..) => {}
                State::Waiting(until) if !chunks.is_empty() => {
                    let wait = until.saturating_duration_since(now);
                    return self.unacked.ended(Status::Retry(wait));
                }
                _ => return self.unacked.status(chunks),
            }
            match self.send(chunks) {
                Ok(()) => return self.unacked.status(chunks),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return self.unacked.status(chunks),
                Err(e) => self.left("I/O error occurred while writing", Some(&e), now),
            }
        }
    }

    fn event(&mut self) {
        let now = Instant::now();
        if self.place.restart.swap(false, Ordering::Relaxed) {
            self.leaving = true;
        }
        self.advance(now);
        self.listen(now);
        self.probe(now);
        self.leave();
        self.advance(now);
    }

    fn tick(&mut self, now: Instant) {
        self.probe(now);
        self.leave();
        self.advance(now);
    }

    fn close(&mut self) {
        self.end();
        self.unreachable.set(false);
    }
}
