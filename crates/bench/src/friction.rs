//! What a receiver's threads cost one another, in figures that do not depend on the machine: counted, for
//! each thousand messages.

use std::path::Path;

use crate::control::ask;

/// Since the start of a process, or between two moments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Friction {
    /// Locks that were held by somebody else when they were wanted, as penstock says.
    pub lock_waits: u64,
    /// Workers that were woken.
    pub wake_ups: u64,
    /// Batches that one worker read and another worked on.
    pub hand_overs: u64,
    /// System calls that read and write, as the kernel counts them: those for datagrams are not among them.
    pub calls: u64,
    pub writes: u64,
    /// Bytes of these writes.
    pub bytes: u64,
}

/// A row of the report: its heading, and what a run with so many messages shows.
type Column = (&'static str, fn(&Friction, f64) -> f64);

pub const COLUMNS: [Column; 5] = [
    ("lock waits", |f, thousands| f.lock_waits as f64 / thousands),
    ("wake-ups", |f, thousands| f.wake_ups as f64 / thousands),
    ("hand-overs", |f, thousands| f.hand_overs as f64 / thousands),
    ("reads and writes", |f, thousands| f.calls as f64 / thousands),
    ("bytes a write", |f, _| f.bytes as f64 / f.writes.max(1) as f64),
];

impl Friction {
    /// What a running penstock says of itself; nothing of others.
    pub fn ask(control: &Path) -> Friction {
        Friction::read(&ask(control, "STATS").unwrap_or_default())
    }

    fn read(stats: &str) -> Friction {
        let global = |name: &str| {
            let prefix = format!("global;{name};;a;processed;");
            stats.lines().find_map(|line| line.strip_prefix(&prefix)?.trim().parse().ok()).unwrap_or(0)
        };
        Friction {
            lock_waits: global("lock_waits"),
            wake_ups: global("wake_ups"),
            hand_overs: global("hand_overs"),
            ..Friction::default()
        }
    }

    pub fn since(self, before: Friction) -> Friction {
        Friction {
            lock_waits: self.lock_waits.saturating_sub(before.lock_waits),
            wake_ups: self.wake_ups.saturating_sub(before.wake_ups),
            hand_overs: self.hand_overs.saturating_sub(before.hand_overs),
            calls: self.calls.saturating_sub(before.calls),
            writes: self.writes.saturating_sub(before.writes),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }

    pub fn and(self, other: Friction) -> Friction {
        Friction {
            lock_waits: self.lock_waits + other.lock_waits,
            wake_ups: self.wake_ups + other.wake_ups,
            hand_overs: self.hand_overs + other.hand_overs,
            calls: self.calls + other.calls,
            writes: self.writes + other.writes,
            bytes: self.bytes + other.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_what_came_between() {
        let stats = |n: u64| {
            format!(
                "x;y;;a;processed;9\nglobal;lock_waits;;a;processed;{n}\nglobal;hand_overs;;a;processed;7\n"
            )
        };
        let kernel = Friction { calls: 30, writes: 10, bytes: 4000, ..Friction::default() };
        let run = Friction::read(&stats(25)).and(kernel).since(Friction::read(&stats(5)));
        let shown = COLUMNS.map(|(name, value)| (name, value(&run, 2.0)));
        let expected = [
            ("lock waits", 10.0),
            ("wake-ups", 0.0),
            ("hand-overs", 0.0),
            ("reads and writes", 15.0),
            ("bytes a write", 400.0),
        ];
        assert_eq!(shown, expected);
    }
}
