//! One connection to a receiver that acknowledges: sends batches up to a window, resumes where the receiver says after a cut.

use super::RltpOptions;
mod connecting;
mod hearing;

use super::batch;
use super::identity::{self, Stream};
use super::link::Link;
use crate::destinations::single::Place;
use crate::destinations::stream::{Probing, Unreachable};
use crate::destinations::target::{Address, Next, Route};
use crate::destinations::unacked::Unacked;
use engine::{Chunk, Progress, Sink, Status};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::Connector;
use wire::rltp::{self, Packer};

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// A server that has not said what it speaks by then speaks something else.
const GREETING_MAX: Duration = Duration::from_secs(10);
/// When nothing else was said for so long, a ping is.
const PING_EVERY: Duration = Duration::from_secs(10);
/// A receiver that is silent for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);

enum State {
    Idle,
    /// After a failure; the time of the next attempt.
    Waiting(Instant),
    Connecting(Link, Address),
    /// The receiver is to say where to go on; whether it has said that it speaks rltp.
    Greeting(Link, bool),
    Open(Link),
}

/// A batch that was sent and is not acknowledged.
struct Sent {
    sequence: u64,
    messages: usize,
    bytes: usize,
}

pub struct RltpSink {
    place: Place,
    options: Arc<RltpOptions>,
    connector: Option<Arc<Connector>>,
    route: Route,
    state: State,
    since: Instant,
    probing: Option<Probing>,
    unreachable: Unreachable,
    connected_before: bool,
    /// The connection is to be left as soon as everything is acknowledged.
    leaving: bool,
    stream: Stream,
    lane: u16,
    /// The numbering in use, and the number of the next batch in it.
    run: u64,
    next: u64,
    unacked: Unacked,
    sent: VecDeque<Sent>,
    in_flight_bytes: usize,
    payload_max: usize,
    packer: Option<Packer>,
    head: Vec<u8>,
    /// Taken from the queue, and not by the kernel.
    out: Vec<u8>,
    gone: usize,
    input: Vec<u8>,
    heard: Instant,
    said: Instant,
}

impl RltpSink {
    pub fn new(place: Place, route: Route, options: Arc<RltpOptions>, stream: Stream, lane: u16) -> RltpSink {
        let now = Instant::now();
        RltpSink {
            probing: options.failback.clone().map(Probing::new),
            unreachable: Unreachable::new(&place.counters),
            place,
            connector: options.secure.as_ref().and_then(|secured| secured.connector.clone()),
            options,
            route,
            state: State::Idle,
            since: now,
            connected_before: false,
            leaving: false,
            stream,
            lane,
            run: identity::run(),
            next: 1,
            unacked: Unacked::default(),
            sent: VecDeque::new(),
            in_flight_bytes: 0,
            payload_max: 0,
            packer: None,
            head: Vec::new(),
            out: Vec::new(),
            gone: 0,
            input: Vec::new(),
            heard: now,
            said: now,
        }
    }

