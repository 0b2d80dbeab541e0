//! The balance: what became of every message, by source, log path and destination.
//!
//! In every row, at every moment: received = delivered + waiting + filtered + dropped.

mod disks;
mod held;
mod json;
mod table;
mod waits;

use std::str::FromStr;

pub use disks::{Disk, amount};
pub use held::Held;
pub use waits::{Headroom, LastError, RoomUnit, State as WaitState, Wait};

/// Why a message was dropped. Every drop has exactly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DropReason {
    /// The destination's queue was full and the path has no flow control.
    QueueFull,
    /// The destination refused this message for good: too large, a name outside its folder.
    Refused,
    /// Still undelivered when the program had to end or its destination was removed.
    Abandoned,
    /// A defect of the program, contained and counted.
    Contained,
    /// The kernel had no room in the socket's receive buffer.
    Kernel,
    /// The source had no credit left and cannot make its senders wait.
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

impl DropReason {
    pub const ALL: [DropReason; 12] = [
        DropReason::QueueFull,
        DropReason::Refused,
        DropReason::Abandoned,
        DropReason::Contained,
        DropReason::Kernel,
        DropReason::NoCredit,
        DropReason::Framing,
        DropReason::Damaged,
        DropReason::Discarded,
        DropReason::Repeated,
        DropReason::DeadLetter,
        DropReason::Oversized,
    ];

    /// The name in output, as in `queue-full`.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue-full",
            DropReason::Refused => "refused",
            DropReason::Abandoned => "abandoned",
            DropReason::Contained => "contained",
            DropReason::Kernel => "kernel",
            DropReason::NoCredit => "no-credit",
            DropReason::Framing => "framing",
            DropReason::Damaged => "damaged",
            DropReason::Discarded => "discarded",
            DropReason::Repeated => "repeated",
            DropReason::DeadLetter => "dead-letter",
            DropReason::Oversized => "oversized",
        }
    }

    /// What a person reads beside the number.
    pub fn help(self) -> &'static str {
        match self {
            DropReason::QueueFull => {
                "the destination's queue was full: raise log-fifo-size() or use flow-control"
            }
            DropReason::Refused => "refused by the destination for good",
            DropReason::Abandoned => "undelivered when the program ended or the destination was removed",
            DropReason::Contained => "a defect in the program: please report it",
            DropReason::Kernel => "the kernel's receive buffer was full: raise so-rcvbuf()",
            DropReason::NoCredit => {
                "destinations are too slow, and the receive buffer was full: give them disk-buffer(), or raise so-rcvbuf() or log-iw-size()"
            }
            DropReason::Framing => "the sender's framing was broken",
            DropReason::Damaged => "waited on disk, and the disk gave back something else",
            DropReason::Discarded => "was dropped by `penstock queue drop` or `ctl reload --drop`",
            DropReason::DeadLetter => {
                "its destination was removed: kept, see `penstock queue cat dead-letters`"
            }
            DropReason::Repeated => "came again after a crash, and was on disk already: not lost",
            DropReason::Oversized => "the template's output is larger than 64 MiB",
        }
    }
}

impl FromStr for DropReason {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = DropReason::ALL.into_iter().find(|r| r.name() == name);
        found.ok_or_else(|| format!("unknown drop reason '{name}'"))
    }
}

/// Messages dropped, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    pub fn count(&self, reason: DropReason) -> u64 {
        self.0.get(reason as usize).copied().unwrap_or(0)
    }

    pub fn add(&mut self, reason: DropReason, count: u64) {
        if let Some(slot) = self.0.get_mut(reason as usize) {
            *slot = slot.saturating_add(count);
        }
    }

    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |total, n| total.saturating_add(*n))
    }

    /// Reasons that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().map(|r| (r, self.count(r))).filter(|(_, n)| *n > 0)
    }
}

/// The account of one place messages pass through, in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flow {
    pub received: u64,
    /// Of those received, the ones that waited on disk when the program or the destination began.
    pub recovered: u64,
    /// Done: handed on (source, path) or acknowledged by the outside (destination).
    pub delivered: u64,
    /// Received and not done yet.
    pub waiting: u64,
    /// Left out because the configuration says so.
    pub filtered: u64,
    pub dropped: Drops,
    /// Bytes of the messages received and delivered.
    pub received_bytes: u64,
    pub delivered_bytes: u64,
}

impl Flow {
    /// Received less everything accounted for. Not zero: messages are missing (positive) or counted twice.
    pub fn difference(&self) -> i128 {
        i128::from(self.received)
            - i128::from(self.delivered)
            - i128::from(self.waiting)
            - i128::from(self.filtered)
            - i128::from(self.dropped.total())
    }

    pub fn balanced(&self) -> bool {
        self.difference() == 0
    }

    /// Adds the account of another place.
    pub fn add(&mut self, other: &Flow) {
        for (sum, more) in [
            (&mut self.received, other.received),
            (&mut self.recovered, other.recovered),
            (&mut self.delivered, other.delivered),
            (&mut self.waiting, other.waiting),
            (&mut self.filtered, other.filtered),
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.delivered_bytes, other.delivered_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
        other.dropped.iter().for_each(|(reason, count)| self.dropped.add(reason, count));
    }
}

/// A named account: `s_net#0`, the place of a log path, `d_file#0`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    pub name: String,
    /// Driver and instance, or where the log path stands in the configuration; may be empty.
    pub detail: String,
    pub flow: Flow,
    /// What a destination said of the last message that it refused; may be empty.
    pub refused_with: String,
}

/// The whole balance at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    pub sources: Vec<Row>,
    pub paths: Vec<Row>,
    pub destinations: Vec<Row>,
    /// Destinations that wait, and why.
    pub waits: Vec<Wait>,
    /// Sources that are not read, and because of whom.
    pub held: Vec<Held>,
    /// File systems that the program writes to.
    pub disks: Vec<Disk>,
    /// Blocks of FilterX that have failed for messages, which count as filtered in their log paths.
    pub failures: Vec<Failures>,
}

/// Why a block of FilterX failed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failures {
    /// `file:line:column`
    pub place: String,
    /// How many messages, by the cause: `falsy`, `unset`, `type`, `limit`, `value`.
    pub causes: Vec<(String, u64)>,
}

impl Ledger {
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sources.iter().chain(&self.paths).chain(&self.destinations)
    }

    pub fn balanced(&self) -> bool {
        self.rows().all(|row| row.flow.balanced())
    }

    /// The table of `penstock ledger`.
    pub fn to_table(&self) -> String {
        table::render(self)
    }

    /// One line of JSON, read back by [`Ledger::from_json`].
    pub fn to_json(&self) -> String {
        json::render(self)
    }

    pub fn from_json(text: &str) -> Result<Ledger, String> {
        json::parse(text)
    }
}

#[cfg(test)]
mod tests;
