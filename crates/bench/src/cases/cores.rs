//! How each kind of path grows with the workers: the same input by one worker to sixteen. Meaningful on a
//! machine with as many cores.

use super::aim::Aim;
use super::{Case, Feed, Input, ONE, PLAIN, Path, Processing};
use crate::files::{Layout, Lines};
use crate::receiver::Receiver;

/// `--worker-threads` of the cases of a row.
pub const THREADS: [u32; 5] = [1, 2, 4, 8, 16];

/// One row of the table: a path and an input, by one worker and by more.
struct Row {
    /// By the number of workers, as in [`THREADS`].
    names: [&'static str; THREADS.len()],
    about: &'static str,
    input: Input,
    path: Path,
    /// Of the case with the most workers.
    aims: &'static [Aim],
}

macro_rules! names {
    ($row:literal) => {
        [
            concat!("cores-", $row, "-t1"),
            concat!("cores-", $row, "-t2"),
            concat!("cores-", $row, "-t4"),
            concat!("cores-", $row, "-t8"),
            concat!("cores-", $row, "-t16"),
        ]
    };
}

const fn from(connections: usize) -> Input {
    Input { connections, ..ONE }
}

const fn costly(connections: usize) -> Input {
    Input { connections, body: loggen::message::Body::Kv, share: 0.2, ..ONE }
}

/// As fast as that, files have no sender who takes a core.
const fn lines(folders: usize, files: usize) -> Input {
    let layout = Layout { folders, files, lines: Lines::AtLeast(1000) };
    Input { feed: Feed::Files(layout), connections: layout.count(), share: 4.0, ..ONE }
}

const ROWS: [Row; 9] = [
    Row {
        names: names!("1-costly"),
        about: "one connection: kv-parser, a regular expression, subst, format-json",
        input: costly(1),
        path: Path::Processing(Processing::KvToJson),
        aims: &[Aim::FasterThanCase { case: "cores-1-costly-t1", times: 10.0 }],
    },
    Row {
        names: names!("1-regexps"),
        about: "one connection: two regular expressions and a subst",
        input: from(1),
        path: Path::Costly,
        aims: &[Aim::FasterThanCase { case: "cores-1-regexps-t8", times: 1.0 }],
    },
    Row {
        names: names!("16-costly"),
        about: "16 connections: kv-parser, a regular expression, subst, format-json",
        input: costly(16),
        path: Path::Processing(Processing::KvToJson),
        aims: &[Aim::FasterThanCase { case: "cores-16-costly-t1", times: 13.0 }],
    },
    Row {
        names: names!("100-regexps"),
        about: "100 connections: two regular expressions and a subst",
        input: from(100),
        path: Path::Costly,
        aims: &[
            Aim::CpuUs(1.2),
            Aim::FasterThanCase { case: "cores-100-regexps-t8", times: 1.0 },
            Aim::TimesCase { case: "cores-100-regexps-t1", times: 1.25 },
        ],
    },
    Row {
        names: names!("100-plain"),
        about: "100 connections to one file",
        input: Input { share: 4.0, ..from(100) },
        path: Path::OneFile,
        aims: &[
            Aim::CpuUs(0.32),
            Aim::FasterThanCase { case: "cores-100-plain-t4", times: 1.0 },
            Aim::FasterThanCase { case: "cores-100-plain-t8", times: 1.0 },
        ],
    },
    Row {
        names: names!("100-hosts"),
        about: "100 connections to a hundred files by host",
        input: Input { hosts: 100, share: 2.0, ..from(100) },
        path: Path::FilesByHost,
        aims: &[Aim::CpuUs(0.7), Aim::FasterThanCase { case: "cores-100-hosts-t4", times: 1.0 }],
    },
    Row {
        names: names!("1000-plain"),
        about: "1,000 connections to one file",
        input: Input { share: 4.0, ..from(1000) },
        path: Path::OneFile,
        aims: &[Aim::CpuUs(0.32), Aim::FasterThanCase { case: "cores-1000-plain-t2", times: 1.0 }],
    },
    Row {
        names: names!("files-1"),
        about: "one huge file to one file",
        input: lines(1, 1),
        path: Path::OneFile,
        aims: &[Aim::TimesCase { case: "cores-files-1-t1", times: 1.25 }],
    },
    Row {
        names: names!("files-1000"),
        about: "a thousand files to one",
        input: lines(10, 100),
        path: Path::OneFile,
        aims: &[Aim::TimesCase { case: "cores-files-1000-t1", times: 1.25 }],
    },
];

/// A million datagrams a second, by sixteen workers. One sender stays at one socket: more of them are of use
/// to many senders only.
const fn udp(name: &'static str, about: &'static str, senders: usize, sockets: usize) -> Case {
    let feed = Feed::Udp { per_second: 1_000_000, receive_bytes: Some(64 << 20) };
    Case {
        name,
        about,
        input: Input { feed, connections: senders, sockets, ..ONE },
        worker_threads: Some(16),
        receivers: &[Receiver::Floor, Receiver::Penstock],
        aims: &[Aim::NothingLost],
        ..PLAIN
    }
}

const UDP: [Case; 6] = [
    udp("cores-udp-1-s1", "one UDP sender, a million a second, one socket", 1, 1),
    udp("cores-udp-1-s4", "one UDP sender, a million a second, four sockets", 1, 4),
    udp("cores-udp-1-s16", "one UDP sender, a million a second, sixteen sockets", 1, 16),
    udp("cores-udp-16-s1", "sixteen UDP senders, a million a second, one socket", 16, 1),
    udp("cores-udp-16-s4", "sixteen UDP senders, a million a second, four sockets", 16, 4),
    udp("cores-udp-16-s16", "sixteen UDP senders, a million a second, sixteen sockets", 16, 16),
];

const OF_ROWS: usize = ROWS.len() * THREADS.len();
const COUNT: usize = OF_ROWS + UDP.len();

pub(super) const CASES: [Case; COUNT] = {
    let mut cases = [PLAIN; COUNT];
    let mut at = 0;
    while at < OF_ROWS {
        let (row, step) = (&ROWS[at / THREADS.len()], at % THREADS.len());
        cases[at] = Case {
            name: row.names[step],
            about: row.about,
            input: row.input,
            path: row.path,
            worker_threads: Some(THREADS[step]),
            receivers: &[Receiver::Floor, Receiver::Penstock],
            aims: if step + 1 == THREADS.len() { row.aims } else { &[] },
            ..PLAIN
        };
        at += 1;
    }
    while at < COUNT {
        cases[at] = UDP[at - OF_ROWS];
        at += 1;
    }
    cases
};
