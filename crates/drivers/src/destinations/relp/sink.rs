//! One connection to a RELP server: sends up to a window, and keeps what is not answered for the next
//! connection.

use super::session::{Heard, RelpSession};
use delivery::dialing::{DialOptions, Dialed, Dialing};
use delivery::link::Link;
use delivery::single::SinkContext;
use delivery::target::{Route, ends};
use delivery::unacked::Unacked;
use engine::ledger::Reason;
use engine::{Chunk, Progress, Sink, Status};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::relp;

/// A server that has not accepted the session by then does not speak RELP.
const OPEN_MAX: Duration = Duration::from_secs(10);
/// A message that servers refuse so often in a row is dropped: behind it everything would wait for ever.
const REFUSALS_MAX: u32 = 3;

/// Connected; the session may still be about to be opened.
struct Open {
    link: Link,
    session: RelpSession,
}

pub struct RelpSink {
    dialing: Dialing<Link>,
    /// Messages sent and not acknowledged.
    window: usize,
    open: Option<Open>,
    unacked: Unacked,
    /// How often the next message was refused.
    refusals: u32,
    /// With what words.
    refusal: String,
    /// When it is sent again on the same connection.
    again: Option<Instant>,
    /// When the outlet will be called for that.
    timer: Option<Instant>,
}

impl RelpSink {
    pub fn new(place: SinkContext, route: Route, options: Arc<DialOptions>, window: usize) -> RelpSink {
        RelpSink {
            dialing: Dialing::new(place, route, options),
            window,
            open: None,
            unacked: Unacked::default(),
            refusals: 0,
            refusal: String::new(),
            again: None,
            timer: None,
        }
    }

    /// Does whatever can be done to be connected, without waiting.
    fn advance(&mut self, now: Instant) {
        if self.open.as_ref().is_some_and(|open| !open.session.is_open()) && self.dialing.age(now) >= OPEN_MAX
        {
            self.left("the server does not answer as RELP servers do", None, now);
        }
        while self.open.is_none() {
            let Some(link) = self.dialing.advance(now) else { return };
            self.open = Some(Open { link, session: RelpSession::new(self.window) });
            // A new socket has room for the few bytes that open the session.
            if let Err(error) = self.flush() {
                self.left("the RELP session cannot be opened", Some(&error), now);
            }
        }
    }

    /// The server has accepted the session.
    fn opened(&mut self, software: &str, now: Instant) {
        oplog::notice("RELP session established", &[("software", &software)]);
        self.dialing.of_use(now);
    }

    /// Hears what the server says.
    fn listen(&mut self, now: Instant) {
        let Some(Open { link, session }) = &mut self.open else { return };
        let outcome = link.receive(session.input());
        let mut heard = Heard::default();
        let understood = session.hear(&mut heard);
        if let Some(software) = &heard.opened {
            self.opened(software, now);
        }
        let has_ended = heard.ended;
        if !self.heard(heard, now) {
            return;
        }
        match (understood, outcome) {
            (Err(fault), _) => self.left(fault.said(), None, now),
            (_, Err(error)) => self.left("I/O error occurred while reading", Some(&error), now),
            _ if has_ended => self.left("the server has ended the session", None, now),
            (_, Ok(false)) => self.left("EOF occurred while idle", None, now),
            _ => {}
        }
    }

    /// Counts what is answered. `false` when the connection is left because of that.
    fn heard(&mut self, heard: Heard, now: Instant) -> bool {
        if heard.acknowledged > 0 {
            self.refusals = 0;
            if !self.unacked.acknowledge(heard.acknowledged) {
                self.left("the server answers more than was sent", None, now);
                return false;
            }
        }
        if let Some(why) = heard.refused {
            self.refused(why, now);
        }
        true
    }

    /// The server does not take the next message.
    fn refused(&mut self, why: String, now: Instant) {
        self.refusals += 1;
        self.again = Some(now + self.dialing.options.time_reopen);
        oplog::limited(
            "relp-refusal",
            oplog::Level::Warning,
            "The server cannot take a message",
            &[("server", &self.dialing.server_name()), ("reason", &why), ("refusals", &self.refusals)],
        );
        self.refusal = why;
    }

    /// What becomes of a message that the server has refused, once all others on the way are answered. Says
    /// when it is sent again.
    fn mend(
        &mut self,
        chunks: &mut VecDeque<Chunk>,
        progress: &mut Progress<'_>,
        now: Instant,
    ) -> Option<Instant> {
        loop {
            let session = self.open.as_mut().map(|open| &mut open.session)?;
            if !session.is_refused() || session.is_awaiting() {
                return None;
            }
            let (_, chunk) = self.unacked.first(chunks)?;
            if self.refusals >= REFUSALS_MAX {
                let mut heard = Heard::default();
                session.pass(&mut heard);
                let why = self.dropped();
                self.unacked.drop_first(chunks, progress, &why);
                self.heard(heard, now);
                continue;
            }
            if !session.has_taken() {
                // It may not be the messages: nothing is doubled by asking another server.
                let why = format!("the server cannot take a message: {}", self.refusal);
                self.left(&why, None, now);
                return None;
            }
            if self.again.is_none_or(|at| at <= now) {
                session.send_again(chunk.front().unwrap_or_default());
                self.again = None;
            }
            return self.again;
        }
    }

