//! The ledger: what came in and what became of it. Counted per batch with relaxed atomics, read by
//! statistics, metrics and tests.

mod remains;
mod setback;

use crate::chunk::Whole;
use crate::dead_letters::Tray;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

pub use remains::{MESSAGES_MAX as REMAINS_MAX, Remain, Remains};
pub use setback::{Setback, Setbacks};

/// Why a message was not delivered. Every lost message has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The queue of a destination was full and the path has no flow-control.
    QueueFull,
    /// The destination refused it for good (too large for a datagram, name outside the prefix ...).
    Refused,
    /// The destination could not be written any more and was removed by a reload or at shutdown.
    Abandoned,
    /// A panic was contained while the batch was in work.
    Contained,
    /// The kernel had no room in the receive buffer (UDP).
    Kernel,
    /// The source had no credit and cannot wait (UDP without flow-control).
    NoCredit,
    /// The framing of a connection broke; what followed could not be told apart.
    Framing,
    /// It waited on disk and could not be read again.
    Damaged,
    /// It waited and was dropped on request.
    Discarded,
    /// Its sender sent it again, and it is here already.
    Repeated,
    /// Its destination is gone; it is among the dead letters.
    DeadLetter,
    /// What a destination's template makes of it is larger than the limit.
    Oversized,
}

impl Reason {
    pub const ALL: [Reason; 12] = [
        Reason::QueueFull,
        Reason::Refused,
        Reason::Abandoned,
        Reason::Contained,
        Reason::Kernel,
        Reason::NoCredit,
        Reason::Framing,
        Reason::Damaged,
        Reason::Discarded,
        Reason::Repeated,
        Reason::DeadLetter,
        Reason::Oversized,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Reason::QueueFull => "queue_full",
            Reason::Refused => "refused",
            Reason::Abandoned => "abandoned",
            Reason::Contained => "contained",
            Reason::Kernel => "kernel",
            Reason::NoCredit => "no_credit",
            Reason::Framing => "framing",
            Reason::Damaged => "damaged",
            Reason::Discarded => "discarded",
            Reason::Repeated => "repeated",
            Reason::DeadLetter => "dead_letter",
            Reason::Oversized => "oversized",
        }
    }
}

/// A number that only grows, except by an explicit reset.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, n: usize) {
        if n > 0 {
            self.0.fetch_add(n as u64, Relaxed);
        }
    }

    pub fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub fn reset(&self) {
        self.0.store(0, Relaxed);
    }
}

/// A number of things that are somewhere at this moment.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    pub fn add(&self, n: usize) {
        self.0.fetch_add(n as i64, Relaxed);
    }

    pub fn sub(&self, n: usize) {
        self.0.fetch_sub(n as i64, Relaxed);
    }

    pub fn value(&self) -> u64 {
        self.0.load(Relaxed).max(0) as u64
    }
}

/// Lost messages by reason.
#[derive(Debug, Default)]
pub struct Drops([Count; Reason::ALL.len()]);

impl Drops {
    pub fn add(&self, reason: Reason, n: usize) {
        self.0[reason as usize].add(n);
    }

    pub fn value(&self, reason: Reason) -> u64 {
        self.0[reason as usize].value()
    }

    pub fn total(&self) -> u64 {
        self.0.iter().map(Count::value).sum()
    }

    pub fn reset(&self) {
        self.0.iter().for_each(Count::reset);
    }
}

/// Why a connection, or a datagram, of a peer was given up for what it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// Where the length of a frame was due stood something else.
    InvalidFrameHeader,
    /// A frame announced more than log-msg-size() allows.
    FrameTooLong,
    /// The stream ended inside a frame.
    UnfinishedFrame,
    /// The peer does not keep to the protocol that is spoken with it: RELP, RLTP.
    Protocol,
    TlsHandshake,
    /// The header of the PROXY protocol is missing or wrong.
    ProxyHeader,
}

impl TransportError {
    pub const ALL: [TransportError; 6] = [
        TransportError::InvalidFrameHeader,
        TransportError::FrameTooLong,
        TransportError::UnfinishedFrame,
        TransportError::Protocol,
        TransportError::TlsHandshake,
        TransportError::ProxyHeader,
    ];

    /// As metrics name it: those that AxoSyslog has are called as there.
    pub fn name(self) -> &'static str {
        match self {
            TransportError::InvalidFrameHeader => "invalid-frame-header",
            TransportError::FrameTooLong => "frame-too-long",
            TransportError::UnfinishedFrame => "unfinished-frame",
            TransportError::Protocol => "protocol",
            TransportError::TlsHandshake => "tls-handshake",
            TransportError::ProxyHeader => "proxy-header",
        }
    }
}

/// Errors of transport by kind.
#[derive(Debug, Default)]
pub struct TransportErrors([Count; TransportError::ALL.len()]);

impl TransportErrors {
    pub fn add(&self, error: TransportError) {
        self.0[error as usize].add(1);
    }

    pub fn value(&self, error: TransportError) -> u64 {
        self.0[error as usize].value()
    }
}

