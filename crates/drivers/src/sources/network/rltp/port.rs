//! One sender's connection: greets it, reads its batches, tells it what was dealt with.

mod answers;
mod careful;
mod greeting;
mod leaving;

use super::Rltp;
use super::slab::{self, Limits, Scanned};
use super::stream::{Claim, Superseded};
use engine::hand_over::Part;
use engine::reader::{Described, Input, SLAB_BYTES};
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read, Wake};
use intake::farewell::Farewell;
use intake::listener::{Accepted, Joined, MADE_ROOM, Permit};
use mio::Token;
use record::{Batch, Context};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::rltp::{self, Number, Welcome, code};

/// A sender that has not said who it is by then is turned away.
const HELLO_MAX: Duration = Duration::from_secs(10);
/// When nothing else was said for so long, a ping is.
const PING_EVERY: Duration = Duration::from_secs(10);
/// A sender that is silent for so long is gone.
const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Reads in one turn; then the worker's other connections have theirs.
const TURN_READS: usize = 4;
/// A read that brings this much shows a sender that is ahead of us.
const BUSY_BYTES: usize = 64 * 1024;
/// Bytes asked for at once where they come compressed: they will be several times as many.
const PACKED_BYTES: usize = 48 * 1024;
/// Room after the received bytes for text made on the way.
const ARENA_BYTES: usize = 16 * 1024;
/// Answers a sender leaves unread before it is hung up on.
const ANSWERS_BYTES_MAX: usize = 64 * 1024;

enum Phase {
    Hello,
    /// What an earlier connection of the stream brought comes before what this one brings.
    Waiting(Welcome),
    /// The sender is to say which numbering it begins.
    Greeted,
    /// The number of the next batch.
    Open(u64),
}

pub struct RltpPort {
    input: Box<dyn Input>,
    accepted: Arc<Accepted>,
    context: Arc<Context>,
    described: Described,
    rltp: Rltp,
    limits: Limits,
    feed: Feed,
    waker: Arc<dyn Wake>,
    phase: Phase,
    claim: Option<Claim>,
    /// The unfinished frame of the last read, or all that came of it so far in a batch's place.
    tail: Vec<u8>,
    partial: Option<Batch>,
    /// Batches are taken one by one from the tail, of which so many bytes are through.
    careful: bool,
    through: usize,
    /// Answers; `sent` bytes of them are gone.
    out: Vec<u8>,
    sent: usize,
    /// The newest batch that the sender knows to be dealt with.
    told: u64,
    packs: bool,
    began: Instant,
    heard: Instant,
    said: Instant,
    /// Of the last message.
    fed: Instant,
    /// There is no credit, so nothing can be heard.
    starved: bool,
    queued: bool,
    hung_up: bool,
    failure: Option<String>,
    /// Nothing is read any more, only acknowledged.
    farewell: Option<Farewell>,
    /// One of max-connections(), until it is left.
    permit: Option<Permit>,
}

impl RltpPort {
    pub fn new(connection: Joined, rltp: Rltp, cx: &PortContext, token: Token) -> RltpPort {
        let Joined { input, source, accepted, context, described, permit } = connection;
        source.counters.connections.add(1);
        let now = Instant::now();
        let payload_bytes_max = rltp.payload_bytes_max as usize;
        RltpPort {
            input,
            limits: Limits { payload_bytes_max, framing: accepted.framing },
            feed: Feed::new(source, None, cx, token),
            waker: cx.handle.waker(token),
            accepted,
            context,
            described,
            rltp,
            phase: Phase::Hello,
            claim: None,
            tail: Vec::new(),
            partial: None,
            careful: false,
            through: 0,
            out: Vec::new(),
            sent: 0,
            told: 0,
            packs: false,
            began: now,
            heard: now,
            said: now,
            fed: now,
            starved: false,
            queued: false,
            hung_up: false,
            failure: None,
            farewell: None,
            permit: Some(permit),
        }
    }

