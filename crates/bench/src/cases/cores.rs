//! How each kind of path grows with the workers: the same input by one worker to sixteen. Meaningful on a machine with as many cores.

use super::aim::Aim;
use super::{Case, Input, ONE, PLAIN, Path, Processing};
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

const ROWS: [Row; 7] = [
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
];

const COUNT: usize = ROWS.len() * THREADS.len();

pub(super) const CASES: [Case; COUNT] = {
    let mut cases = [PLAIN; COUNT];
    let mut at = 0;
    while at < COUNT {
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
    cases
};
