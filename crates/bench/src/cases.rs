//! The cases. A case is what is sent, what the receiver does with it, and what penstock aims at there. A new
//! case is one entry in a table below; a new kind of work is a `Path` or a `Processing` and its text in
//! `conf`.

use crate::files::Layout;
use crate::receiver::{RECEIVERS, Receiver};
use loggen::message::Body;

pub mod aim;
mod blocks;
mod buffered;
mod connector;
mod cores;
mod datagram;
mod deliveries;
mod files;
mod intakes;
mod paths;
mod processing;
mod python;
mod rltp;
mod secure;
mod transport;

use aim::Aim;
pub use blocks::Block;
pub use buffered::{Appear, Buffered};
pub use deliveries::Delivery;
pub use intakes::Intake;
pub use paths::Printed;
pub use processing::Processing;
pub use python::Python;
pub use rltp::Hop;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feed {
    /// Over TCP, as fast as the receiver takes it.
    Tcp,
    /// Over TCP, so many messages a second on each connection.
    Paced { per_second: f64 },
    /// The whole input waits in the receiver's socket buffer before the receiver may run: the sender takes no
    /// CPU from it, what a machine with few cores needs to show how far a receiver scales.
    Prepared,
    /// UDP at a fixed rate of all senders together, for the run's UDP time; with `so-rcvbuf()` or without.
    Udp { per_second: u32, receive_bytes: Option<u64> },
    /// Files that are there all at once; `connections` is their number.
    Files(Layout),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    pub feed: Feed,
    pub connections: usize,
    /// Sockets that share the port, of UDP.
    pub sockets: usize,
    /// RFC 5424 with octet counting instead of RFC 3164 lines.
    pub ietf: bool,
    /// Through TLS.
    pub secure: bool,
    /// Other TLS connections that are opened and closed meanwhile, so many a second.
    pub storm: u32,
    /// Different host names in the messages.
    pub hosts: u32,
    /// What the text of the messages looks like.
    pub body: Body,
    /// Bytes of a message.
    pub size: usize,
    /// `log-iw-size()` and `max-connections()` of the source, where the case is about them.
    pub window: Option<Window>,
    /// Multiplies the run's number of messages.
    pub share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub messages: u32,
    pub connections: u32,
}

/// What the receiver does with each message. All of them pass every message on, so that delivery can be
/// verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    OneFile,
    FilesByHost,
    /// TCP out to a process that writes to a file.
    Relay,
    /// The same, with values that `kv-parser()` has found.
    ParsedRelay(Printed),
    /// The same, and what waits is on disk.
    Buffered(Buffered),
    /// To a second penstock, which writes to a file.
    Hop(Hop),
    /// From another penstock, in a protocol of its own.
    Intake(Intake),
    /// To a server that answers, and writes down which messages came.
    Delivery(Delivery),
    FilterFacility,
    FilterHost,
    FilterTag,
    /// Twenty filters that divide the messages among as many files, after openSUSE's default configuration.
    TwentyFilters,
    /// A regular expression on the message.
    Regexp,
    /// `subst` on HOST.
    SubstHost,
    /// Two regular expressions and a `subst` on the message.
    Costly,
    Processing(Processing),
    /// Hundreds of applications, from what devices send to events for Splunk.
    Connector,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    pub name: &'static str,
    pub about: &'static str,
    pub input: Input,
    pub path: Path,
    /// `--worker-threads`.
    pub worker_threads: Option<u32>,
    /// Whether idle workers may take batches of busy ones.
    pub sharing: bool,
    /// Receivers the case makes sense for; the others are left out.
    pub receivers: &'static [Receiver],
    pub aims: &'static [Aim],
}

const ALL: &[Receiver] = &RECEIVERS;
/// Cases about settings only penstock has.
const OWN: &[Receiver] = &[Receiver::Floor, Receiver::Penstock];

const ONE: Input = Input {
    feed: Feed::Tcp,
    connections: 1,
    sockets: 1,
    ietf: false,
    secure: false,
    storm: 0,
    hosts: 1,
    body: Body::Text,
    size: 400,
    window: None,
    share: 1.0,
};
const TEN: Input = Input { connections: 10, ..ONE };

const PLAIN: Case = Case {
    name: "",
    about: "",
    input: ONE,
    path: Path::OneFile,
    worker_threads: None,
    sharing: true,
    receivers: ALL,
    aims: &[],
};

/// In the order they are run and reported.
const TABLES: [&[Case]; 14] = [
    &transport::CASES,
    &buffered::CASES,
    &processing::CASES,
    &paths::CASES,
    &blocks::CASES,
    &connector::CASES,
    &python::CASES,
    &files::CASES,
    &secure::CASES,
    &datagram::CASES,
    &rltp::CASES,
    &deliveries::CASES,
    &intakes::CASES,
    &cores::CASES,
];

const COUNT: usize = {
    let (mut count, mut table) = (0, 0);
    while table < TABLES.len() {
        count += TABLES[table].len();
        table += 1;
    }
    count
};

