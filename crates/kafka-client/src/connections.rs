//! Connections to the brokers of a cluster: to those that are needed, and to one of the configured servers
//! while there is none of them.

use crate::Server;
use crate::connection::{Connection, Dial, News};
use delivery::link::Owner;
use kafka::{Fault, Session};
use std::sync::Arc;
use std::time::Instant;

/// A broker that is known, and whether it is needed.
pub struct Broker<'a> {
    pub id: i32,
    pub host: &'a str,
    pub port: u16,
    pub is_needed: bool,
}

pub struct Connections {
    seat: Owner,
    dial: Arc<Dial>,
    /// `bootstrap-servers()`.
    servers: Arc<[Server]>,
    /// Which of them is asked next.
    server: usize,
    all: Vec<Connection>,
}

impl Connections {
    pub fn new(seat: Owner, dial: Arc<Dial>, servers: Arc<[Server]>) -> Connections {
        Connections { seat, dial, servers, server: 0, all: Vec::new() }
    }

    /// How many there are, numbered from 0.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn get(&self, at: usize) -> Option<&Connection> {
        self.all.get(at)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Connection> {
        self.all.iter()
    }

    /// The first that can be asked something and fits.
    pub fn ready(&self, fits: impl Fn(&Connection) -> bool) -> Option<usize> {
        self.all.iter().position(|connection| connection.may_ask() && fits(connection))
    }

    pub fn session(&mut self, at: usize) -> Option<&mut Session> {
        self.all.get_mut(at)?.session()
    }

    /// Begins those that are wanted. `true`: a configured server, which was asked for others, was let go.
    pub fn keep<'a>(&mut self, brokers: impl Iterator<Item = Broker<'a>>, now: Instant) -> bool {
        let Connections { dial, all, .. } = self;
        let mut is_known = false;
        for Broker { id, host, port, is_needed } in brokers {
            is_known |= is_needed;
            let made = || Connection::new(Some(id), (host.to_owned(), port), dial, now);
            match all.iter_mut().find(|connection| connection.node == Some(id)) {
                Some(known) if known.server.0 == host && known.server.1 == port => {}
                None if !is_needed => {}
                // A broker that has moved: what is on the way to it goes again from the new connection.
                Some(known) if known.is_ready() => {}
                Some(known) => *known = made(),
                None => all.push(made()),
            }
        }
        if all.iter().any(|connection| connection.node.is_some() && connection.is_ready()) {
            let before = all.len();
            all.retain_mut(|connection| {
                let keeps = connection.node.is_some();
                if !keeps {
                    connection.close();
                }
                keeps
            });
            return all.len() < before;
        }
        let asks = all.iter().any(|connection| connection.node.is_none());
        let fails = is_known && all.iter().any(Connection::is_waiting);
        if !asks
            && (!is_known || fails)
            && let Some(server) = self.servers.get(self.server % self.servers.len().max(1))
        {
            all.push(Connection::new(None, server.clone(), dial, now));
        }
        false
    }

    /// What is new on one. `waits`: since when an answer is awaited.
    pub fn turn(&mut self, at: usize, waits: Option<Instant>, now: Instant) -> Option<News> {
        let connection = self.all.get_mut(at)?;
        if waits.is_some_and(|since| now.saturating_duration_since(since) >= self.dial.answer_max) {
            let why = format!("{}: the broker does not answer", connection.name());
            return Some(connection.lost(&self.dial, Fault::Broken(why), now));
        }
        connection.turn(&self.dial, &self.seat, now)
    }

    /// One is lost: of the configured servers the next one takes its place. Returns whose it was, if it was
    /// that of a broker.
    pub fn lost(&mut self, at: usize) -> Option<i32> {
        let connection = self.all.get_mut(at)?;
        if connection.node.is_none() {
            self.server = self.server.wrapping_add(1);
            if let Some(server) = self.servers.get(self.server % self.servers.len().max(1)) {
                connection.move_to(server.clone(), &self.dial);
            }
        }
        connection.node
    }

    /// Sends what was said on one; the fault says why it is lost.
    pub fn said(&mut self, at: usize, outcome: Result<(), Fault>, now: Instant) -> Option<Fault> {
        let connection = self.all.get_mut(at)?;
        let news = match outcome {
            Ok(()) => connection.flush_or_lose(&self.dial, now),
            Err(fault) => Some(connection.lost(&self.dial, fault, now)),
        };
        match news {
            Some(News::Lost(fault)) => Some(fault),
            _ => None,
        }
    }

    /// An event says that something may have changed.
    pub fn restart(&mut self) {
        self.all.iter_mut().for_each(Connection::restart);
    }

    pub fn close(&mut self) {
        self.all.iter_mut().for_each(Connection::close);
        self.all.clear();
    }
}
