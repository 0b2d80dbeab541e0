//! A connected stream, TCP or unix: connects by itself, keeps its place in what it writes, and begins a
//! message anew on a new connection. Over TCP, messages that the peer's kernel has not acknowledged are sent
//! again when a connection breaks.

mod connection;
mod kept;
mod secure;

use super::dialing::{DialOptions, Dialed, Dialing};
use super::finish::finish;
use super::single::SinkContext;
use super::target::{Route, ends};
use connection::{Connection, Input};
use engine::{Chunk, Progress, Sink, Status};
use kept::Kept;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Instant;

pub struct StreamSink {
    dialing: Dialing<Connection>,
    close_on_input: bool,
    open: Option<Connection>,
    /// A message was begun and not finished.
    inside: bool,
    /// The connection such a message was begun on is gone.
    rewind: bool,
    kept: Kept,
}

impl StreamSink {
    pub fn new(
        place: SinkContext,
        route: Route,
        options: Arc<DialOptions>,
        close_on_input: bool,
    ) -> StreamSink {
        StreamSink {
            dialing: Dialing::new(place, route, options),
            close_on_input,
            open: None,
            inside: false,
            rewind: false,
            kept: Kept::default(),
        }
    }

    /// Does whatever can be done to be connected, without waiting.
    fn advance(&mut self, now: Instant) {
        if self.open.is_none() {
            self.open = self.dialing.advance(now);
            if self.open.is_some() {
                self.dialing.of_use(now);
            }
        }
    }

    fn broke(&mut self, reason: &'static str, error: Option<&io::Error>, now: Instant) {
        let Some(connection) = self.open.take() else { return };
        let (fd, wait) = (connection.fd(), self.dialing.options.time_reopen.as_secs());
        match error {
            Some(error) => oplog::error(reason, &[("fd", &fd), ("error", error)]),
            None => oplog::notice(reason, &[("fd", &fd)]),
        }
        self.dialing.breaks(reason, error);
        let left = if connection.keeps { connection.unacknowledged() } else { 0 };
        let again = self.kept.broke(left, &self.dialing.place);
        match again {
            0 => oplog::error("Connection broken", &[("time_reopen", &wait)]),
            _ => oplog::error("Connection broken", &[("time_reopen", &wait), ("sent_again", &again)]),
        }
        // What will be sent again must not come the old way as well.
        match left {
            0 => connection.close(),
            _ => connection.abort(),
        }
        self.rewind = true;
        self.inside = false;
        self.dialing.broke(true, now);
    }

    /// Ends a connection on purpose, between two messages.
    fn leave(&mut self) {
        if let Some(connection) = self.open.take() {
            connection.close();
            self.kept.left(&self.dialing.place);
        }
        self.dialing.go_back();
    }

    /// Counts as delivered what the peer's kernel has acknowledged.
    fn settle(&mut self) {
        if let Some(connection) = &self.open
            && connection.keeps
            && !self.kept.is_empty()
        {
            self.kept.acknowledged(connection.unacknowledged(), &self.dialing.place);
        }
    }

    /// Ends the connection in order, if there is one.
    fn shut(&mut self) {
        self.settle();
        if let Some(connection) = self.open.take() {
            connection.close();
            self.kept.left(&self.dialing.place);
        }
    }

    /// After a break, what the peer has not of the chunk that was being written is to be sent again.
    fn take_cut(&mut self, queue: &mut VecDeque<Chunk>) -> bool {
        let is_cut = std::mem::take(&mut self.rewind);
        if is_cut {
            self.kept.rewind(queue, &self.dialing.place);
        }
        is_cut
    }

