//! What limits the program, from what was seen: one thing, in one sentence.

use super::causes::{Cause, Causes};
use std::collections::BTreeMap;

/// A worker that is so busy has no time left.
const FULL: f64 = 0.85;
/// Others that are so busy have some.
const IDLE: f64 = 0.5;
/// A source that is held so much of the time is limited by who holds it.
const HELD: f64 = 0.25;
/// So much of the workers' time in writing without running is a disk that is waited for.
const STUCK: f64 = 0.2;

/// Where a worker is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Where {
    /// `step`, `formats`, `writes`, `reads`, `headers`, `handshakes` or `turns`.
    pub what: &'static str,
    /// As the plan calls it; empty where there is nothing to name.
    pub label: String,
    /// `file:line:column`; may be empty.
    pub location: String,
}

impl Where {
    /// `filter f_re (fw.conf:23)`.
    pub fn shown(&self) -> String {
        let label = match (self.what, self.label.as_str()) {
            ("step", label) => label.to_owned(),
            ("formats", label) => format!("formatting for {label}"),
            ("writes", "") => "writing".to_owned(),
            ("writes", label) => format!("writing to {label}"),
            ("reads", "") => "reading".to_owned(),
            ("reads", label) => format!("reading from {label}"),
            ("headers", label) => format!("the headers of messages from {label}"),
            ("handshakes", label) => format!("TLS handshakes of {label}"),
            _ => "waking, sleeping, and going from one thing to the next".to_owned(),
        };
        match self.location.rsplit_once(':') {
            // The column says nothing to whoever looks for the line.
            Some((line, _)) => format!("{label} ({line})"),
            None => label,
        }
    }
}

/// A worker's part of the time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Busy {
    pub ran: f64,
    /// Ready to run, and no processor was free.
    pub queued: f64,
}

impl Busy {
    fn sum(self) -> f64 {
        self.ran + self.queued
    }
}

/// Where what a destination is to get waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    #[default]
    InMemory,
    OnDisk {
        is_full: bool,
    },
}

pub struct DestinationSeen {
    pub id: String,
    pub detail: String,
    pub bytes_per_second: f64,
    /// Part of the workers' time in which one wrote here and did not run.
    pub stuck: f64,
    pub is_of_disk: bool,
    pub queue: Queue,
    /// What went wrong last, while that lasts.
    pub error: Option<String>,
    /// Destinations that get nothing meanwhile.
    pub starves: Vec<String>,
}

/// Names of senders that were waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    /// Of the time.
    pub part: f64,
    /// At a time.
    pub most: usize,
}

/// What was seen in a time.
pub struct Summary {
    pub seconds: f64,
    pub busy: Vec<Busy>,
    /// In processors, the most first.
    pub steps: Vec<(Where, f64)>,
    /// Where workers stood most without running, and what part of their time.
    pub stuck_step: Option<(Where, f64)>,
    pub names: Names,
    /// Other threads than workers, by name, in processors.
    pub others: BTreeMap<String, f64>,
    pub causes: Causes,
    pub destinations: Vec<DestinationSeen>,
    /// Sources with their connections.
    pub connections: Vec<(String, u64)>,
    /// Of the profile itself, in processors.
    pub cost: f64,
}

/// What limits it.
pub struct Verdict {
    /// `cpu`, `connection`, `disk`, `destination`, `step`, `window`, `rate`, `memory`, `dns` or `nothing`.
    pub kind: &'static str,
    /// What is to be looked at: a step, a source or a destination.
    pub name: String,
    pub sentence: String,
}

impl Summary {
    pub fn verdict(&self) -> Verdict {
        let sums: Vec<f64> = self.busy.iter().map(|busy| busy.sum()).collect();
        let most = sums.iter().copied().fold(0.0, f64::max);
        let mean = sums.iter().sum::<f64>() / sums.len().max(1) as f64;
        if let Some(stuck) = self.stuck().or_else(|| self.stuck_at_a_step()) {
            return stuck;
        }
        if most >= FULL {
            return match self
                .lone_connection()
                .filter(|_| sums.len() > 1 && mean - most / sums.len() as f64 <= IDLE)
            {
                Some(source) if mean < FULL => self.one_connection(source, most),
                _ => self.cpu(),
            };
        }
        self.held().or_else(|| self.dns()).unwrap_or_else(|| self.nothing())
    }

