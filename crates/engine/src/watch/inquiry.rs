//! Questions about single messages, asked while the program runs, and what happened to the messages that
//! fit.
//!
//! With no question open this costs a relaxed load a batch. A batch in which a message fits is worked on
//! message by message; only the messages that fit are remembered.

mod fitting;
mod following;
mod kept;
mod text;

use super::looks::Looks;
use super::{Event, Statement, Verdict};
use crate::plan_map::StepId;
use crate::receipt::Receipt;
use crate::source::Source;
use filter::{Filter, Sieve};
pub(crate) use following::Following;
use parking_lot::{Condvar, Mutex};
use record::{Peer, Stamp, ValueType};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
pub use text::Text;

/// Bytes that are kept of one text.
pub const TEXT_BYTES_MAX: usize = 4096;
/// What is kept of one message.
const EVENTS_MAX: usize = 20_000;
/// Messages of one batch that are followed at a time.
const FOLLOWED_MAX: usize = 256;
/// Messages that one question may ask for.
pub const COUNT_MAX: usize = 1000;

/// Which messages are asked about: those that fit everything that is set.
#[derive(Default)]
pub struct Asked {
    /// Name of a source statement, or of one of its drivers: `s_net`, `s_net#0`.
    pub source: Option<String>,
    /// The address that it came from.
    pub from: Option<IpAddr>,
    /// Holds for the message as its source has read it.
    pub filter: Option<Arc<Filter>>,
    /// Only those that no destination gets.
    pub is_lost: bool,
    /// So many of them, at most [`COUNT_MAX`].
    pub count: usize,
    /// Only those that come by where this looks, in passing: batches are left out so that no more than a
    /// small part of the time goes there.
    pub looks: Option<Looks>,
}

/// A message and all that happened to it, in order.
#[derive(Clone, Debug)]
pub struct Story {
    /// As statistics call the source: `s_net#0`.
    pub source: String,
    /// Its driver and address.
    pub instance: String,
    pub peer: Peer,
    /// `$RCPTID` where the configuration has use-uniqid(), else 0.
    pub received: u64,
    /// When it came; None for one that a parser has made of others.
    pub came: Option<Stamp>,
    pub told: Vec<Told>,
    /// More happened than is kept.
    pub is_cut: bool,
}

#[derive(Clone, Debug)]
pub struct Told {
    /// Since the message was first looked at.
    pub after: Duration,
    /// The step that it happened at.
    pub step: Option<(StepId, Statement)>,
    pub what: Happened,
}

/// [`Event`], kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    Received(Text),
    /// The messages that it was made of.
    MadeOf(Vec<Text>),
    Begins,
    Judged {
        function: &'static str,
        operands: Vec<(&'static str, Text)>,
        holds: bool,
    },
    Changed {
        name: String,
        is_tag: bool,
        before: Option<Text>,
        after: Option<Text>,
        kind: ValueType,
    },
    Ends(Verdict),
    Queued {
        driver: &'static str,
        name: String,
        output: Text,
        /// What becomes of it, where something does.
        receipt: Option<Receipt>,
    },
    NotQueued {
        driver: &'static str,
    },
    /// What the message is here: the texts that were asked for, and its tags.
    Is {
        texts: Vec<Vec<u8>>,
        tags: Vec<String>,
    },
}

static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);
static OPEN: Mutex<Vec<Arc<Inquiry>>> = Mutex::new(Vec::new());

/// A question that waits for its answer.
struct Inquiry {
    asked: Asked,
    /// What its filter needs to hold.
    sieve: Sieve,
    opened: Instant,
    /// Until then, in microseconds since it was opened, no batch is looked at.
    rests_until: AtomicU64,
    found: Mutex<Vec<Story>>,
    changed: Condvar,
}

/// Asks about messages that come from now on. Returns when there are as many as were asked for, or after
/// `patience`.
pub fn ask(asked: Asked, patience: Duration) -> Vec<Story> {
    let asked = Asked { count: asked.count.min(COUNT_MAX), ..asked };
    let until = Instant::now() + patience;
    let (opened, rests_until) = (Instant::now(), AtomicU64::new(0));
    let sieve = asked.filter.as_deref().map(Sieve::of).unwrap_or_default();
    let (found, changed) = (Mutex::default(), Condvar::new());
    let inquiry = Arc::new(Inquiry { asked, sieve, opened, rests_until, found, changed });
    OPEN.lock().push(Arc::clone(&inquiry));
    OPEN_COUNT.fetch_add(1, Ordering::Relaxed);
    let mut found = inquiry.found.lock();
    while found.len() < inquiry.asked.count {
        if inquiry.changed.wait_until(&mut found, until).timed_out() {
            break;
        }
    }
    let answer = std::mem::take(&mut *found);
    drop(found);
    OPEN_COUNT.fetch_sub(1, Ordering::Relaxed);
    OPEN.lock().retain(|open| !Arc::ptr_eq(open, &inquiry));
    answer
}

/// Of the time, the part that looking in passing may take: one in so many.
const SHARE: u32 = 50;

impl Inquiry {
    fn is_resting(&self) -> bool {
        self.asked.looks.is_some()
            && self.opened.elapsed().as_micros() < u128::from(self.rests_until.load(Ordering::Relaxed))
    }

    fn rest(&self, took: Duration) {
        if self.asked.looks.is_some() {
            let until = self.opened.elapsed() + took * SHARE;
            self.rests_until.fetch_max(until.as_micros() as u64, Ordering::Relaxed);
        }
    }

    fn wants_source(&self, source: &Source) -> bool {
        self.asked.source.as_ref().is_none_or(|name| **name == *source.group || *name == source.id)
    }

    /// Whether messages that parsers make may fit. Who looks in passing looks at those that come in.
    fn asks_made(&self, source: &Source) -> bool {
        self.asked.looks.is_none() && self.wants_source(source)
    }

    fn take(&self, story: Story) {
        let mut found = self.found.lock();
        if found.len() < self.asked.count {
            found.push(story);
            self.changed.notify_all();
        }
    }
}