    /// Reads once. `Err` says what the turn comes to.
    fn step(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        self.starved = !self.feed.may_read();
        if self.starved {
            return Err(After::Idle);
        }
        let began = Instant::now();
        let mut batch = self.partial.take().unwrap_or_else(|| {
            let mut batch = cx.batch();
            batch.text.extend_from_slice(&self.tail);
            self.tail.clear();
            batch
        });
        let slab = if self.packs { PACKED_BYTES } else { SLAB_BYTES };
        let wanted = slab.max(self.missing(&batch.text));
        batch.text.reserve(wanted + ARENA_BYTES);
        let outcome = self.input.read(&mut batch.text, wanted);
        let read = match outcome {
            Ok(read) if read > 0 => read,
            other => {
                self.keep(batch, cx);
                return Err(self.no_more(other));
            }
        };
        self.heard = began;
        if let Phase::Hello = self.phase {
            let after = self.hello(&batch.text);
            let taken = if let Phase::Hello = self.phase { 0 } else { rltp::HELLO_BYTES };
            self.tail.extend_from_slice(batch.text.get(taken..).unwrap_or_default());
            cx.recycle(batch);
            return Err(after);
        }
        let messages = self.take(batch, read, began, cx)?;
        // Taken one by one, what came behind the start waits in the tail, and no event will tell of it.
        if self.careful {
            return Ok(messages);
        }
        if read < wanted && !self.hung_up && !self.input.always_ready() {
            return Err(After::Idle);
        }
        Ok(messages)
    }

    /// What is missing of the frame whose beginning is here.
    fn missing(&self, text: &[u8]) -> usize {
        let bytes = match self.phase {
            Phase::Open(_) => rltp::frame_bytes(text).unwrap_or_default(),
            _ => 0,
        };
        bytes.min(self.limits.payload_bytes_max).saturating_sub(text.len())
    }

    /// Nothing is complete in it: the next read goes behind it. An empty one is not worth keeping.
    fn keep(&mut self, batch: Batch, cx: &mut PortContext) {
        match batch.text.is_empty() {
            true => cx.recycle(batch),
            false => self.partial = Some(batch),
        }
    }

