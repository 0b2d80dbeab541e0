//! Reads a byte stream: slab in, frames found, one batch made and run on the spot, or given to an idle core
//! in the connection's lane.

mod broken;
mod described;
mod parting;

use crate::feed::Feed;
use crate::hand_over::Part;
use crate::source::Source;
use crate::worker::{After, Port, PortContext};
pub use described::Described;
use record::{Batch, Context, Record};
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::{Framer, FramerOptions, Framing};

/// Bytes asked for in one read.
pub const SLAB_BYTES: usize = 256 * 1024;
/// The same where the log paths are costly: smaller pieces are spread over the cores more evenly, and what is
/// made from them fits the cache.
const SHARED_SLAB_BYTES: usize = 128 * 1024;
/// A read that brings this much shows a sender that is ahead of us.
const BUSY_BYTES: usize = 64 * 1024;
/// Room after the received bytes for text made on the way.
const ARENA_BYTES: usize = 16 * 1024;
/// What a frame is taken to have when a window bounds what is read.
const FRAME_BYTES: usize = 256;
/// No read is smaller for that.
const READ_BYTES_MIN: usize = 4096;
/// Reads in one turn; then the worker's other connections have theirs.
const TURN_READS: usize = 4;
/// Where the bytes come from.
pub trait Input: Send {
    /// Appends up to `max` bytes. `Ok(0)` is the end of the stream.
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> std::io::Result<usize>;

    /// Sends to the peer what can be sent without waiting, and says how much of it was taken; `WouldBlock`
    /// when that is nothing. What was taken may still be on its way through an encrypted session: `Ok` for no
    /// bytes at all says that it is not.
    fn send(&mut self, _bytes: &[u8]) -> std::io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Whether the descriptor is ready at any time, as regular files are.
    fn always_ready(&self) -> bool {
        false
    }

    /// Takes the descriptor out of the readiness loop: the stream is over.
    fn deregister(&mut self, registry: &mio::Registry);

    /// Nothing will be sent any more: the peer sees the end once it has read what was.
    fn shut(&mut self) {}

    /// Another process is to read on: the descriptor, no longer watched. `None` where only this process can
    /// read it.
    fn give(&mut self, _registry: &mio::Registry) -> Option<OwnedFd> {
        None
    }

    /// Another process is to read on: what lies beneath, where this only makes messages of bytes that the
    /// other one can have as they come.
    fn peel(&mut self) -> Peeled {
        Peeled::Bare
    }

    /// Tells the peer that the session is to end, where the protocol has a word for it.
    fn farewell(&mut self) {}

    /// What to do at the end of the stream: `true` when it may go on later (a pipe whose writer left).
    fn at_end(&mut self) -> bool {
        false
    }
}

/// What is beneath an input.
pub enum Peeled {
    /// Nothing: it is the bytes themselves.
    Bare,
    /// It is in the middle of what only this process knows.
    Busy,
    /// The input of the bytes, those that were read and not made use of, and what is to be added to
    /// [`StreamOptions::passes_as`].
    Of(Box<dyn Input>, Vec<u8>, &'static str),
}

/// Turns messages of another character encoding into UTF-8.
pub type Decode = Box<dyn Fn(&mut Batch) + Send>;

/// What a connection needs to know beside its bytes.
pub struct StreamOptions {
    pub framing: FramerOptions,
    pub idle_timeout: Option<Duration>,
    /// `log-iw-size()` when given, of a source without connections: with them they share it, see
    /// [`crate::Share`].
    pub window_messages: Option<usize>,
    /// What becomes of messages that were found by their lengths.
    pub decode: Option<Decode>,
    /// `log-fetch-limit()` when given: messages in one turn.
    pub fetch_limit: Option<usize>,
    /// `None` for things that are not connections.
    pub described: Option<Described>,
    /// How its bytes are read, for the process that takes over: [`crate::hand_over::Connection::reading`].
    /// `None`: nobody can.
    pub passes_as: Option<Arc<str>>,
    /// For a connection that is to make room as long as it has brought no message.
    pub newcomer: Option<Arc<dyn Newcomer>>,
    /// Called with the reason when the stream is over.
    pub on_close: Option<Box<dyn FnOnce() + Send>>,
}

/// A connection that has not brought a message yet.
pub trait Newcomer: Send + Sync {
    /// It has now; not asked any more.
    fn speaks(&self);

