//! `internal()`: the program's own messages. The log hands them to a bounded queue, a port makes records of
//! them.
//!
//! What is logged while they are on their way is kept from coming back (see [`oplog::apart`]), so the log
//! cannot feed itself.

mod posted;

use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::INT_MAX;
use driver_options::source_groups::SOURCE;
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::ledger::Reason;
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Need, Shared, Wake};
use intake::reading::{finish, local_name, made_here};
use parking_lot::Mutex;
use parsers::correlation::set_internal_sink;
use posted::Posted;
use record::{Batch, Context, Flags, Record, Span, Stamp, pri};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&INTERNAL, build)];

static INTERNAL: Component = Component {
    context: conf_schema::Context::Source,
    name: "internal",
    aliases: &[],
    positional: &[],
    groups: &[&SOURCE],
    own: &[Opt::new(
        "log-fifo-size",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(10000),
        "The most messages that may wait here; further ones are dropped and counted.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "The program's own messages, and MARK messages with mark-mode(internal). Without this source they go to \
              standard error.",
    example: "internal(tags(\"own\"))",
    cost: Some(Cost::elsewhere("The program says little, and the same thing seldom twice a second.")),
};

/// Messages that may wait unless log-fifo-size() says otherwise.
const FIFO_SIZE: i64 = 10_000;
/// Messages in one batch.
const BATCH_MESSAGES: usize = 256;
/// PROGRAM of own messages, as syslog-ng's users know it.
const PROGRAM: &[u8] = b"syslog-ng";
/// syslog, RFC 5424 section 6.2.1.
const FACILITY: u8 = 5;

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let finish = finish(s, cx, true, diags);
    made_here(s);
    let fifo_size = s.int("log-fifo-size").unwrap_or(FIFO_SIZE).max(1) as usize;
    let window_messages = s.int("log-iw-size").map(|n| n.max(1) as usize);
    let host: Arc<str> = local_name(s, cx.globals).into();
    let group: Arc<str> = cx.group.into();
    let key = s.text("persist-name").unwrap_or("internal").to_owned();
    Ok(SourceDriver {
        key,
        opened_with: format!("{group} {host} {fifo_size} {window_messages:?}"),
        driver: "internal",
        instance: String::new(),
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program)),
        start: Box::new(InternalStart { fifo_size, window_messages, host, group }),
    })
}

struct InternalStart {
    fifo_size: usize,
    window_messages: Option<usize>,
    host: Arc<str>,
    group: Arc<str>,
}

impl Start for InternalStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let context = Arc::new(Context::local(&self.group, &self.host, "internal"));
        let (source, limit, window) = (Arc::clone(source), self.fifo_size, self.window_messages);
        worker.add(move |token, cx| {
            let queue = Arc::new(Queue {
                entries: Mutex::default(),
                posted: Mutex::default(),
                limit,
                waker: cx.handle.waker(token),
                source: Arc::clone(&source),
            });
            listen(&queue);
            let feed = Feed::new(source, window, cx, token);
            Ok(Box::new(InternalPort { queue, context, feed, queued: false }))
        });
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

/// Messages between the log and the port. Every thread may add to it.
struct Queue {
    entries: Mutex<VecDeque<oplog::Entry>>,
    /// Messages that correlation has made: inject-mode(internal).
    posted: Mutex<Posted>,
    limit: usize,
    waker: Arc<dyn Wake>,
    source: Arc<Source>,
}

impl Queue {
    fn push(&self, entry: &oplog::Entry) {
        let mut entries = self.entries.lock();
        if entries.len() >= self.limit {
            drop(entries);
            return self.lose(entry.message.as_bytes());
        }
        entries.push_back(entry.clone());
        let first = entries.len() == 1;
        drop(entries);
        if first {
            self.waker.wake();
        }
    }

    /// There is no room for a message.
    fn lose(&self, text: &[u8]) {
        let counters = &self.source.counters;
        counters.received.add(1);
        counters.dropped.add(Reason::QueueFull, 1);
        counters.remains.keep(Reason::QueueFull, 1, std::iter::once(text));
    }

