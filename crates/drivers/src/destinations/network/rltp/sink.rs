//! One connection to a receiver that acknowledges: sends batches up to a window, resumes where the receiver
//! says after a cut.

mod hearing;
mod resuming;

use super::Wishes;
use super::batch;
use super::identity::Stream;
use delivery::dialing::{DialOptions, Dialed, Dialing};
use delivery::link::Link;
use delivery::single::SinkContext;
use delivery::target::{Route, ends};
use delivery::unacked::Unacked;
use diag::Fault;
use engine::{Chunk, Progress, Sink, Status, Ticket};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::rltp::{self, Hello, Number, Packer};

/// A server that has not said what it speaks by then speaks something else.
const GREETING_MAX: Duration = Duration::from_secs(10);
/// When nothing else was said for so long, a ping is.
const PING_EVERY: Duration = Duration::from_secs(10);
/// A receiver that is silent for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How far a connection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The receiver is to say that it speaks rltp.
    Silent,
    /// It is to say where to go on.
    Speaking,
    Welcome,
}

/// A batch that was sent and is not acknowledged.
struct Sent {
    sequence: u64,
    messages: usize,
    bytes: usize,
}

pub struct RltpSink {
    dialing: Dialing<Link>,
    wishes: Wishes,
    open: Option<Link>,
    /// Of the connection.
    phase: Phase,
    stream: Stream,
    lane: u16,
    /// The numbering in use, and the number of the next batch in it.
    run: u64,
    next: u64,
    /// Of what is on disk, the receiver has everything before this number.
    reached: Option<u64>,
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
    /// `at`: the stream, and the lane of it that this connection is.
    pub fn new(
        place: SinkContext,
        route: Route,
        options: Arc<DialOptions>,
        wishes: Wishes,
        (stream, lane): (Stream, u16),
    ) -> RltpSink {
        let now = Instant::now();
        RltpSink {
            dialing: Dialing::new(place, route, options),
            wishes,
            open: None,
            phase: Phase::Silent,
            stream,
            lane,
            // None yet: it is made when it is needed, and kept before it is used.
            run: 0,
            next: 1,
            reached: None,
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
        if self.open.is_some() && self.phase == Phase::Silent && self.dialing.age(now) >= GREETING_MAX {
            let text =
                "the server does not answer: it has to be a penstock that listens with transport(rltp)";
            self.refused(&Fault::unreachable(text), now);
        }
        while self.open.is_none() {
            let Some(link) = self.dialing.advance(now) else { return };
            self.greet(link, now);
        }
    }

    /// Connected: says who it is.
    fn greet(&mut self, mut link: Link, now: Instant) {
        let (oldest, newest) = rltp::VERSIONS;
        let packs = self.wishes.level.is_some();
        let hello = rltp::hello(&Hello { oldest, newest, packs, lane: self.lane, stream: self.stream.id() });
        self.input.clear();
        self.out.clear();
        self.gone = 0;
        (self.heard, self.said) = (now, now);
        self.phase = Phase::Silent;
        // A new socket has room for so few bytes.
        let said = link.send(&hello, &[]);
        self.open = Some(link);
        if let Err(error) = said {
            self.broke("I/O error occurred while writing", Some(&error), now);
        }
    }

    /// Whether messages can go over the connection.
    fn is_welcome(&self) -> bool {
        self.open.is_some() && self.phase == Phase::Welcome
    }

    fn broke(&mut self, reason: &'static str, error: Option<&io::Error>, now: Instant) {
        if self.open.is_none() {
            return;
        }
        let wait = self.dialing.options.time_reopen.as_secs();
        match error {
            Some(error) => oplog::error(reason, &[("error", error)]),
            None => oplog::notice(reason, &[]),
        }
        oplog::error(
            "Connection broken",
            &[("time_reopen", &wait), ("unacknowledged", &self.unacked.messages())],
        );
        self.dialing.breaks(reason, error);
        self.end(self.is_welcome(), now);
    }

    /// Leaves the connection. What is not acknowledged stays so until a receiver says what it has. `of_use`:
    /// messages could go over it.
    fn end(&mut self, of_use: bool, now: Instant) {
        if let Some(link) = self.open.take() {
            link.close();
        }
        self.dialing.broke(of_use, now);
    }

    /// Goes elsewhere on purpose, when nothing is on the way.
    fn leave(&mut self) {
        let idle = self.unacked.messages() == 0 && self.out.len() == self.gone;
        if !self.dialing.is_leaving() || (!idle && self.is_welcome()) {
            return;
        }
        if let Some(link) = self.open.take() {
            link.close();
        }
        self.dialing.go_back();
    }

    fn probe(&mut self, now: Instant) {
        if self.is_welcome() {
            self.dialing.probe(now);
        }
    }

    /// Sends what was taken from the queue before.
    fn flush(&mut self) -> io::Result<()> {
        let Some(link) = self.open.as_mut().filter(|_| self.phase == Phase::Welcome) else { return Ok(()) };
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
            let Some(link) = self.open.as_mut().filter(|_| self.phase == Phase::Welcome) else {
                return Ok(());
            };
            if self.dialing.is_leaving()
                || (self.in_flight_bytes >= self.wishes.window && !self.sent.is_empty())
            {
                return Ok(());
            }
            let Some(chunk) = self.unacked.next(chunks).and_then(|at| chunks.get_mut(at)) else {
                return Ok(());
            };
            let Some(cut) = batch::cut(chunk, self.payload_max) else { return Ok(()) };
            let (messages, bytes) = (cut.messages, cut.payload.bytes.len());
            if cut.truncated {
                self.dialing.place.counters.truncated.add(1);
            }
            self.head.clear();
            let number = Number { sequence: self.next, position: self.stream.position(chunk, messages) };
            let rest = batch::write(&mut self.head, number, cut.payload(), self.packer.as_mut());
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
            let before = chunk.sent();
            for (place, receipt) in chunk.receipts(before..before + messages) {
                let place = (place - before) as u64;
                let which = [("batch", self.next.into()), ("message", place.into())];
                receipt.at(ends(link.socket()).into_iter().chain(which));
            }
            self.sent.push_back(Sent { sequence: self.next, messages, bytes });
            self.next = self.next.wrapping_add(1);
            self.in_flight_bytes += bytes;
            self.unacked.sent(chunk, messages);
            self.said = now;
            if chunk.sent() == chunk.messages() {
                // From here on the window bounds it: only sources that acknowledge in their turn have to wait
                // for it.
                chunk.tickets.settle_unless(Ticket::is_marked);
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
            self.leave_out(chunks, progress);
            if !self.is_welcome() {
                return match self.dialing.retry_in(now).filter(|_| !chunks.is_empty()) {
                    Some(wait) => self.unacked.ended(Status::Retry(wait)),
                    None => self.unacked.status(chunks),
                };
            }
            match self.send(chunks, now) {
                Ok(()) => return self.unacked.status(chunks),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return self.unacked.status(chunks),
                Err(e) => self.broke("I/O error occurred while writing", Some(&e), now),
            }
        }
    }

    fn is_numbered(&self) -> bool {
        true
    }

    fn event(&mut self) {
        let now = Instant::now();
        self.dialing.heed_restart();
        self.advance(now);
        self.listen(now);
        self.probe(now);
        self.leave();
        self.advance(now);
    }

    fn tick(&mut self, now: Instant) {
        self.probe(now);
        self.leave();
        if self.open.is_some()
            && self.phase != Phase::Silent
            && now.saturating_duration_since(self.heard) >= SILENCE_MAX
        {
            self.broke("The server is silent", None, now);
        }
        if self.is_welcome() && now.saturating_duration_since(self.said) >= PING_EVERY {
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

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        if let Some(link) = self.open.take() {
            link.close();
        }
        self.dialing.close();
    }
}