    /// Whether it is to make room for another one, if there is nothing to be read from it.
    fn is_to_go(&self) -> bool;
}

pub struct StreamPort {
    input: Box<dyn Input>,
    framer: Framer,
    /// The unfinished frame of the last read.
    tail: Vec<u8>,
    context: Arc<Context>,
    feed: Feed,
    options: StreamOptions,
    last_read: Instant,
    queued: bool,
    /// The end comes right after what is there, without another event.
    hung_up: bool,
    failure: Option<String>,
}

impl StreamPort {
    pub fn new(
        input: Box<dyn Input>,
        source: Arc<Source>,
        context: Arc<Context>,
        options: StreamOptions,
        cx: &PortContext,
        token: mio::Token,
    ) -> StreamPort {
        source.counters.connections.add(1);
        StreamPort {
            framer: Framer::new(options.framing),
            tail: Vec::new(),
            feed: Feed::new(source, options.window_messages, cx, token),
            input,
            context,
            options,
            last_read: Instant::now(),
            queued: false,
            hung_up: false,
            failure: None,
        }
    }

    /// Reads once. `Err` says what the turn comes to.
    fn step(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        if !self.feed.may_read() {
            return Err(After::Idle);
        }
        let outcome = match self.feed.ahead() {
            // Others were quicker: one that has nothing under way is woken, any other by its own.
            0 => Err(if self.feed.may_read() { After::Again } else { After::Idle }),
            frames_max => self.read(frames_max, cx),
        };
        self.feed.end_ahead();
        outcome
    }

    /// Reads once, unless there are frames left of what was read before, and makes a batch of so many frames
    /// at most.
    fn read(&mut self, frames_max: usize, cx: &mut PortContext) -> Result<usize, After> {
        let mut batch = cx.batch();
        let held = self.framer.is_held();
        let wanted = self.wanted(frames_max);
        batch.text.reserve(self.tail.len() + wanted + ARENA_BYTES);
        batch.text.extend_from_slice(&self.tail);
        let began = Instant::now();
        let read = match held {
            true => self.tail.len(),
            false => match self.input.read(&mut batch.text, wanted) {
                Ok(n) => n,
                Err(error) => {
                    cx.recycle(batch);
                    return Err(self.not_read(&error));
                }
            },
        };
        if read == 0 && !held {
            cx.recycle(batch);
            if let Some(Described { fd, client, .. }) = &self.options.described {
                oplog::trace("EOF occurred while reading", &[("fd", fd), ("client", client)]);
            }
            self.end(cx);
            return Err(if self.input.at_end() { After::Idle } else { After::Close });
        }
        let outcome = {
            let (text, records) = (&batch.text, &mut batch.records);
            self.framer.scan_some(text, 0, frames_max, |frame| records.push(Record::new(frame)))
        };
        self.tail.clear();
        let broken = match outcome {
            Ok(consumed) => {
                self.tail.extend_from_slice(batch.text.get(consumed..).unwrap_or_default());
                None
            }
            Err(error) => {
                self.note_broken(&batch);
                Some(error)
            }
        };
        let messages = batch.records.len();
        if messages > 0
            && let Some(newcomer) = self.options.newcomer.take()
        {
            newcomer.speaks();
        }
        // What is left of it counts as received with the next batch.
        let bytes = read.saturating_sub(if self.framer.is_held() { self.tail.len() } else { 0 });
        self.run(batch, bytes, read, began, cx);
        if let Some(error) = broken {
            self.broken(&error);
            return Err(After::Close);
        }
        if held || self.framer.is_held() {
            return Ok(messages);
        }
        if read < wanted && !self.hung_up && !self.input.always_ready() {
            // A short read of a stream means that it was emptied; its end, if it comes later, is another
            // event.
            return Err(After::Idle);
        }
        Ok(messages)
    }