    /// Does whatever can be done to be connected, without waiting.
    fn advance(&mut self, now: Instant) {
        loop {
            match &mut self.state {
                State::Open(_) => return,
                State::Waiting(until) if now < *until => return,
                State::Waiting(_) => self.state = State::Idle,
                State::Greeting(_, true) => return,
                State::Greeting(..) if now.saturating_duration_since(self.since) < GREETING_MAX => return,
                State::Greeting(..) => {
                    let text = "the server does not answer: it has to be a penstock that listens with transport(rltp)";
                    self.refused(text.to_owned());
                }
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

    fn broke(&mut self, reason: &'static str, error: Option<&io::Error>, now: Instant) {
        if !matches!(self.state, State::Open(_) | State::Greeting(..)) {
            return;
        }
        let wait = self.options.time_reopen.as_secs();
        match error {
            Some(error) => oplog::error(reason, &[("error", error)]),
            None => oplog::notice(reason, &[]),
        }
        oplog::error(
            "Connection broken",
            &[("time_reopen", &wait), ("unacknowledged", &self.unacked.messages())],
        );
        let is_open = matches!(self.state, State::Open(_));
        self.end(is_open && now.saturating_duration_since(self.since) >= self.options.time_reopen);
    }

    /// Leaves the connection. What is not acknowledged stays so until a receiver says what it has. `lasted`: it was of use.
    fn end(&mut self, lasted: bool) {
        if let State::Open(link) | State::Greeting(link, _) = std::mem::replace(&mut self.state, State::Idle)
        {
            link.close();
        }
        self.leaving = false;
        self.route.broke(lasted);
    }

    /// Goes elsewhere on purpose, when nothing is on the way.
    fn leave(&mut self) {
        let idle = self.unacked.messages() == 0 && self.out.len() == self.gone;
        if !self.leaving || (!idle && matches!(self.state, State::Open(_))) {
            return;
        }
        self.leaving = false;
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Open(link) | State::Greeting(link, _) | State::Connecting(link, _) => link.close(),
            State::Idle | State::Waiting(_) => {}
        }
        self.route.go_back();
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

    /// Sends what was taken from the queue before.
    fn flush(&mut self) -> io::Result<()> {
        let State::Open(link) = &mut self.state else { return Ok(()) };
        link.flush()?;
        while let Some(rest) = self.out.get(self.gone..).filter(|rest| !rest.is_empty()) {
            match link.send(rest, &[]) {
                Ok(n) => self.gone += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.out.clear();
        self.gone = 0;
        match link.is_clear() {
            true => Ok(()),
            false => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Sends batches until the window or the socket is full.
    fn send(&mut self, chunks: &mut VecDeque<Chunk>, now: Instant) -> io::Result<()> {
        loop {
            self.flush()?;
            let State::Open(link) = &mut self.state else { return Ok(()) };
            if self.leaving || (self.in_flight_bytes >= self.options.wishes.window && !self.sent.is_empty()) {
                return Ok(());
            }
            let Some(chunk) = self.unacked.next(chunks).and_then(|at| chunks.get_mut(at)) else {
                return Ok(());
            };
            let Some(cut) = batch::cut(chunk, self.payload_max) else { return Ok(()) };
            let (messages, bytes) = (cut.messages, cut.payload.bytes.len());
            if cut.truncated {
                self.place.counters.truncated.add(1);
            }
            self.head.clear();
            let rest = batch::write(&mut self.head, self.next, cut.payload(), self.packer.as_mut());
            let outcome = match link.send(&self.head, rest) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
                other => other,
            };
            if let Ok(taken) = outcome
                && taken < self.head.len() + rest.len()
            {
                // Kept whole, so that the queue may be looked at in parts meanwhile.
                self.out.extend_from_slice(self.head.get(taken..).unwrap_or_default());
                self.out
                    .extend_from_slice(rest.get(taken.saturating_sub(self.head.len())..).unwrap_or_default());
            }
            self.sent.push_back(Sent { sequence: self.next, messages, bytes });
            self.next = self.next.wrapping_add(1);
            self.in_flight_bytes += bytes;
            self.unacked.sent(chunk, messages);
            self.said = now;
            if chunk.sent() == chunk.messages() {
                // From here on the window bounds it: only sources that acknowledge in their turn have to wait for it.
                chunk.tickets.retain(|ticket| ticket.is_marked());
            }
            outcome?;
        }
    }
}

impl Sink for RltpSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        if !self.unacked.settle(chunks, progress) {
            self.broke("Internal error contained while sending", None, now);
        }
        loop {
            self.advance(now);
            match &self.state {
                State::Open(_) => {}
                State::Waiting(until) => {
                    let wait = until.saturating_duration_since(now);
                    return if chunks.is_empty() {
                        self.unacked.ended(Status::Done)
                    } else {
                        self.unacked.ended(Status::Retry(wait))
                    };
                }
                _ => return self.unacked.status(chunks),
            }
            match self.send(chunks, now) {
                Ok(()) => return self.unacked.status(chunks),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return self.unacked.status(chunks),
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
        self.listen(now);
        self.probe(now);
        self.leave();
        self.advance(now);
    }

    fn tick(&mut self, now: Instant) {
        self.probe(now);
        self.leave();
        if matches!(self.state, State::Open(_) | State::Greeting(_, true))
            && now.saturating_duration_since(self.heard) >= SILENCE_MAX
        {
            self.broke("The server is silent", None, now);
        }
        if matches!(self.state, State::Open(_)) && now.saturating_duration_since(self.said) >= PING_EVERY {
            self.said = now;
            rltp::ping(&mut self.out);
        }
        match self.flush() {
            Err(e) if e.kind() != ErrorKind::WouldBlock => {
                self.broke("I/O error occurred while writing", Some(&e), now);
            }
            _ => {}
        }
        self.advance(now);
    }

    fn close(&mut self) {
        if let State::Open(link) | State::Greeting(link, _) = std::mem::replace(&mut self.state, State::Idle)
        {
            link.close();
        }
        self.unreachable.set(false);
    }
}