    fn no_more(&mut self, outcome: std::io::Result<usize>) -> After {
        match outcome {
            Ok(_) if self.partial.is_some() => self.fail("the sender has gone in the middle of a frame"),
            Ok(_) => After::Close,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock => After::Idle,
                ErrorKind::Interrupted => After::Again,
                _ => self.fail(error),
            },
        }
    }

    /// Runs the complete frames of what was read; returns the number of messages.
    fn take(
        &mut self,
        mut batch: Batch,
        read: usize,
        began: Instant,
        cx: &mut PortContext,
    ) -> Result<usize, After> {
        let received = batch.text.len();
        let expected = if let Phase::Open(next) = self.phase { Some(next) } else { None };
        let (found, wrong) = slab::scan(&mut batch, expected, &self.limits);
        if found.consumed == 0 && wrong.is_none() {
            self.partial = Some(batch);
            return Ok(0);
        }
        let Scanned { consumed, last, span, truncated, packed, start } = found;
        self.packs = packed;
        self.tail.extend_from_slice(batch.text.get(consumed..received).unwrap_or_default());
        let messages = batch.records.len();
        match last {
            Some(last) => self.run(batch, Slab { last, span, read, truncated, began }, cx)?,
            None => cx.recycle(batch),
        }
        if let Some(start) = start {
            match self.claim.as_ref().map_or(Err(Superseded), |claim| claim.start(start)) {
                Ok(acknowledged) => {
                    self.phase = Phase::Open(acknowledged.wrapping_add(1));
                    self.permit.iter().for_each(Permit::speaks);
                    self.told = acknowledged;
                    self.careful = self.claim.as_ref().is_some_and(Claim::is_careful);
                }
                Err(Superseded) => return Err(self.superseded()),
            }
            // What came behind it waits in the tail, and no event will tell of it.
            if !self.tail.is_empty() && wrong.is_none() && !self.careful {
                return self.again(cx);
            }
        }
        let Some(wrong) = wrong else { return Ok(messages) };
        self.feed.source.counters.transport_errors.add(engine::ledger::TransportError::Protocol);
        oplog::limited(
            "rltp-wrong",
            oplog::Level::Error,
            "Invalid frame, closing the connection",
            &[("client", &self.described.client), ("error", &wrong)],
        );
        Err(self.refuse(code::PROTOCOL, wrong.to_string()))
    }

    /// Looks at the tail as if it had just been read.
    fn again(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        let mut batch = cx.batch();
        batch.text.extend_from_slice(&self.tail);
        self.tail.clear();
        let read = batch.text.len();
        self.take(batch, read, Instant::now(), cx)
    }

    fn run(&mut self, mut batch: Batch, slab: Slab, cx: &mut PortContext) -> Result<(), After> {
        let Slab { last, span, read, truncated, began } = slab;
        let bytes = batch.text.len();
        let mark = self.claim.as_ref().map_or(Err(Superseded), |claim| claim.mark(last, span, bytes));
        let mark = match mark {
            Ok(mark) => mark,
            Err(Superseded) => {
                cx.recycle(batch);
                return Err(self.superseded());
            }
        };
        self.phase = Phase::Open(last.sequence.wrapping_add(1));
        self.fed = began;
        self.feed.source.counters.truncated.add(truncated as usize);
        batch.contexts.push(Arc::clone(&self.context));
        // What came compressed takes the room it has now.
        let read = Read { bytes, busy: read >= BUSY_BYTES || self.packs, began, mark: Some(mark) };
        self.feed.run_marked(batch, read, cx);
        Ok(())
    }

    fn work(&mut self, cx: &mut PortContext) -> After {
        let mut fetched = 0;
        for _ in 0..TURN_READS {
            if let Some(after) = self.greet() {
                return after;
            }
            // A sender that is in a hurry may have sent more than its first word.
            let early = matches!(self.phase, Phase::Greeted) && !self.tail.is_empty();
            let outcome = match early {
                true => self.again(cx),
                false if self.careful => self.step_carefully(cx),
                false => self.step(cx),
            };
            match outcome {
                Ok(messages) => {
                    fetched += messages;
                    if self.accepted.fetch_limit.is_some_and(|limit| fetched >= limit) {
                        break;
                    }
                }
                Err(After::Again) => {}
                Err(after) => return after,
            }
        }
        After::Again
    }
}

/// How a slab was read.
struct Slab {
    last: Number,
    span: u32,
    read: usize,
    truncated: u64,
    began: Instant,
}

impl Port for RltpPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if let Some(claim) = &self.claim {
            claim.attend();
        }
        if self.farewell.is_some() {
            return self.go_on_leaving();
        }
        match self.work(cx) {
            After::Close => After::Close,
            After::Idle if self.makes_room() => self.fail(MADE_ROOM),
            after => self.answer(after),
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
        let is_open = matches!(self.phase, Phase::Greeted | Phase::Open(_));
        let silence = now.saturating_duration_since(self.heard);
        let too_long = match self.phase {
            Phase::Hello => (now.saturating_duration_since(self.began) >= HELLO_MAX)
                .then_some("it did not say who it is in time"),
            _ if self.starved || !is_open => None,
            _ => (silence >= SILENCE_MAX).then_some("the sender is silent"),
        };
        let idle = self.accepted.idle_timeout.filter(|_| is_open && !self.starved);
        let too_long = match idle {
            Some(limit) if now.saturating_duration_since(self.fed) >= limit => Some("idle-timeout() passed"),
            _ => too_long,
        };
        if let Some(text) = too_long {
            if matches!(self.phase, Phase::Hello) {
                self.feed.source.counters.rejected_connections.add(1);
            }
            self.failure = Some(text.to_owned());
            return false;
        }
        if self.claim.is_some() && now.saturating_duration_since(self.said) >= PING_EVERY {
            rltp::ping(&mut self.out);
            if let Err(error) = self.flush() {
                self.failure = Some(error.to_string());
                return false;
            }
        }
        true
    }

    fn closed(&mut self, cx: &mut PortContext) {
        self.claim = None;
        self.input.deregister(cx.handle.registry());
        let source = &self.feed.source;
        source.counters.connections.sub(1);
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