    /// A message made by a parser.
    fn post(&self, batch: &Batch, record: &Record, made_of: Option<&[Vec<u8>]>) {
        let mut posted = self.posted.lock();
        if !posted.push(self.limit, batch, record, made_of) {
            drop(posted);
            return self.lose(batch.bytes(record.message));
        }
        let first = posted.batch.records.len() == 1;
        drop(posted);
        if first {
            self.waker.wake();
        }
    }
}

/// Those that hear the log. There is one log, and as a rule one `internal()`.
static LISTENERS: Mutex<Vec<Arc<Queue>>> = Mutex::new(Vec::new());

fn listen(queue: &Arc<Queue>) {
    let first = {
        let mut listeners = LISTENERS.lock();
        listeners.push(Arc::clone(queue));
        listeners.len() == 1
    };
    if first {
        // Hands over what was said since the start of the program.
        oplog::set_sink(Some(Arc::new(|entry| {
            LISTENERS.lock().iter().for_each(|queue| queue.push(entry));
        })));
        set_internal_sink(Some(Arc::new(|batch, record, made_of| {
            LISTENERS.lock().iter().for_each(|queue| queue.post(batch, record, made_of));
        })));
    }
}

fn leave(queue: &Arc<Queue>) {
    let last = {
        let mut listeners = LISTENERS.lock();
        listeners.retain(|other| !Arc::ptr_eq(other, queue));
        listeners.is_empty()
    };
    if last {
        oplog::set_sink(None);
        set_internal_sink(None);
    }
}

struct InternalPort {
    queue: Arc<Queue>,
    context: Arc<Context>,
    feed: Feed,
    queued: bool,
}

impl InternalPort {
    /// Takes one batch from the queue. `false` when it is empty.
    fn step(&mut self, cx: &mut PortContext) -> bool {
        let began = Instant::now();
        let mut batch = cx.batch();
        let left = {
            let mut entries = self.queue.entries.lock();
            let count = entries.len().min(BATCH_MESSAGES);
            let offset = cx.local_offset();
            entries.drain(..count).for_each(|entry| append(&mut batch, &entry, offset));
            entries.len()
        };
        batch.contexts.push(Arc::clone(&self.context));
        let bytes = batch.text.len();
        oplog::apart(|| self.feed.run(batch, bytes, left > 0, began, cx));
        self.posted(cx) || left > 0
    }
}

impl InternalPort {
    /// Takes what parsers have made; it comes from here now, as in syslog-ng.
    fn posted(&mut self, cx: &mut PortContext) -> bool {
        let Posted { mut batch, made_of, .. } = self.queue.posted.lock().take(cx.batch());
        if batch.records.is_empty() {
            cx.recycle(batch);
            return false;
        }
        let own = batch.place_of(&self.context);
        for record in &mut batch.records {
            record.context = own.unwrap_or(record.context);
            record.flags.set(Flags::INTERNAL);
            record.flags.set(Flags::POSTED);
        }
        let bytes = batch.text.len();
        oplog::apart(|| self.feed.run_made(batch, bytes, made_of, cx));
        true
    }
}

fn append(batch: &mut Batch, entry: &oplog::Entry, offset: i32) {
    if batch.text.is_empty() {
        batch.append(PROGRAM);
        batch.append(std::process::id().to_string().as_bytes());
    }
    let head = batch.records.first().map_or(batch.text.len(), |first| first.pid.end());
    let message = batch.append(entry.message.as_bytes());
    let mut record = Record::new(message);
    record.message = message;
    record.program = Span::new(0, PROGRAM.len());
    record.pid = Span::between(PROGRAM.len(), head);
    record.pri = pri::join(FACILITY, entry.level.severity());
    record.stamp =
        Stamp { secs: entry.time.as_second(), usec: entry.time.subsec_microsecond().unsigned_abs(), offset };
    record.flags.set(Flags::INTERNAL);
    record.flags.set(Flags::LOCAL);
    record.flags.set(Flags::UTF8);
    batch.records.push(record);
}

impl Port for InternalPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if !self.feed.may_read() {
            return After::Idle;
        }
        if self.step(cx) { After::Again } else { After::Idle }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// Everything said so far goes out.
    fn closed(&mut self, cx: &mut PortContext) {
        leave(&self.queue);
        while self.step(cx) {}
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.feed.source)
    }
}

#[cfg(test)]
mod tests;
