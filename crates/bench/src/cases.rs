//! The table of cases. A case is what is sent, what the receiver does with it, and what penstock aims at there.
//! A new case is one entry; a new kind of work is a `Path` and its text in `conf`.

use crate::receiver::{RECEIVERS, Receiver};

pub mod aim;

use aim::Aim;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feed {
    /// Over TCP, as fast as the receiver takes it.
    Tcp,
    /// Over TCP, so many messages a second on each connection.
    Paced { per_second: f64 },
    /// The whole input waits in the receiver's socket buffer before the receiver may run: the sender takes no CPU
    /// from it, what a machine with few cores needs to show how far a receiver scales.
    Prepared,
    /// One UDP sender at a fixed rate, for the run's UDP time.
    Udp { per_second: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    pub feed: Feed,
    pub connections: usize,
    /// RFC 5424 with octet counting instead of RFC 3164 lines.
    pub ietf: bool,
    /// Different host names in the messages.
    pub hosts: u32,
    /// Bytes of a message.
    pub size: usize,
    /// Multiplies the run's number of messages; at most 1.
    pub share: f64,
}

/// What the receiver does with each message. All of them pass every message on, so that delivery can be verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    OneFile,
    FilesByHost,
    /// TCP out to a process that writes to a file.
    Relay,
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

const ONE: Input = Input { feed: Feed::Tcp, connections: 1, ietf: false, hosts: 1, size: 400, share: 1.0 };
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

/// Plain TCP to one file is what everything else is compared with.
const PLAIN_AIMS: &[Aim] = &[
    Aim::TimesFloor(1.6),
    Aim::CheaperThan { peer: Receiver::SyslogNg, times: 12.0 },
    Aim::CheaperThan { peer: Receiver::Rsyslog, times: 6.0 },
];

const fn tcp(connections: usize) -> Input {
    Input { connections, ..ONE }
}

const fn ietf(connections: usize) -> Input {
    Input { connections, ietf: true, ..ONE }
}

/// In the order they are run and reported.
pub static CASES: &[Case] = &[
    Case { name: "tcp-1", about: "RFC 3164 lines to one file", aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-10", about: "the same, 10 connections", input: tcp(10), aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-50", about: "the same, 50 connections", input: tcp(50), ..PLAIN },
    Case { name: "tcp-100", about: "the same, 100 connections", input: tcp(100), aims: PLAIN_AIMS, ..PLAIN },
    Case { name: "tcp-200", about: "the same, 200 connections", input: tcp(200), ..PLAIN },
    Case {
        name: "ietf-1",
        about: "RFC 5424, octet counted, to one file",
        input: ietf(1),
        aims: &[Aim::TimesCase { case: "tcp-1", times: 1.15 }],
        ..PLAIN
    },
    Case {
        name: "ietf-10",
        about: "the same, 10 connections",
        input: ietf(10),
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.15 }],
        ..PLAIN
    },
    Case { name: "ietf-50", about: "the same, 50 connections", input: ietf(50), ..PLAIN },
    Case {
        name: "ietf-100",
        about: "the same, 100 connections",
        input: ietf(100),
        aims: &[Aim::TimesCase { case: "tcp-100", times: 1.15 }],
        ..PLAIN
    },
    Case { name: "ietf-200", about: "the same, 200 connections", input: ietf(200), ..PLAIN },
    Case {
        name: "hosts-10",
        about: "files by host, 10 hosts, 10 connections",
        input: Input { hosts: 10, ..TEN },
        path: Path::FilesByHost,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.25 }],
        ..PLAIN
    },
    Case {
        name: "relay-1",
        about: "TCP in, TCP out",
        path: Path::Relay,
        aims: &[Aim::TimesFloor(2.2)],
        ..PLAIN
    },
    Case {
        name: "relay-10",
        about: "the same, 10 connections in",
        input: TEN,
        path: Path::Relay,
        aims: &[Aim::TimesFloor(2.2)],
        ..PLAIN
    },
    Case {
        name: "filter-facility",
        about: "a facility filter, 10 connections",
        input: TEN,
        path: Path::FilterFacility,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filter-host",
        about: "a host filter, 10 connections",
        input: Input { hosts: 10, ..TEN },
        path: Path::FilterHost,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filter-tag",
        about: "a tag filter, 10 connections",
        input: TEN,
        path: Path::FilterTag,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.10 }],
        ..PLAIN
    },
    Case {
        name: "filters-20",
        about: "twenty filters and files, 10 connections",
        input: TEN,
        path: Path::TwentyFilters,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.60 }],
        ..PLAIN
    },
    Case {
        name: "regexp",
        about: "a regular expression on the message, 10 connections",
        input: TEN,
        path: Path::Regexp,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.40 }],
        ..PLAIN
    },
    Case {
        name: "subst-host",
        about: "subst on HOST, 10 connections",
        input: TEN,
        path: Path::SubstHost,
        aims: &[Aim::TimesCase { case: "tcp-10", times: 1.25 }],
        ..PLAIN
    },
    Case {
        name: "costly-1",
        about: "two regular expressions and a subst, 1 connection",
        path: Path::Costly,
        ..PLAIN
    },
    Case {
        name: "costly-prepared-one-worker",
        about: "the same from a prepared socket buffer, one worker",
        input: Input { feed: Feed::Prepared, ..ONE },
        path: Path::Costly,
        worker_threads: Some(1),
        receivers: &[Receiver::Penstock, Receiver::SyslogNgTuned],
        ..PLAIN
    },
    Case {
        name: "costly-prepared",
        about: "the same from a prepared socket buffer, all cores",
        input: Input { feed: Feed::Prepared, ..ONE },
        path: Path::Costly,
        receivers: &[Receiver::Penstock, Receiver::SyslogNgTuned],
        aims: &[Aim::FasterThanCase { case: "costly-prepared-one-worker", times: 1.6 }],
        ..PLAIN
    },
    Case {
        name: "sharing-off",
        about: "as tcp-100, workers keep to their own connections",
        input: tcp(100),
        sharing: false,
        receivers: OWN,
        ..PLAIN
    },
    Case {
        name: "sharing-on",
        about: "as tcp-100, idle workers help",
        input: tcp(100),
        receivers: OWN,
        aims: &[Aim::Within { case: "sharing-off", share: 0.02 }],
        ..PLAIN
    },
    Case {
        name: "udp",
        about: "one UDP sender, 512 bytes, 67 000 a second, default settings",
        input: Input { feed: Feed::Udp { per_second: 67_000 }, size: 512, ..ONE },
        aims: &[Aim::NothingLost],
        ..PLAIN
    },
    Case {
        name: "memory-1000",
        about: "memory with 1,000 connections",
        input: Input { feed: Feed::Paced { per_second: 100.0 }, connections: 1000, share: 0.2, ..ONE },
        aims: &[Aim::BytesPerConnection(64 * 1024)],
        ..PLAIN
    },
];

