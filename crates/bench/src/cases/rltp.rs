//! Two penstocks, one behind the other: what acknowledged batches cost beside plain lines, near and far.

use super::aim::Aim;
use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN};

/// How the first one sends to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    pub options: &'static str,
    /// As a source of the second.
    pub transport: &'static str,
    /// What is on the way is this much later at the other end, in both directions.
    pub delay_ms: u32,
}

const COUNT: usize = 6;

const TCP: Hop = Hop { options: "transport(\"tcp\")", transport: "tcp", delay_ms: 0 };
const RLTP: Hop = Hop { options: "transport(\"rltp\")", transport: "rltp", delay_ms: 0 };
const PACKED: Hop = Hop { options: "transport(\"rltp\") rltp(compress(yes))", ..RLTP };

const fn case(name: &'static str, about: &'static str, input: Input, hop: Hop, aims: &'static [Aim]) -> Case {
    Case { name, about, input, path: Path::Hop(hop), receivers: OWN, aims, ..PLAIN }
}

pub(super) const CASES: [Case; COUNT] = [
    case("hop-tcp-1", "TCP in, TCP to a second penstock, one file; CPU of both", ONE, TCP, &[]),
    case(
        "hop-rltp-1",
        "the same, acknowledged",
        ONE,
        RLTP,
        &[Aim::FasterThanCase { case: "hop-tcp-1", times: 0.6 }],
    ),
    case("hop-tcp-10", "as hop-tcp-1, 10 connections in", TEN, TCP, &[]),
    case(
        "hop-rltp-10",
        "the same, acknowledged",
        TEN,
        RLTP,
        &[Aim::FasterThanCase { case: "hop-tcp-10", times: 0.6 }],
    ),
    case(
        "hop-rltp-10-far",
        "the same, each way takes 50 ms",
        TEN,
        Hop { delay_ms: 50, ..RLTP },
        &[Aim::FasterThanCase { case: "hop-rltp-10", times: 0.8 }],
    ),
    case("hop-rltp-10-packed", "as hop-rltp-10, compressed", TEN, PACKED, &[]),
];
