//! Following messages step by step: what a program does with them, told to whoever asked.
//!
//! Whoever asked is a [`Watch`]: the program's log at `debug` and `trace` ([`log`]), and anybody else who
//! wants to explain a message. Whether somebody watches is found out once a batch. Where somebody does, the
//! batch is worked on message by message, conditions are asked in the order of the text, and parsers make
//! everything they find; what becomes of the messages is the same.

mod changes;
pub mod inquiry;
pub mod log;
pub mod looks;
pub mod rehearsal;

pub use changes::{Change, What};

use crate::driver::Destination;
use crate::plan_map::{Entrance, StepId};
use crate::receipt::Receipt;
use crate::source::Source;
use changes::changes;
use filter::{FilterContext, Judged, MadeOf};
use record::{Batch, Flags, NameId, Record, Span, lookup};
use std::cell::OnceCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The statement of the configuration that a step of a program comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub kind: Kind,
    /// Its name, or one made up for a statement without: `#anon-filter0`.
    pub rule: String,
    /// `file:line:column`.
    pub location: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Source,
    LogPath,
    Channel,
    Filter,
    Rewrite,
    Parser,
    FilterX,
    Destination,
    /// Embedded log paths: each sees the message as it was.
    Fork,
    /// `junction`, `if`, `channel`, `app-parser()`: branches whose results go on together.
    Join,
    /// Of an `if`, or of applications.
    Branch,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Source => "source",
            Kind::LogPath => "log",
            Kind::Channel => "channel",
            Kind::Filter => "filter",
            Kind::Rewrite => "rewrite",
            Kind::Parser => "parser",
            Kind::FilterX => "filterx",
            Kind::Destination => "destination",
            Kind::Fork => "fork",
            Kind::Join => "join",
            Kind::Branch => "branch",
        }
    }
}

/// A step in what is told about it: the plan's map knows more.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    pub id: StepId,
    pub statement: &'a Statement,
}

/// A message in what is told about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// No other message of this process has it; the copies that branches make of a message do.
    pub id: u64,
    /// `$RCPTID` where the configuration has use-uniqid(), else 0.
    pub received: u64,
    /// It is one of the program's own: a line of its log about it would be another.
    pub is_own: bool,
}

impl Message {
    /// Which message of its batch it is, or a copy of it.
    fn place_in_batch(self) -> u32 {
        (self.id & ((1 << BATCH_BITS) - 1)) as u32
    }
}

/// What a step came to for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The message goes on.
    Passed,
    /// It does not go on here.
    Stopped,
    /// The condition of a rewrite does not hold: nothing was changed.
    Skipped,
}

