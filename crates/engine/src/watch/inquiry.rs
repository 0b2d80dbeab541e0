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
use std::collections::BTreeSet;
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
    /// Identities of the sources whose messages may come to where this looks; None: all of them.
    pub reaching: Option<BTreeSet<String>>,
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
    /// Says that nobody waits for the answer any more; it is asked now and then.
    pub is_given_up: Option<fn() -> bool>,
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
    /// Until then, on its clock, no batch is looked at.
    rests_until: AtomicU64,
    found: Mutex<Vec<Story>>,
    changed: Condvar,
}

/// How often somebody who waits is asked whether they still do.
const ASKED_EVERY: Duration = Duration::from_millis(100);

/// Asks about messages that come from now on. Returns when there are as many as were asked for, after
/// `patience`, or when the question is given up.
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
        let next = until.min(Instant::now() + ASKED_EVERY);
        let is_late = inquiry.changed.wait_until(&mut found, next).timed_out();
        if is_late && (Instant::now() >= until || inquiry.asked.is_given_up.is_some_and(|asks| asks())) {
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
/// Rest that is in hand when nothing was looked at for so long: where little comes, a batch in which nothing
/// came to the place does not hide the next.
const RESTED_MAX: Duration = Duration::from_millis(200);

impl Inquiry {
    /// Time since the question was opened, which begins with all the rest that may be in hand.
    fn clock(&self, at: Instant) -> u64 {
        (at.saturating_duration_since(self.opened) + RESTED_MAX).as_micros() as u64
    }

    fn is_resting(&self, at: Instant) -> bool {
        self.asked.looks.is_some() && self.clock(at) < self.rests_until.load(Ordering::Relaxed)
    }

    /// A batch was looked at.
    fn rest(&self, began: Instant, took: Duration) {
        if self.asked.looks.is_some() {
            let at = self.clock(began);
            // Who looked meanwhile at another worker is not waited for twice.
            let rested = self.rests_until.load(Ordering::Relaxed).min(at);
            let from = rested.max(at.saturating_sub(RESTED_MAX.as_micros() as u64));
            let until = from + (took * (SHARE + 1)).as_micros() as u64;
            self.rests_until.fetch_max(until, Ordering::Relaxed);
        }
    }

    fn wants_source(&self, source: &Source) -> bool {
        self.asked.source.as_ref().is_none_or(|name| **name == *source.group || *name == source.id)
            && self.asked.reaching.as_ref().is_none_or(|ids| ids.contains(&source.id))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_takes_its_share_of_the_time_and_what_was_rested_before_counts() {
        let opened = Instant::now();
        let asked = Asked { looks: Some(Looks::nowhere(0)), ..Asked::default() };
        let (rests_until, found, changed) = (AtomicU64::new(0), Mutex::default(), Condvar::new());
        let inquiry = Inquiry { asked, sieve: Sieve::default(), opened, rests_until, found, changed };
        let after = |millis: u64| opened + Duration::from_millis(millis);
        let look = |at: u64, took: u64| inquiry.rest(after(at), Duration::from_millis(took));
        // Three batches in a row in which nothing was found hide no fourth; it uses up what was rested.
        for at in [0, 1, 2] {
            look(at, 1);
            assert!(!inquiry.is_resting(after(at + 1)));
        }
        look(3, 1);
        assert!(inquiry.is_resting(after(3)) && !inquiry.is_resting(after(4)));
        look(4, 1);
        assert!(inquiry.is_resting(after(54)) && !inquiry.is_resting(after(55)));
        // Two workers at a time: the second one takes nothing of what was in hand, and adds nothing.
        look(1_000, 10);
        look(1_000, 10);
        assert!(inquiry.is_resting(after(1_509)) && !inquiry.is_resting(after(1_510)));
        // One that asks for messages alone never rests.
        let (rests_until, found, changed) = (AtomicU64::new(0), Mutex::default(), Condvar::new());
        let plain =
            Inquiry { asked: Asked::default(), sieve: Sieve::default(), opened, rests_until, found, changed };
        plain.rest(after(0), Duration::from_secs(1));
        assert!(!plain.is_resting(after(1)));
    }
}
