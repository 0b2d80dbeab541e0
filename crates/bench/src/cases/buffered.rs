//! Relays whose messages wait on disk when they have to: what disk-buffer() costs while the destination takes
//! everything, how much is written, and how fast a backlog leaves.

use super::aim::Aim;
use super::{Case, ONE, PLAIN, Path, TEN};
use crate::receiver::Receiver;

/// How the relay keeps what waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffered {
    /// On disk before it is acknowledged.
    pub reliable: bool,
    /// Destinations that get every message. The output of the first is verified.
    pub destinations: usize,
    /// Those of them that never appear; not the first.
    pub dead: usize,
    pub appear: Appear,
}

/// When the destinations appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appear {
    First,
    /// When everything has been received. The seconds count from the first byte that comes out.
    Late,
    /// When half of it lies on the disk; the sender goes on. The seconds count likewise.
    Half,
}

const NORMAL: Buffered = Buffered { reliable: false, destinations: 1, dead: 0, appear: Appear::First };
const RELIABLE: Buffered = Buffered { reliable: true, ..NORMAL };
const PEERS: &[Receiver] =
    &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg, Receiver::SyslogNgTuned, Receiver::Rsyslog];

pub const CASES: [Case; 10] = [
    Case {
        name: "buffer-1",
        about: "relay-1 with disk-buffer()",
        path: Path::Buffered(NORMAL),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-1", times: 0.9 }],
        ..PLAIN
    },
    Case {
        name: "buffer-10",
        about: "relay-10 with disk-buffer()",
        input: TEN,
        path: Path::Buffered(NORMAL),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-10", times: 0.9 }],
        ..PLAIN
    },
    Case {
        name: "buffer-reliable-1",
        about: "relay-1 with disk-buffer(reliable(yes)): penstock brings it to the disk, syslog-ng to the kernel",
        path: Path::Buffered(RELIABLE),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-1", times: 0.7 }],
        ..PLAIN
    },
    Case {
        name: "buffer-reliable-10",
        about: "the same, 10 connections in",
        input: TEN,
        path: Path::Buffered(RELIABLE),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-10", times: 0.7 }],
        ..PLAIN
    },
    Case {
        name: "buffer-reliable-five",
        about: "five destinations with disk-buffer(reliable(yes)) that get the same",
        path: Path::Buffered(Buffered { destinations: 5, ..RELIABLE }),
        receivers: PEERS,
        aims: &[Aim::WrittenTimesCase { case: "buffer-reliable-1", times: 1.2 }],
        ..PLAIN
    },
    Case {
        name: "buffer-late",
        about: "as buffer-1; the destination appears when everything waits",
        input: ONE,
        path: Path::Buffered(Buffered { appear: Appear::Late, ..NORMAL }),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-1", times: 0.8 }],
        ..PLAIN
    },
    Case {
        name: "buffer-reliable-late",
        about: "as buffer-reliable-1; the destination appears when everything waits",
        input: ONE,
        path: Path::Buffered(Buffered { appear: Appear::Late, ..RELIABLE }),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-1", times: 0.8 }],
        ..PLAIN
    },
    Case {
        name: "buffer-reliable-half",
        about: "as buffer-reliable-1; the destination appears when half of everything waits, and the sender goes on",
        input: ONE,
        path: Path::Buffered(Buffered { appear: Appear::Half, ..RELIABLE }),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "relay-1", times: 0.8 }],
        ..PLAIN
    },
    Case {
        name: "buffer-two",
        about: "two destinations with disk-buffer() that get the same",
        path: Path::Buffered(Buffered { destinations: 2, ..NORMAL }),
        receivers: PEERS,
        ..PLAIN
    },
    Case {
        name: "buffer-two-dead",
        about: "the same, one of them dead",
        path: Path::Buffered(Buffered { destinations: 2, dead: 1, ..NORMAL }),
        receivers: PEERS,
        aims: &[Aim::FasterThanCase { case: "buffer-two", times: 0.95 }],
        ..PLAIN
    },
];