/// What happens to a message, in this order.
pub enum Event<'a> {
    /// Its text as it came in, or of a message that was made its MESSAGE.
    Received(&'a [u8]),
    /// The texts of the messages that it was made of, where somebody asks.
    MadeOf(&'a [Vec<u8>]),
    /// A step begins: the source's own options, a log path, a statement.
    Begins(At<'a>),
    /// A condition of the step is asked, or was answered.
    Judged(At<'a>, &'a Judged<'a>),
    /// Something of the message is different now.
    Changed(&'a Change<'a>),
    Ends(At<'a>, Verdict),
    /// Its output waits in the queue of a destination from now on; `name` is the file, connection or process.
    Queued {
        at: At<'a>,
        driver: &'static str,
        name: &'a str,
        output: &'a [u8],
        /// Who wants to hear what becomes of it puts a receipt there.
        receipt: &'a OnceCell<Receipt>,
    },
    /// The destination has nothing to write for it, or could not take it.
    NotQueued {
        at: At<'a>,
        driver: &'static str,
    },
    /// All log paths of its source are through with it.
    Finished,
}

/// Is told what happens to messages.
pub trait Watch {
    /// `source` is where the message came in.
    fn see(&mut self, source: &Source, message: Message, event: &Event<'_>);

    /// May look at a message itself, where it comes from its source, behind a step, or where it comes to a
    /// destination.
    fn look(&mut self, message: Message, sight: &mut Sight<'_>);

    /// Whether it wants to hear what changes at a message: finding that out costs more than anything else.
    fn wants_changes(&self, message: Message) -> bool;

    /// A parser has made a message, which comes in now: whether anything of it is to be told.
    fn follows(&mut self, source: &Source, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool;
}

/// A message where it is now.
pub struct Sight<'a> {
    pub at: At<'a>,
    pub batch: &'a Batch,
    pub record: &'a Record,
    pub cx: &'a mut FilterContext,
}

/// Both are told.
pub(crate) struct Both<A, B>(pub Option<A>, pub Option<B>);

impl<A: Watch, B: Watch> Watch for Both<A, B> {
    fn see(&mut self, source: &Source, message: Message, event: &Event<'_>) {
        if let Some(first) = &mut self.0 {
            first.see(source, message, event);
        }
        if let Some(second) = &mut self.1 {
            second.see(source, message, event);
        }
    }

    fn look(&mut self, message: Message, sight: &mut Sight<'_>) {
        if let Some(first) = &mut self.0 {
            first.look(message, sight);
        }
        if let Some(second) = &mut self.1 {
            second.look(message, sight);
        }
    }

    fn wants_changes(&self, message: Message) -> bool {
        self.0.as_ref().is_some_and(|first| first.wants_changes(message))
            || self.1.as_ref().is_some_and(|second| second.wants_changes(message))
    }

    fn follows(&mut self, source: &Source, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool {
        let first = self.0.as_mut().is_some_and(|first| first.follows(source, batch, record, cx));
        // Both are asked.
        self.1.as_mut().is_some_and(|second| second.follows(source, batch, record, cx)) || first
    }
}

/// Bits of a message's id that count the messages of a batch.
const BATCH_BITS: u32 = 16;

static NEXT_BATCH: AtomicU64 = AtomicU64::new(1);

/// A batch that somebody watches.
pub(crate) struct Watching<'a> {
    by: &'a mut dyn Watch,
    source: &'a Source,
    /// Where the source stands in the configuration.
    at: Option<Entrance>,
    base: u64,
    receipt: Option<NameId>,
    /// Destinations show what they would write, and take nothing.
    pub is_rehearsal: bool,
    /// It is told what messages are made of that parsers make.
    pub asks_origins: bool,
    /// Nothing of what comes in is followed: it watches from where a parser makes a message that is.
    pub is_late: bool,
}

impl<'a> Watching<'a> {
    pub fn new(source: &'a Source, at: Option<Entrance>, by: &'a mut dyn Watch) -> Watching<'a> {
        let base = NEXT_BATCH.fetch_add(1, Ordering::Relaxed) << BATCH_BITS;
        let (is_rehearsal, asks_origins, is_late) = (false, false, false);
        Watching { by, source, at, base, receipt: lookup("RCPTID"), is_rehearsal, asks_origins, is_late }
    }

    pub fn rehearsing(self) -> Watching<'a> {
        Watching { is_rehearsal: true, asks_origins: true, ..self }
    }

    /// Somebody asks for messages that parsers make; `is_late`: for no others.
    pub fn of_made(self, is_late: bool) -> Watching<'a> {
        Watching { asks_origins: true, is_late, ..self }
    }

    /// See [`Watch::follows`].
    pub fn follows(&mut self, batch: &Batch, record: &Record, cx: &mut FilterContext) -> bool {
        self.by.follows(self.source, batch, record, cx)
    }

    pub fn message(&self, batch: &Batch, record: &Record) -> Message {
        let number = self.receipt.and_then(|name| batch.value(record, name));
        let number = number.and_then(|value| std::str::from_utf8(value.bytes).ok()?.parse().ok());
        let id = self.base + u64::from(record.origin);
        Message { id, received: number.unwrap_or(0), is_own: is_own(record) }
    }

    pub fn tell(&mut self, message: Message, event: &Event<'_>) {
        self.by.see(self.source, message, event);
    }

    /// Tells how a message came in, with what it has been given so far. `text` is what it came as.
    pub fn tell_arrival(
        &mut self,
        batch: &Batch,
        (index, record): (usize, &Record),
        text: Span,
        made_of: Option<&MadeOf>,
    ) {
        let message = self.message(batch, record);
        self.tell(message, &Event::Received(batch.bytes(text)));
        if let Some(made_of) = made_of {
            self.tell(message, &Event::MadeOf(&made_of.parts));
        }
        self.tell_changes(message, batch, index, &Record::new(record.frame));
        self.tell_source(message, batch, record);
    }

    /// Tells that the message comes from its source, and what the source says of it.
    pub fn tell_source(&mut self, message: Message, batch: &Batch, record: &Record) {
        if let Some(at) = self.at.clone() {
            self.tell(message, &Event::Begins(at.at()));
        }
        if !self.by.wants_changes(message) {
            return;
        }
        for name in [NameId::HOST_FROM, NameId::SOURCE] {
            let Some(value) = batch.value(record, name) else { continue };
            let (what, after) = (What::Value(batch.name_of(name)), Some(value.bytes.to_vec()));
            let change = Change { what, before: None, after, kind: value.kind };
            self.tell(message, &Event::Changed(&change));
        }
    }

    /// Shows a message as it is at a step.
    pub fn show(&mut self, at: At<'_>, batch: &Batch, index: usize, cx: &mut FilterContext) {
        let Some(record) = batch.records.get(index) else { return };
        let message = self.message(batch, record);
        self.by.look(message, &mut Sight { at, batch, record, cx });
    }

    /// Shows a message as its source has read it.
    pub fn show_arrival(&mut self, batch: &Batch, index: usize, cx: &mut FilterContext) {
        if let Some(at) = self.at.clone() {
            self.show(at.at(), batch, index, cx);
        }
    }

    /// Tells that all log paths are through with the message.
    pub fn tell_end(&mut self, message: Message) {
        if let Some(at) = self.at.clone() {
            self.tell(message, &Event::Ends(at.at(), Verdict::Passed));
        }
        self.tell(message, &Event::Finished);
    }

    /// Tells how a message differs from what it was.
    pub fn tell_changes(&mut self, message: Message, batch: &Batch, index: usize, before: &Record) {
        let Some(after) = batch.records.get(index).filter(|_| self.by.wants_changes(message)) else { return };
        for change in changes(batch, before, after) {
            self.tell(message, &Event::Changed(&change));
        }
    }
}

/// It is one of the program's own messages, and not one that a parser made of others for internal().
fn is_own(record: &Record) -> bool {
    record.flags.has(Flags::INTERNAL) && !record.flags.has(Flags::POSTED)
}

/// Driver of a destination, for events.
pub(crate) fn driver_of(destination: &dyn Destination) -> &'static str {
    destination.described().0
}
