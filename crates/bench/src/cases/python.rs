//! What Python classes cost, in all processes together: beside the same input without any.

use super::aim::Aim;
use super::{Case, PLAIN, Path, Processing, TEN};
use crate::receiver::Receiver;

/// What a class does with each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Python {
    /// A parser that reads one value and sets one.
    Parser,
    /// The same, which raises for each message.
    Raises,
    /// A template function.
    Function,
    /// A destination that appends to a list, 500 messages a batch, beside the file.
    Destination,
}

const RELAY: &str = "tcp-10";

const fn python(
    name: &'static str,
    about: &'static str,
    what: Python,
    threads: Option<u32>,
    aims: &'static [Aim],
) -> Case {
    Case {
        name,
        about,
        input: TEN,
        path: Path::Processing(Processing::Python(what)),
        worker_threads: threads,
        receivers: &[Receiver::Floor, Receiver::Penstock, Receiver::SyslogNg],
        aims,
        ..PLAIN
    }
}

pub(super) const CASES: [Case; 6] = [
    python(
        "python-parser",
        "a Python parser that reads one value and sets one, 10 connections",
        Python::Parser,
        None,
        &[Aim::CpuUsMore { case: RELAY, us: 2.5 }],
    ),
    python(
        "python-raises",
        "a Python parser that raises for each message",
        Python::Raises,
        None,
        &[Aim::TimesCase { case: "python-parser", times: 2.0 }],
    ),
    python(
        "python-function",
        "a template function in Python",
        Python::Function,
        None,
        &[Aim::CpuUsMore { case: RELAY, us: 2.0 }],
    ),
    python(
        "python-destination",
        "a Python destination that appends to a list, batches of 500, and the file",
        Python::Destination,
        None,
        &[Aim::CpuUsMore { case: RELAY, us: 2.0 }],
    ),
    python("python-parser-1-worker", "the parser, one worker", Python::Parser, Some(1), &[]),
    python(
        "python-parser-2-workers",
        "the parser, two workers",
        Python::Parser,
        Some(2),
        &[Aim::FasterThanCase { case: "python-parser-1-worker", times: 1.8 }],
    ),
];