    /// Of each hundred processor seconds of the program, those that went there.
    pub fn share(&self, processors: f64) -> f64 {
        let workers: f64 = self.busy.iter().map(|busy| busy.ran).sum();
        100.0 * processors / (workers + self.others.values().sum::<f64>()).max(1e-9)
    }

    fn top(&self) -> Option<(&Where, f64)> {
        self.steps.first().map(|(at, processors)| (at, self.share(*processors)))
    }

    /// Hundredths of the time in which this held a source.
    pub fn held_part(&self, cause: &Cause) -> f64 {
        let count = self.causes.met.get(cause).copied().unwrap_or(0);
        100.0 * count as f64 / self.causes.looks.max(1) as f64
    }

    /// The only source that has connections, if that is one connection.
    fn lone_connection(&self) -> Option<&str> {
        let mut connected = self.connections.iter().filter(|(_, count)| *count > 0);
        match (connected.next(), connected.next()) {
            (Some((source, 1)), None) => Some(source),
            _ => None,
        }
    }

    fn one_connection(&self, source: &str, most: f64) -> Verdict {
        let top = self.top().map(|(at, share)| format!(", {share:.0} % of the CPU in {}", at.shown()));
        let sentence = format!(
            "limited by one connection of {source}: its worker is busy {:.0} % of the time and others are not{}; more \
             connections use more cores, parallelize() does it with one",
            100.0 * most.min(1.0),
            top.unwrap_or_default(),
        );
        Verdict { kind: "connection", name: source.to_owned(), sentence }
    }

    fn cpu(&self) -> Verdict {
        let (name, sentence) = match self.top() {
            Some((at, share)) => {
                (at.shown(), format!("limited by CPU, {share:.0} % of it in {}", at.shown()))
            }
            None => (String::new(), "limited by CPU".to_owned()),
        };
        Verdict { kind: "cpu", name, sentence }
    }

    /// Workers that stand in a write.
    fn stuck(&self) -> Option<Verdict> {
        let worst = self.destinations.iter().max_by(|a, b| a.stuck.total_cmp(&b.stuck))?;
        if worst.stuck * (self.busy.len().max(1) as f64) < STUCK || worst.stuck < STUCK / 4.0 {
            return None;
        }
        let part = 100.0 * worst.stuck;
        let kind = if worst.is_of_disk { "disk" } else { "destination" };
        let of = if worst.is_of_disk { "the disk of " } else { "" };
        let sentence = format!(
            "limited by {of}{} ({}): it takes {}, and workers stand in a write {part:.0} % of their time{}",
            worst.id,
            worst.detail,
            rate(worst.bytes_per_second),
            error(worst),
        );
        Some(Verdict { kind, name: worst.id.clone(), sentence })
    }

    /// Workers that stand at a step: what it asks is done by somebody else.
    fn stuck_at_a_step(&self) -> Option<Verdict> {
        let (at, part) = self.stuck_step.as_ref()?;
        if part * (self.busy.len().max(1) as f64) < STUCK || *part < STUCK / 4.0 {
            return None;
        }
        let sentence = format!(
            "limited by {}: workers stand there {:.0} % of their time and wait for an answer from outside the program, as of its Python process",
            at.shown(),
            100.0 * part
        );
        Some(Verdict { kind: "step", name: at.shown(), sentence })
    }

    /// Connections are not read before their peer has a name, or for a second.
    fn dns(&self) -> Option<Verdict> {
        if self.names.part < HELD {
            return None;
        }
        let sentence = format!(
            "limited by DNS: {} not read {:.0} % of the time, because the name server does not say what the peer is called; use-dns(no) \
             or dns-cache-hosts() does without it",
            stdio::counted(self.names.most as u64, "connection is", "connections are"),
            100.0 * self.names.part
        );
        Some(Verdict { kind: "dns", name: String::new(), sentence })
    }