static ALL_CASES: [Case; COUNT] = {
    let mut all = [PLAIN; COUNT];
    let (mut at, mut table, mut row) = (0, 0, 0);
    while at < COUNT {
        if row == TABLES[table].len() {
            (table, row) = (table + 1, 0);
            continue;
        }
        all[at] = TABLES[table][row];
        (at, row) = (at + 1, row + 1);
    }
    all
};

pub static CASES: &[Case] = &ALL_CASES;

impl Case {
    /// Messages to send when the run has `messages` per case and `udp_seconds` of UDP.
    pub fn messages(&self, messages: u64, udp_seconds: u64) -> u64 {
        match self.input.feed {
            Feed::Udp { per_second, .. } => u64::from(per_second) * udp_seconds,
            Feed::Files(layout) => layout.messages(messages),
            _ => ((messages as f64 * self.input.share) as u64).max(self.input.connections as u64),
        }
    }

    /// Of an input in files.
    pub fn layout(&self) -> Option<Layout> {
        match self.input.feed {
            Feed::Files(layout) => Some(layout),
            _ => None,
        }
    }

    pub fn is_udp(&self) -> bool {
        matches!(self.input.feed, Feed::Udp { .. })
    }
}

/// The cases whose names match one of `patterns`, with those their aims compare with; in the table's order. A
/// word that is no case's name stands for all whose names begin with it: `cores`. Without patterns, cases
/// that want more workers than `cores` are left out.
pub fn select(patterns: &[glob::Pattern], cores: usize) -> Vec<&'static Case> {
    let is_group = |pattern: &glob::Pattern| !CASES.iter().any(|case| pattern.matches(case.name));
    let in_group = |pattern: &glob::Pattern, name: &str| {
        name.strip_prefix(pattern.as_str()).is_some_and(|rest| rest.starts_with('-')) && is_group(pattern)
    };
    let wanted = |case: &&Case| match patterns {
        [] => case.worker_threads.is_none_or(|threads| threads as usize <= cores.max(2)),
        _ => patterns.iter().any(|pattern| pattern.matches(case.name) || in_group(pattern, case.name)),
    };
    let mut names: Vec<&str> = CASES.iter().filter(wanted).map(|case| case.name).collect();
    for case in CASES.iter().filter(wanted) {
        names.extend(case.aims.iter().filter_map(Aim::other_case));
    }
    CASES.iter().filter(|case| names.contains(&case.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        for (index, case) in CASES.iter().enumerate() {
            let same = CASES.iter().filter(|other| other.name == case.name).count();
            assert_eq!(same, 1, "{} is there twice", case.name);
            assert!(!case.about.is_empty() && !case.receivers.is_empty(), "{}", case.name);
            assert!(case.input.connections >= 1 && case.input.connections <= loggen::send::CONNECTIONS_MAX);
            assert!(case.input.share > 0.0 && case.input.share <= 10.0, "{}", case.name);
            for aim in case.aims {
                assert!(case.receivers.contains(&Receiver::Penstock), "{}: aims are penstock's", case.name);
                if let Some(other) = aim.other_case() {
                    assert!(
                        CASES[..index].iter().any(|earlier| earlier.name == other),
                        "{}: {other}",
                        case.name
                    );
                }
            }
        }
    }

    #[test]
    fn comparisons_are_between_like_inputs() {
        for case in CASES {
            for other in case.aims.iter().filter_map(Aim::other_case) {
                let other = CASES.iter().find(|c| c.name == other).unwrap();
                // How files are spread out is what those cases are about.
                assert!(
                    case.layout().is_some() || case.input.connections == other.input.connections,
                    "{} and {}",
                    case.name,
                    other.name
                );
                assert_eq!(case.layout().is_some(), other.layout().is_some());
                assert_eq!(case.input.size, other.input.size, "{} and {}", case.name, other.name);
            }
        }
    }

    #[test]
    fn selection_takes_what_it_is_compared_with() {
        let names = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|p| glob::Pattern::new(p).unwrap()).collect();
            select(&patterns, 64).iter().map(|case| case.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["ietf-1"]), ["tcp-1", "ietf-1"]);
        assert_eq!(names(&["filter-*"]), ["tcp-10", "filter-facility", "filter-host", "filter-tag"]);
        assert_eq!(names(&[]).len(), CASES.len());
        assert!(names(&["none"]).is_empty());
        assert_eq!(names(&["cores"]).len(), 51);
        assert_eq!(names(&["paths"]).len(), 15);
        assert_eq!(names(&["ietf"]).len(), names(&["ietf-*"]).len());
        assert!(select(&[], 2).iter().all(|case| case.worker_threads.is_none_or(|threads| threads <= 2)));
    }

    #[test]
    fn amounts() {
        let case = |name| CASES.iter().find(|case| case.name == name).unwrap();
        assert_eq!(case("tcp-1").messages(500_000, 60), 500_000);
        assert_eq!(case("udp-512").messages(500_000, 60), 4_020_000);
        assert_eq!(case("memory-1000").messages(10, 60), 1000);
    }
}
