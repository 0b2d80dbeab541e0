//! http() beside a relay: what requests of a megabyte cost, and waiting for their answers.

use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN};

/// How messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http {
    pub options: &'static str,
}

const fn case(name: &'static str, about: &'static str, input: Input, options: &'static str) -> Case {
    Case { name, about, input, path: Path::Http(Http { options }), receivers: OWN, ..PLAIN }
}

pub(super) const CASES: [Case; 3] = [
    case("deliver-http-1", "TCP in, http() out in requests of 1 MB, each answered", ONE, ""),
    case("deliver-http", "the same, 10 connections in", TEN, ""),
    case("deliver-http-100k", "the same, requests of 100 kB", TEN, "batch-bytes(100KiB)"),
];