/// `received = routed + unmatched + dropped + in work`.
#[derive(Debug, Default)]
pub struct SourceCounters {
    pub received: Count,
    pub received_bytes: Count,
    /// Messages handed to at least one destination.
    pub routed: Count,
    /// Messages that went to no destination: filtered out everywhere, or in log paths without one.
    pub unmatched: Count,
    /// Read and not yet through the log paths.
    pub in_work: Gauge,
    pub dropped: Drops,
    pub transport_errors: TransportErrors,
    /// Messages cut at log-msg-size().
    pub truncated: Count,
    /// The last of what it dropped.
    pub remains: Remains,
    /// Where its messages go that end a process which parses them.
    pub dead_letters: Tray,
    /// Bytes that were in a file and gone before they were read.
    pub lost_bytes: Count,
    pub connections: Gauge,
    /// Those of its connections and files that wait for credit to read.
    pub held: Gauge,
    pub rejected_connections: Count,
    /// `max-connections()`, for statistics.
    pub connections_max: AtomicU64,
    /// Seconds since 1970 of the newest message.
    pub last_seen: AtomicU64,
}

/// `ingress = delivered + filtered`. A message that ends in the path and went to no destination there is
/// filtered, whatever matched.
#[derive(Debug, Default)]
pub struct PathCounters {
    /// Messages that came in, and those that parsers made in the path.
    pub ingress: Count,
    /// Messages that came to the end of the path.
    pub matched: Count,
    /// Messages handed to at least one destination of the path.
    pub delivered: Count,
    pub filtered: Count,
}

impl PathCounters {
    /// Counts messages that have left the path: of `entered`, those handed to destinations are `delivered`.
    pub fn left(&self, entered: usize, matched: usize, delivered: usize) {
        self.ingress.add(entered);
        self.matched.add(matched);
        self.delivered.add(delivered);
        self.filtered.add(entered.saturating_sub(delivered));
    }
}

/// `accepted = delivered + waiting + dropped`.
#[derive(Debug, Default)]
pub struct DestinationCounters {
    pub accepted: Count,
    pub accepted_bytes: Count,
    /// Of the accepted, those that waited on disk before the program or this destination began.
    pub recovered: Count,
    pub delivered: Count,
    pub delivered_bytes: Count,
    pub waiting: Gauge,
    pub dropped: Drops,
    /// Lines replaced by "Last message repeated": counted as delivered, shown apart.
    pub suppressed: Count,
    pub truncated: Count,
    pub reconnects: Count,
    /// 1 while the destination cannot be reached.
    pub unreachable: Gauge,
    /// Where messages go that it refuses for good.
    pub dead_letters: Tray,
    /// Why it does not take messages.
    pub setbacks: Setbacks,
    /// The last of what it dropped.
    pub remains: Arc<Remains>,
    /// What was given up with it.
    pub given_up: GivenUp,
}

/// Messages that a destination had when it ended, and that nobody keeps.
#[derive(Debug, Default)]
pub struct GivenUp(Mutex<Given>);

#[derive(Clone, Debug, Default)]
pub struct Given {
    pub messages: usize,
    /// When the oldest of them came, if that is known.
    pub oldest: Option<Instant>,
    /// Why nobody keeps them.
    pub why: String,
}

impl GivenUp {
    /// What is given up from now on is for this reason.
    pub fn because(&self, why: &str) {
        why.clone_into(&mut self.0.lock().why);
    }

    /// So many more, the oldest of which came then. Returns the reason.
    pub fn add(&self, messages: usize, oldest: Option<Instant>) -> String {
        let mut given = self.0.lock();
        given.messages += messages;
        given.oldest = given.oldest.into_iter().chain(oldest).min();
        given.why.clone()
    }

    pub fn so_far(&self) -> Given {
        self.0.lock().clone()
    }
}

impl DestinationCounters {
    /// Counts messages and their bytes together: bytes of a message that was begun are not delivered.
    pub fn delivered(&self, whole: Whole) {
        self.delivered.add(whole.messages);
        self.delivered_bytes.add(whole.bytes);
    }

    /// Counts messages as accepted: from now on they wait, in the buffer of a worker for now. Each must then
    /// be pushed once.
    pub fn announce(&self, messages: usize, bytes: usize) {
        self.waiting.add(messages);
        self.accepted.add(messages);
        self.accepted_bytes.add(bytes);
    }
}

/// Matched and not matched messages of a filter or parser.
#[derive(Debug, Default)]
pub struct StepCounters {
    pub matched: Count,
    pub not_matched: Count,
}

/// Messages that a block of FilterX failed for, by the cause.
#[derive(Debug, Default)]
pub struct FailureCounters([Count; filterx::CAUSES.len()]);

impl FailureCounters {
    pub fn add(&self, causes: filterx::Causes) {
        for (count, new) in self.0.iter().zip(causes.counts()) {
            if new > 0 {
                count.add(new);
            }
        }
    }

    /// Each cause by its name.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        filterx::CAUSES.iter().zip(&self.0).map(|((_, name), count)| (*name, count.value()))
    }
}

/// Filters that are called from others.
impl filter::Tally for StepCounters {
    fn count(&self, matched: usize, not_matched: usize) {
        self.matched.add(matched);
        self.not_matched.add(not_matched);
    }
}