    /// Sends what a broken connection has not brought to its peer.
    fn resend(&mut self) -> io::Result<Sent> {
        while let Some(chunk) = self.kept.again() {
            let Some(connection) = &mut self.open else { return Ok(Sent::NotOpen) };
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

    /// Sends again what is to be: the queue may be empty, and nobody else would, least of all where only time
    /// had to pass until an encrypted connection was good.
    fn go_on(&mut self, now: Instant) {
        match self.resend() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => {
                self.broke("I/O error occurred while writing", Some(&e), now);
            }
            _ => {}
        }
    }

    /// Notices what the peer did.
    fn look(&mut self, now: Instant) {
        let Some(connection) = &mut self.open else { return };
        match connection.input() {
            Ok(Input::Nothing) => {}
            Ok(Input::Data) if !self.close_on_input => {}
            Ok(Input::Data) => self.broke("The server sent data on a connection that only sends", None, now),
            Ok(Input::End) => self.broke("EOF occurred while idle", None, now),
            Err(error) => self.broke("I/O error occurred while idle", Some(&error), now),
        }
    }

    fn probe(&mut self, now: Instant) {
        if self.open.is_some() {
            self.dialing.probe(now);
        }
    }

    /// Writes one chunk as far as it goes.
    fn send(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>) -> io::Result<Sent> {
        let Some(connection) = &mut self.open else { return Ok(Sent::NotOpen) };
        let (keeps, kept, place) = (connection.keeps, &mut self.kept, &self.dialing.place);
        if keeps {
            kept.begin(chunk, place);
        }
        let mut wrote = |bytes, whole| match keeps {
            true => kept.wrote(bytes, whole, place),
            false => progress.delivered(whole),
        };
        // Messages without a byte are done by being looked at.
        wrote(0, chunk.advance(0));
        loop {
            let to_border = self.dialing.is_leaving() && !connection.holds();
            let bytes = if to_border { chunk.rest() } else { chunk.pending() };
            if bytes.is_empty() {
                self.inside = false;
                return Ok(if to_border { Sent::Border } else { Sent::All });
            }
            match connection.send(bytes) {
                Ok(n) => {
                    let whole = chunk.advance(n);
                    for (_, receipt) in chunk.written_receipts(whole) {
                        receipt.at(ends(connection.socket()));
                        if !keeps {
                            receipt.delivered();
                        }
                    }
                    wrote(n, whole);
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
            if self.take_cut(chunks) {
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
            }
            match sent {
                Ok(Sent::All) => {
                    if let Some(chunk) = chunks.pop_front() {
                        match &self.open {
                            Some(connection) if connection.keeps => self.kept.keep(chunk),
                            _ => progress.finished(chunk),
                        }
                    }
                }
                Ok(Sent::Border) => self.leave(),
                // Without a time, an event or a nudge follows.
                Ok(Sent::NotOpen) => {
                    return self.dialing.retry_in(now).map_or(Status::Blocked, Status::Retry);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Status::Blocked,
                Err(e) => self.broke("I/O error occurred while writing", Some(&e), now),
            }
        }
    }

    fn event(&mut self) {
        let now = Instant::now();
        self.dialing.heed_restart();
        self.advance(now);
        self.look(now);
        self.probe(now);
        if self.dialing.is_leaving() && !self.inside {
            self.leave();
        }
        self.advance(now);
        self.settle();
        self.go_on(now);
    }

    fn tick(&mut self, now: Instant) {
        self.settle();
        self.probe(now);
        if self.dialing.is_leaving() && !self.inside {
            self.leave();
        }
        self.advance(now);
        self.go_on(now);
    }

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, until: Instant) {
        if !self.inside || self.rewind {
            return;
        }
        let Some(connection) = &mut self.open else { return };
        let (keeps, kept, place) = (connection.keeps, &mut self.kept, &self.dialing.place);
        let wrote = |bytes, whole| match keeps {
            true => kept.wrote(bytes, whole, place),
            false => progress.delivered(whole),
        };
        if let Err(error) = finish(connection, chunk, wrote, until) {
            let fields: [oplog::Field<'_>; 2] = [("fd", &connection.fd()), ("error", &error)];
            oplog::notice("The server does not take the end of a message, it will get it whole", &fields);
            self.leave();
        } else if keeps && chunk.is_empty() {
            self.kept.keep(std::mem::take(chunk));
        }
        self.inside = false;
    }

    fn unsettled(&self) -> usize {
        self.kept.messages()
    }

    fn kept(&self, queue: &VecDeque<Chunk>) -> Vec<Chunk> {
        self.kept.copies(queue)
    }

    fn let_go(&mut self) {
        self.kept.let_go();
    }

    fn ask_peer(&mut self) -> bool {
        if self.kept.is_awaited() {
            self.settle();
        }
        self.kept.is_awaited()
    }

    fn guarded(&self) -> usize {
        self.kept.guarded()
    }

    fn kept_bytes(&self) -> usize {
        self.kept.bytes()
    }

    fn close_unsettled(&mut self, queue: &mut VecDeque<Chunk>) -> VecDeque<Chunk> {
        self.shut();
        self.take_cut(queue);
        self.dialing.close();
        self.kept.take_again()
    }

    fn part(&mut self, queue: &mut VecDeque<Chunk>) {
        self.shut();
        self.take_cut(queue);
        self.kept.put_back(queue);
        self.inside = false;
    }

    fn close(&mut self, queue: &mut VecDeque<Chunk>) {
        self.part(queue);
        self.dialing.close();
    }
}

#[cfg(test)]
mod tests;
