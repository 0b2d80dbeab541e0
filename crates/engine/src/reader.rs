//! Reads a byte stream: slab in, frames found, one batch made and run on the spot, or given to an idle core in the connection's lane.

use crate::lane::Lane;
use crate::ledger::Reason;
use crate::source::Source;
use crate::window::{Wake, Window};
use crate::worker::{After, Job, Port, PortContext};
use record::{Batch, Context, Record, Stamp};
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wire::{Framer, FramerOptions};

/// Bytes asked for in one read.
pub const SLAB_BYTES: usize = 128 * 1024;
/// Room after the received bytes for text made on the way.
const ARENA_BYTES: usize = 16 * 1024;
/// Reads in one turn; then the worker's other connections have theirs.
const TURN_READS: usize = 4;
/// Bytes of one connection that may be under way: enough to keep all cores busy, little enough to bound a slow destination's backlog.
pub const WINDOW_BYTES: usize = 16 * SLAB_BYTES;

/// Where the bytes come from.
pub trait Input: Send {
    /// Appends up to `max` bytes. `Ok(0)` is the end of the stream.
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> std::io::Result<usize>;

    /// Whether the descriptor is ready at any time, as regular files are.
    fn always_ready(&self) -> bool {
        false
    }

    /// Takes the descriptor out of the readiness loop.
    fn deregister(&mut self, registry: &mio::Registry);

    /// What to do at the end of the stream: `true` when it may go on later (a pipe whose writer left).
    fn at_end(&mut self) -> bool {
        false
    }
}

/// What a connection needs to know beside its bytes.
pub struct StreamOptions {
    pub framing: FramerOptions,
    pub idle_timeout: Option<Duration>,
    /// `log-iw-size()` when given, per connection.
    pub window_messages: Option<usize>,
    /// `log-fetch-limit()` when given: messages in one turn.
    pub fetch_limit: Option<usize>,
    /// Words for the accepted and closed messages; `None` for things that are not connections.
    pub described: Option<(String, String)>,
    /// Called with the reason when the stream is over.
    pub on_close: Option<Box<dyn FnOnce() + Send>>,
}

pub struct StreamPort {
    input: Box<dyn Input>,
    framer: Framer,
    /// The unfinished frame of the last read.
    tail: Vec<u8>,
    context: Arc<Context>,
    source: Arc<Source>,
    window: Arc<Window>,
    waker: Arc<dyn Wake>,
    lane: Arc<Lane>,
    options: StreamOptions,
    last_read: Instant,
    queued: bool,
    /// Cost of running the log paths against the cost of reading, smoothed, in 1/16: sharing pays where it is high.
    path_cost: u64,
    failure: Option<String>,
}

/// A batch goes to another core when its path costs at least this many sixteenths of its reading.
const SHARE_COST_MIN: u64 = 16;

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
            window: Window::new(WINDOW_BYTES, options.window_messages, Arc::clone(&cx.shared.budget)),
            waker: cx.handle.waker(token),
            lane: Arc::default(),
            input,
            context,
            source,
            options,
            last_read: Instant::now(),
            queued: false,
            path_cost: 0,
            failure: None,
        }
    }

    /// Reads once. `Err` says what the turn comes to.
    fn step(&mut self, cx: &mut PortContext) -> Result<usize, After> {
        if !self.window.may_read(&self.waker) {
            return Err(After::Idle);
        }
        let mut batch = cx.batch();
        batch.text.reserve(self.tail.len() + SLAB_BYTES + ARENA_BYTES);
        batch.text.extend_from_slice(&self.tail);
        let began = Instant::now();
        let read = match self.input.read(&mut batch.text, SLAB_BYTES) {
            Ok(n) => n,
            Err(error) => {
                cx.recycle(batch);
                return Err(match error.kind() {
                    ErrorKind::WouldBlock => After::Idle,
                    ErrorKind::Interrupted => After::Again,
                    _ => {
                        self.failure = Some(error.to_string());
                        self.end(cx);
                        After::Close
                    }
                });
            }
        };
        if read == 0 {
            cx.recycle(batch);
            self.end(cx);
            return Err(if self.input.at_end() { After::Idle } else { After::Close });
        }
        let outcome = {
            let (text, records) = (&batch.text, &mut batch.records);
            self.framer.scan(text, 0, |frame| records.push(Record::new(frame)))
        };
        self.tail.clear();
        let broken = match outcome {
            Ok(consumed) => {
                self.tail.extend_from_slice(batch.text.get(consumed..).unwrap_or_default());
                None
            }
            Err(error) => Some(error),
        };
        let messages = batch.records.len();
        self.run(batch, read, began, cx);
        if let Some(error) = broken {
            self.source.counters.received.add(1);
            self.source.counters.dropped.add(Reason::Framing, 1);
            let client = self.options.described.as_ref().map_or("", |(client, _)| client);
            oplog::limited(
                "framing",
                oplog::Level::Error,
                "Invalid frame, closing the connection",
                &[("client", &client), ("error", &error)],
            );
            return Err(After::Close);
        }
        if read < SLAB_BYTES && !self.input.always_ready() {
            // A short read of a stream means that it was emptied.
            return Err(After::Idle);
        }
        Ok(messages)
    }

    /// The unfinished last line of a stream is a message too.
    fn end(&mut self, cx: &mut PortContext) {
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
        let bytes = batch.text.len();
        self.run(batch, bytes, Instant::now(), cx);
        if let Err(error) = outcome {
            self.source.counters.received.add(1);
            self.source.counters.dropped.add(Reason::Framing, 1);
            oplog::limited("framing", oplog::Level::Error, "Unfinished frame at the end of a connection", &[("error", &error)]);
        }
    }

    fn run(&mut self, mut batch: Batch, read: usize, began: Instant, cx: &mut PortContext) {
        self.source.counters.truncated.add(self.framer.take_truncated() as usize);
        if batch.records.is_empty() {
            cx.recycle(batch);
            return;
        }
        batch.received = Stamp::now(0);
        batch.contexts.push(Arc::clone(&self.context));
        self.source.received(&batch, read);
        let ticket = self.window.ticket(read, batch.records.len());
        let in_order = self.lane.outstanding() == 0;
        let share = in_order && self.path_cost >= SHARE_COST_MIN && read >= SLAB_BYTES && cx.shared.has_idle_worker();
        if share || !in_order {
            if in_order {
                // What this connection left in the worker's buffers comes before what the lane will hand over.
                cx.outbox.flush();
            }
            let (source, lane) = (Arc::clone(&self.source), Arc::clone(&self.lane));
            let job = Job { batch, source, number: lane.number(), lane, ticket };
            match cx.shared.accepts_jobs() {
                true => cx.shared.give(job),
                false => job.run(cx),
            }
            return;
        }
        let framed = Instant::now();
        self.source.process(&mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.outbox);
        let path = framed.elapsed().as_nanos() as u64;
        let reading = (framed - began).as_nanos() as u64;
        self.path_cost = (self.path_cost * 7 + path * 16 / reading.max(1)) / 8;
        cx.outbox.end_batch(&ticket);
        drop(ticket);
        cx.recycle(batch);
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
                    return After::Idle;
                }
                Err(after) => return after,
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
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
        self.source.counters.connections.sub(1);
        if let Some((client, local)) = &self.options.described {
            match &self.failure {
                Some(error) => oplog::notice(
                    "Syslog connection closed",
                    &[("client", client), ("local", local), ("error", error)],
                ),
                None => oplog::notice("Syslog connection closed", &[("client", client), ("local", local)]),
            }
        }
        if let Some(on_close) = self.options.on_close.take() {
            on_close();
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}
