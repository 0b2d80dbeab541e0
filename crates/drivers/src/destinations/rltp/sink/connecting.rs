//! The way to a connection: an attempt at the server whose turn it is, and the first word on it.

use super::{RltpSink, State};
use crate::destinations::rltp::link::Link;
use crate::destinations::target::{Address, local_name};
use std::io;
use std::time::Instant;
use tls::{Connector, Session};
use wire::rltp::{self, Hello};

impl RltpSink {
    pub(super) fn connect(&mut self, address: Address, now: Instant) {
        self.since = now;
        let opened = self.session().and_then(|session| {
            let socket = self.options.connect.stream(&address)?;
            Link::new(socket, &self.place, session)
        });
        match opened {
            Ok(link) => self.state = State::Connecting(link, address),
            Err(error) => self.failed(&address, &error),
        }
    }

    /// The session a new connection begins with, when it is encrypted.
    pub(super) fn session(&mut self) -> io::Result<Option<Session>> {
        let Some(secured) = &self.options.secure else { return Ok(None) };
        let connector = match &self.connector {
            Some(connector) => connector,
            None => self.connector.insert(Connector::load(&secured.options).map_err(io::Error::other)?),
        };
        connector.session(self.route.server_name()).map(Some).map_err(io::Error::other)
    }

    pub(super) fn failed(&mut self, address: &Address, error: &io::Error) {
        oplog::error(
            "Syslog connection failed",
            &[("server", address), ("error", error), ("time_reopen", &self.options.time_reopen.as_secs())],
        );
        self.route.failed();
        self.state = State::Idle;
    }

    /// Connected: says who it is.
    pub(super) fn established(&mut self, now: Instant) {
        let State::Connecting(mut link, address) = std::mem::replace(&mut self.state, State::Idle) else {
            return;
        };
        let (oldest, newest) = rltp::VERSIONS;
        let packs = self.options.wishes.level.is_some();
        let hello = rltp::hello(&Hello { oldest, newest, packs, lane: self.lane, stream: self.stream.id() });
        self.input.clear();
        self.out.clear();
        self.gone = 0;
        // A new socket has room for so few bytes.
        if let Err(error) = link.send(&hello, &[]) {
            return self.failed(&address, &error);
        }
        oplog::notice(
            "Syslog connection established",
            &[("fd", &link.fd()), ("server", &address), ("local", &local_name(&link.socket))],
        );
        if let Some(session) = link.session() {
            oplog::notice("TLS session established", &[("fd", &link.fd()), ("session", &session)]);
        }
        (self.since, self.heard, self.said) = (now, now, now);
        self.state = State::Greeting(link, false);
    }
}