    fn held(&self) -> Option<Verdict> {
        let (cause, _) = self.causes.met.iter().max_by_key(|(_, count)| **count)?;
        let part = self.held_part(cause);
        if part < 100.0 * HELD {
            return None;
        }
        let source = cause.source();
        let seen = cause.destination().and_then(|id| self.destinations.iter().find(|seen| seen.id == id));
        let held = format!("{source} is held back {part:.0} % of the time");
        let sentence = match (cause, seen) {
            (Cause::Window { destination, .. }, _) => format!(
                "limited by the window of {source}: its messages wait for {destination}, which is not late, and {held}; a larger log-iw-size() lets more \
                 come in"
            ),
            (Cause::Rate { .. }, Some(seen)) => format!(
                "limited by throttle() of {} ({}): it takes {}, which is all that it may, and {held}",
                seen.id,
                seen.detail,
                rate(seen.bytes_per_second)
            ),
            // What its peer takes has nothing to do with it.
            (Cause::Disk { .. }, Some(seen)) if seen.queue != Queue::InMemory => format!(
                "limited by the disk on which the queue of {} ({}) is written, and {held}",
                seen.id, seen.detail
            ),
            (Cause::Disk { .. }, Some(seen)) => format!(
                "limited by the disk of {} ({}): it takes {}, and {held}{}",
                seen.id,
                seen.detail,
                rate(seen.bytes_per_second),
                error(seen)
            ),
            (Cause::Destination { .. }, Some(seen)) if seen.error.is_some() => {
                format!(
                    "limited by {} ({}): it takes {}{}, and {held}{}",
                    seen.id,
                    seen.detail,
                    rate(seen.bytes_per_second),
                    full(seen),
                    error(seen)
                )
            }
            (Cause::Destination { .. }, Some(seen)) => format!(
                "limited by {} ({}): its peer reads {}{}, and {held}{}",
                seen.id,
                seen.detail,
                rate(seen.bytes_per_second),
                full(seen),
                error(seen)
            ),
            _ => {
                format!("limited by memory: what all sources have under way is as much as may be, and {held}")
            }
        };
        let name = cause.destination().filter(|_| cause.name() != "window").unwrap_or(source);
        Some(Verdict { kind: cause.name(), name: name.to_owned(), sentence })
    }

    fn nothing(&self) -> Verdict {
        let quiet = 100.0 * self.quiet();
        let sentence = format!(
            "limited by nothing: the sources are quiet, and workers have nothing to do {quiet:.0} % of the time"
        );
        Verdict { kind: "nothing", name: String::new(), sentence }
    }

    /// Part of the workers' time in which there was nothing to do and nothing was held.
    pub fn quiet(&self) -> f64 {
        let busy = self.busy.iter().map(|busy| busy.sum()).sum::<f64>() / self.busy.len().max(1) as f64;
        let free = self.causes.free as f64 / self.causes.looks.max(1) as f64;
        (1.0 - busy).clamp(0.0, 1.0) * free
    }
}

/// Its queue on disk keeps the source free as long as there is room.
fn full(seen: &DestinationSeen) -> &'static str {
    match seen.queue {
        Queue::OnDisk { is_full: true } => ", its queue on disk is full",
        _ => "",
    }
}

/// What went wrong there, and who else gets nothing because of it.
fn error(seen: &DestinationSeen) -> String {
    let error = seen.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
    let starves = match seen.starves.as_slice() {
        [] => String::new(),
        names => format!("; {} nothing meanwhile", gets(names)),
    };
    error + &starves
}

fn gets(names: &[String]) -> String {
    format!("{} {}", names.join(", "), if names.len() == 1 { "gets" } else { "get" })
}

/// As people say it.
pub fn rate(bytes_per_second: f64) -> String {
    match bytes_per_second.max(0.0) as u64 {
        0 => "nothing".to_owned(),
        bytes => format!("{}/s", control::ledger::amount(bytes)),
    }
}

#[cfg(test)]
mod tests;