    /// Bytes to ask for: about as much as may become messages, so that little has to be kept for later.
    fn wanted(&self, frames_max: usize) -> usize {
        let most = if self.feed.is_costly() { SHARED_SLAB_BYTES } else { SLAB_BYTES };
        most.min(frames_max.saturating_mul(FRAME_BYTES).max(READ_BYTES_MIN))
    }

    fn not_read(&mut self, error: &std::io::Error) -> After {
        match error.kind() {
            ErrorKind::WouldBlock => After::Idle,
            ErrorKind::Interrupted => After::Again,
            _ => {
                self.failure = Some(error.to_string());
                After::Close
            }
        }
    }

    /// There is nothing to read, or no credit to read it with.
    fn idle(&mut self) -> After {
        match &self.options.newcomer {
            Some(newcomer) if newcomer.is_to_go() => {
                self.failure = Some("it makes room, having sent no message yet".to_owned());
                After::Close
            }
            _ => After::Idle,
        }
    }

    /// Makes a batch of the whole frames that are left, with credit or without: there is no later time for
    /// them.
    fn release(&mut self, cx: &mut PortContext) {
        if !self.framer.is_held() {
            return;
        }
        let mut batch = cx.batch();
        batch.text.extend_from_slice(&self.tail);
        let outcome = {
            let (text, records) = (&batch.text, &mut batch.records);
            self.framer.scan(text, 0, |frame| records.push(Record::new(frame)))
        };
        let consumed = *outcome.as_ref().unwrap_or(&batch.text.len());
        self.tail.drain(..consumed.min(self.tail.len()));
        if outcome.is_err() {
            self.note_broken(&batch);
        }
        self.run(batch, consumed, consumed, Instant::now(), cx);
        if let Err(error) = outcome {
            self.broken(&error);
        }
    }

    /// The unfinished last line of a stream is a message too.
    fn end(&mut self, cx: &mut PortContext) {
        self.release(cx);
        if self.tail.is_empty() {
            return;
        }
        let mut batch = cx.batch();
        batch.text.extend_from_slice(&self.tail);
        self.tail.clear();
        let outcome = {
            let (text, records) = (&batch.text, &mut batch.records);
            self.framer.finish(text, 0, |frame| records.push(Record::new(frame)))
        };
        if outcome.is_err() {
            self.note_broken(&batch);
        }
        let bytes = batch.text.len();
        self.run(batch, bytes, bytes, Instant::now(), cx);
        if let Err(error) = outcome {
            self.broken(&error);
        }
    }

    /// `there`: bytes that were there to be framed.
    fn run(&mut self, mut batch: Batch, bytes: usize, there: usize, began: Instant, cx: &mut PortContext) {
        self.feed.source.counters.truncated.add(self.framer.take_truncated() as usize);
        batch.contexts.push(Arc::clone(&self.context));
        if let Some(decode) = &self.options.decode
            && self.framer.framing() == Framing::OctetCounting
        {
            decode(&mut batch);
        }
        self.feed.run(batch, bytes, there >= BUSY_BYTES, began, cx);
    }
}

impl Port for StreamPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let mut fetched = 0;
        for _ in 0..TURN_READS {
            match self.step(cx) {
                Ok(messages) => {
                    self.last_read = Instant::now();
                    fetched += messages;
                    if self.options.fetch_limit.is_some_and(|limit| fetched >= limit) {
                        break;
                    }
                }
                Err(After::Idle) => {
                    self.last_read = Instant::now();
                    return self.idle();
                }
                Err(after) => return after,
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn hung_up(&mut self) {
        self.hung_up = true;
    }

    fn tick(&mut self, now: Instant) -> bool {
        match self.options.idle_timeout {
            Some(limit) if now.duration_since(self.last_read) >= limit => {
                self.failure = Some("idle-timeout() passed".to_owned());
                false
            }
            _ => true,
        }
    }

    fn closed(&mut self, cx: &mut PortContext) {
        self.end(cx);
        self.input.deregister(cx.handle.registry());
        self.feed.source.counters.connections.sub(1);
        if let Some(described) = &self.options.described {
            described.say_closed(self.failure.as_ref());
        }
        if let Some(on_close) = self.options.on_close.take() {
            on_close();
        }
    }

    fn part(&mut self, cx: &mut PortContext) -> Part {
        parting::part(self, cx)
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}