impl Case {
    /// Messages to send when the run has `messages` per case and `udp_seconds` of UDP.
    pub fn messages(&self, messages: u64, udp_seconds: u64) -> u64 {
        match self.input.feed {
            Feed::Udp { per_second } => u64::from(per_second) * udp_seconds,
            _ => ((messages as f64 * self.input.share) as u64).max(self.input.connections as u64),
        }
    }

    pub fn is_udp(&self) -> bool {
        matches!(self.input.feed, Feed::Udp { .. })
    }
}

/// The cases whose names match one of `patterns`, with those their aims compare with; in the table's order.
pub fn select(patterns: &[glob::Pattern]) -> Vec<&'static Case> {
    let wanted =
        |case: &&Case| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(case.name));
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
            assert!(case.input.share > 0.0 && case.input.share <= 1.0, "{}", case.name);
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
                assert_eq!(
                    case.input.connections, other.input.connections,
                    "{} and {}",
                    case.name, other.name
                );
                assert_eq!(case.input.size, other.input.size, "{} and {}", case.name, other.name);
            }
        }
    }

    #[test]
    fn selection_takes_what_it_is_compared_with() {
        let names = |patterns: &[&str]| {
            let patterns: Vec<_> = patterns.iter().map(|p| glob::Pattern::new(p).unwrap()).collect();
            select(&patterns).iter().map(|case| case.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["ietf-1"]), ["tcp-1", "ietf-1"]);
        assert_eq!(names(&["filter-*"]), ["tcp-10", "filter-facility", "filter-host", "filter-tag"]);
        assert_eq!(names(&[]).len(), CASES.len());
        assert!(names(&["none"]).is_empty());
    }

    #[test]
    fn amounts() {
        let case = |name| CASES.iter().find(|case| case.name == name).unwrap();
        assert_eq!(case("tcp-1").messages(500_000, 60), 500_000);
        assert_eq!(case("udp").messages(500_000, 60), 4_020_000);
        assert_eq!(case("memory-1000").messages(10, 60), 1000);
    }
}
