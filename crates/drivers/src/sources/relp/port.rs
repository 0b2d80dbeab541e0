//! One RELP peer: whole batches of its messages are read, and answered with one write once they are dealt
//! with.

mod leaving;

use super::answers::{Answers, Run, push, send};
use engine::hand_over::Part;
use engine::reader::{Described, Input, SLAB_BYTES};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read};
use intake::farewell::Farewell;
use intake::listener::{Joined, MADE_ROOM, Permit};
use record::{Batch, Context, Record, Span};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::relp::{self, Command, Frame, Offers, Reader};

/// The same where the log paths are costly, see the reader of plain streams.
const SHARED_SLAB_BYTES: usize = SLAB_BYTES / 2;
/// A read that brings this much shows a sender that is ahead of us.
const BUSY_BYTES: usize = 64 * 1024;
/// Room after the received bytes for text made on the way.
const ARENA_BYTES: usize = 16 * 1024;
/// Reads in one turn; then the worker's other connections have theirs.
const TURN_READS: usize = 4;
/// From a peer that does not take so many bytes of answers nothing more is read.
const OUT_BYTES_MAX: usize = 256 * 1024;
/// A client that has not opened its session by then is turned away.
const OPEN_MAX: Duration = Duration::from_secs(10);

pub struct RelpPort {
    input: Box<dyn Input>,
    reader: Reader,
    /// The unfinished frame of the last read.
    tail: Vec<u8>,
    feed: Feed,
    answers: Arc<Answers>,
    /// Answers that the peer has not taken yet.
    out: Vec<u8>,
    phase: Phase,
    context: Arc<Context>,
    described: Described,
    idle_timeout: Option<Duration>,
    fetch_limit: Option<usize>,
    empty_lines: bool,
    encoding: Option<conf_schema::Encoding>,
    /// Bytes of the longest message.
    size_max: usize,
    began: Instant,
    last_read: Instant,
    /// No message has come yet.
    silent: bool,
    queued: bool,
    hung_up: bool,
    failure: Option<String>,
    /// Nothing is read any more, only answered.
    farewell: Option<Farewell>,
    /// One of max-connections(), until it is left.
    permit: Option<Permit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing was said yet.
    New,
    Open,
    /// The peer ends the session: this is to be answered after everything else.
    Closing(u32),
    /// Everything was said.
    Closed,
}

impl RelpPort {
    pub fn new(connection: Joined, cx: &PortContext, token: mio::Token) -> RelpPort {
        let Joined { input, source, accepted, context, described, permit } = connection;
        source.counters.connections.add(1);
        RelpPort {
            input,
            reader: Reader::new(accepted.framing.log_msg_size),
            tail: Vec::new(),
            feed: Feed::new(source, None, cx, token),
            answers: Answers::new(cx.handle.waker(token)),
            out: Vec::new(),
            phase: Phase::New,
            context,
            described,
            idle_timeout: accepted.idle_timeout,
            fetch_limit: accepted.fetch_limit,
            empty_lines: accepted.framing.empty_lines,
            encoding: accepted.encoding,
            size_max: accepted.framing.log_msg_size,
            began: Instant::now(),
            last_read: Instant::now(),
            silent: true,
            queued: false,
            hung_up: false,
            failure: None,
            farewell: None,
            permit: Some(permit),
        }
    }

    /// Reads once. `Err` says what the turn comes to.
    fn step(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        if matches!(self.phase, Phase::Closing(_) | Phase::Closed) || self.out.len() >= OUT_BYTES_MAX {
            return Err(After::Idle);
        }
        if !self.feed.may_read() {
            return Err(After::Idle);
        }
        let mut batch = cx.batch();
        batch.text.reserve(self.tail.len() + SLAB_BYTES + ARENA_BYTES);
        batch.text.extend_from_slice(&self.tail);
        let began = Instant::now();
        let wanted = if self.feed.is_costly() { SHARED_SLAB_BYTES } else { SLAB_BYTES };
        let read = match self.input.read(&mut batch.text, wanted) {
            Ok(0) => {
                cx.recycle(batch);
                return Err(After::Close);
            }
            Ok(n) => n,
            Err(error) => {
                cx.recycle(batch);
                return Err(match error.kind() {
                    ErrorKind::WouldBlock => After::Idle,
                    ErrorKind::Interrupted => After::Again,
                    _ => {
                        self.failure = Some(error.to_string());
                        After::Close
                    }
                });
            }
        };
        let always_ready = self.input.always_ready();
        let (runs, outcome) = self.scan(&mut batch);
        let messages = batch.records.len();
        if messages > 0 && std::mem::take(&mut self.silent) {
            self.permit.iter().for_each(Permit::speaks);
        }
        self.run(batch, runs, Read { bytes: read, busy: read >= BUSY_BYTES, began, mark: None }, cx);
        if let Err(why) = outcome {
            oplog::limited(
                "relp",
                oplog::Level::Error,
                "RELP peer does not keep to the protocol, closing the connection",
                &[("client", &self.described.client), ("error", &why)],
            );
            self.feed.source.counters.transport_errors.add(engine::ledger::TransportError::Protocol);
            self.failure = Some(why);
            return Err(After::Close);
        }
        if read < wanted && !self.hung_up && !always_ready {
            return Err(After::Idle);
        }
        Ok(messages)
    }