    /// Says that the next message is dropped. Returns why.
    fn dropped(&mut self) -> String {
        self.refusals = 0;
        oplog::limited(
            "relp-refused",
            oplog::Level::Error,
            "Message dropped, the server refuses it again and again",
            &[("server", &self.dialing.server_name())],
        );
        format!("the server refuses it again and again: {}", self.refusal)
    }

    /// The connection is of no use any more: what is not answered is sent again on the next one.
    fn left(&mut self, reason: &str, error: Option<&io::Error>, now: Instant) {
        let Some(Open { link, session }) = self.open.take() else { return };
        let wait = self.dialing.options.time_reopen.as_secs();
        let unanswered = self.unacked.messages();
        let common: [oplog::Field<'_>; 3] =
            [("reason", &reason), ("time_reopen", &wait), ("unacknowledged", &unanswered)];
        match error {
            Some(error) => {
                oplog::error("Connection broken", &[common[0], ("error", error), common[1], common[2]])
            }
            None => oplog::error("Connection broken", &common),
        }
        self.dialing.breaks(reason, error);
        link.close();
        self.unacked.reset();
        self.dialing.broke(session.is_open() && self.refusals == 0, now);
    }

    /// Goes elsewhere on purpose, once nothing is on the way.
    fn leave(&mut self) {
        if !self.dialing.is_leaving() || self.unacked.messages() > 0 {
            return;
        }
        self.end();
        self.dialing.go_back();
    }

    /// Ends the session and the connection.
    fn end(&mut self) {
        let Some(Open { mut link, mut session }) = self.open.take() else { return };
        session.close();
        let _ = link.send(session.output(), &[]);
        link.close();
        self.unacked.reset();
    }

    fn probe(&mut self, now: Instant) {
        if self.open.as_ref().is_some_and(|open| open.session.is_open()) {
            self.dialing.probe(now);
        }
    }

    /// Sends the frames that are made. `WouldBlock` when not all of them went.
    fn flush(&mut self) -> io::Result<()> {
        let Some(Open { link, session }) = &mut self.open else { return Ok(()) };
        while !session.output().is_empty() {
            match link.send(session.output(), &[]) {
                Ok(n) => session.sent(n),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        link.flush()?;
        if link.is_clear() { Ok(()) } else { Err(ErrorKind::WouldBlock.into()) }
    }

    /// Sends messages until the window or the socket is full.
    fn send(&mut self, chunks: &mut VecDeque<Chunk>) -> io::Result<()> {
        loop {
            self.flush()?;
            let Some(Open { session, link }) = &mut self.open else { return Ok(()) };
            if self.dialing.is_leaving() {
                return Ok(());
            }
            // Small chunks share a piece.
            let mut count = 0;
            while let Some(chunk) = self.unacked.next(chunks).and_then(|at| chunks.get_mut(at)) {
                let (before, first) = (chunk.sent(), session.next_number());
                let sent = session.send(chunk);
                if sent == 0 {
                    break;
                }
                for (place, receipt) in chunk.receipts(before..before + sent) {
                    let number = (before..place).fold(first, |number, _| relp::next(number));
                    let transaction = ("transaction", u64::from(number).into());
                    receipt.at(ends(link.socket()).into_iter().chain([transaction]));
                }
                self.unacked.sent(chunk, sent);
                count += sent;
            }
            if count == 0 {
                return Ok(());
            }
        }
    }

    /// Ends a `write`. `again`: when a message that was refused is sent again.
    fn rest(&mut self, chunks: &VecDeque<Chunk>, again: Option<Instant>, now: Instant) -> Status {
        let status = self.unacked.status(chunks);
        self.timer = self.timer.filter(|at| *at > now);
        match again.filter(|at| status == Status::Blocked && self.timer.is_none_or(|timer| timer > *at)) {
            // The outlet is called once for a time.
            Some(at) => {
                self.timer = Some(at);
                Status::Wait(at.saturating_duration_since(now))
            }
            None => status,
        }
    }

    /// Drops the next message when it was refused too often.
    fn give_up(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) {
        let idle = self.open.is_none() && self.unacked.acknowledged() == 0;
        if self.refusals < REFUSALS_MAX || !idle {
            return;
        }
        let Some(chunk) = chunks.front_mut() else { return };
        let why = self.dropped();
        chunk.say_dropped(0..1, Reason::Refused, &why);
        progress.refused(&why, chunk.front().unwrap_or_default());
        chunk.skip(1);
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
            let again = self.mend(chunks, progress, now);
            self.give_up(chunks, progress);
            self.advance(now);
            if self.open.is_none() {
                return match self.dialing.retry_in(now).filter(|_| !chunks.is_empty()) {
                    Some(wait) => self.unacked.ended(Status::Retry(wait)),
                    None => self.unacked.status(chunks),
                };
            }
            match self.send(chunks) {
                Ok(()) => return self.rest(chunks, again, now),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return self.rest(chunks, again, now),
                Err(e) => {
                    // What the server has answered before it went need not be sent again.
                    self.listen(now);
                    self.left("I/O error occurred while writing", Some(&e), now);
                }
            }
        }
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
        self.advance(now);
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        self.end();
        self.dialing.close();
    }
}