    /// Finds the frames of a read: messages become records, everything else is answered at once.
    fn scan(&mut self, batch: &mut Batch) -> (Vec<Run>, Result<(), String>) {
        let (text, records) = (&batch.text, &mut batch.records);
        let (phase, out, empty_lines) = (&mut self.phase, &mut self.out, self.empty_lines);
        let mut runs = Vec::new();
        let mut wrong = None;
        let outcome = self.reader.scan(text, |frame| {
            let Frame { txnr, command, data } = frame;
            match (command, *phase) {
                // What comes after a mistake or the end is not looked at.
                _ if wrong.is_some() => {}
                (_, Phase::Closing(_) | Phase::Closed) => {}
                (Command::Syslog, Phase::Open) => {
                    push(&mut runs, txnr);
                    let span = trimmed(text, data);
                    if span.len > 0 || empty_lines {
                        records.push(Record::new(span));
                    }
                }
                (Command::Open, Phase::New) => match Offers::parse(data.of(text)).check() {
                    Ok(()) => {
                        relp::accept(out, txnr);
                        *phase = Phase::Open;
                    }
                    Err(why) => {
                        relp::refuse(out, txnr, &why);
                        wrong = Some(why);
                    }
                },
                (Command::Close, _) => *phase = Phase::Closing(txnr),
                (_, Phase::New) => wrong = Some("it does not begin with `open`".to_owned()),
                _ => {
                    relp::refuse(out, txnr, "this command is not expected here");
                    wrong = Some(format!("unexpected {command:?} command"));
                }
            }
        });
        self.tail.clear();
        match outcome {
            Ok(consumed) => self.tail.extend_from_slice(text.get(consumed..).unwrap_or_default()),
            Err(error) => wrong = Some(error.to_string()),
        }
        if let Some(encoding) = self.encoding {
            intake::encoding::decode_frames(encoding, self.size_max, batch);
        }
        (runs, wrong.map_or(Ok(()), Err))
    }

    /// Whether another connection gets its place.
    fn makes_room(&mut self) -> bool {
        let goes = self.silent && self.permit.as_ref().is_some_and(Permit::is_to_go);
        if goes {
            self.failure = Some(MADE_ROOM.to_owned());
        }
        goes
    }

    /// Whether it has begun no session in the time it has for that.
    fn is_mute(&self, now: Instant) -> bool {
        let limit = self.idle_timeout.map_or(OPEN_MAX, |idle| idle.min(OPEN_MAX));
        self.phase == Phase::New && !self.queued && now.saturating_duration_since(self.began) >= limit
    }

    fn run(&mut self, mut batch: Batch, runs: Vec<Run>, read: Read, cx: &mut PortContext) {
        self.feed.source.counters.truncated.add(self.reader.take_truncated() as usize);
        let mark = (!runs.is_empty()).then(|| self.answers.mark(runs));
        batch.contexts.push(Arc::clone(&self.context));
        self.feed.run_marked(batch, Read { mark, ..read }, cx);
    }

    /// Writes the answers that are due. Whether the session is over.
    fn answer(&mut self) -> bool {
        let is_last = self.answers.end(&mut self.out);
        if let Phase::Closing(txnr) = self.phase
            && is_last
        {
            relp::frame(&mut self.out, txnr, "rsp", &[]);
            relp::serverclose(&mut self.out);
            self.phase = Phase::Closed;
        }
        let usable = send(&mut *self.input, &mut self.out);
        !usable || self.answers.is_undone() || (self.phase == Phase::Closed && self.out.is_empty())
    }
}

/// A message without the ends of line and NULs at its end.
fn trimmed(text: &[u8], span: Span) -> Span {
    let message = span.of(text);
    let length = message.iter().rposition(|b| !matches!(b, b'\r' | b'\n' | 0)).map_or(0, |last| last + 1);
    Span::new(span.start as usize, length)
}

impl Port for RelpPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if self.farewell.is_some() {
            return self.go_on_leaving();
        }
        self.answers.begin();
        let mut fetched = 0;
        let mut after = After::Again;
        for _ in 0..TURN_READS {
            let full = self.out.len() >= OUT_BYTES_MAX;
            let step = self.step(cx);
            if !matches!(step, Err(After::Close)) && !full {
                self.last_read = Instant::now();
            }
            match step {
                Ok(messages) => {
                    fetched += messages;
                    if self.fetch_limit.is_some_and(|limit| fetched >= limit) {
                        break;
                    }
                }
                Err(then) => {
                    after = then;
                    break;
                }
            }
        }
        let full = self.out.len() >= OUT_BYTES_MAX;
        let over = self.answer();
        match after {
            _ if over => After::Close,
            // What it has sent is still answered, where it listens.
            After::Close if self.begin_leaving(cx) => After::Again,
            After::Idle if self.makes_room() => After::Close,
            // There is room for answers again, and perhaps something to read.
            After::Idle if full && self.out.len() < OUT_BYTES_MAX => After::Again,
            after => after,
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn hung_up(&mut self) {
        self.hung_up = true;
    }

    fn tick(&mut self, now: Instant) -> bool {
        if let Some(farewell) = &self.farewell {
            return !farewell.is_late(now);
        }
        if self.is_mute(now) {
            self.failure = Some("it did not open a session in time".to_owned());
            return false;
        }
        match self.idle_timeout {
            Some(limit) if now.duration_since(self.last_read) >= limit => {
                self.failure = Some("idle-timeout() passed".to_owned());
                false
            }
            _ => true,
        }
    }

    fn closed(&mut self, cx: &mut PortContext) {
        self.input.deregister(cx.handle.registry());
        self.feed.source.counters.connections.sub(1);
        self.described.say_closed(self.failure.as_ref());
    }

    fn leave(&mut self, cx: &mut PortContext) -> bool {
        self.begin_leaving(cx)
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.farewell.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.farewell.is_none().then_some(&self.feed.source)
    }
}
