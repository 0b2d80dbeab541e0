//! Two penstocks, one behind the other: what acknowledged batches and messages cost beside plain lines, near
//! and far.

use super::aim::Aim;
use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN};

/// How the first one sends to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The driver of both, and its options at the first and at the second.
    pub driver: &'static str,
    pub options: &'static str,
    pub source: &'static str,
    /// By way of another process, which hands on what is on the way so many milliseconds later, in both
    /// directions.
    pub delay_ms: Option<u32>,
}

const COUNT: usize = 9;

const TCP: Hop =
    Hop { driver: "network", options: "transport(\"tcp\")", source: "transport(\"tcp\")", delay_ms: None };
const RLTP: Hop = Hop { options: "transport(\"rltp\")", source: "transport(\"rltp\")", ..TCP };
const PACKED: Hop = Hop { options: "transport(\"rltp\") rltp(compress(yes))", ..RLTP };
/// Greeting and the last answer are three ways there and back: some seconds of messages make them small.
const MANY: Input = Input { share: 6.0, ..TEN };
/// The window holds what is sent while an answer is on its way: 0.1 s of 800 MB/s, and what the second one
/// works on.
const FAR: Hop = Hop { options: "transport(\"rltp\") rltp(window(192MiB))", delay_ms: Some(50), ..RLTP };
const RELP: Hop = Hop { driver: "relp", options: "", source: "", delay_ms: None };

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
    case("hop-relp-1", "the same by RELP, each message acknowledged", ONE, RELP, &[]),
    case("hop-tcp-10", "as hop-tcp-1, 10 connections in", TEN, TCP, &[]),
    case(
        "hop-rltp-10",
        "the same, acknowledged",
        TEN,
        RLTP,
        &[Aim::FasterThanCase { case: "hop-tcp-10", times: 0.6 }],
    ),
    case(
        "hop-rltp-10-near",
        "the same through a process in between, which copies everything",
        MANY,
        Hop { delay_ms: Some(0), ..FAR },
        &[],
    ),
    case(
        "hop-rltp-10-far",
        "as hop-rltp-10-near, each way takes 50 ms",
        MANY,
        FAR,
        &[Aim::FasterThanCase { case: "hop-rltp-10-near", times: 0.8 }],
    ),
    case("hop-relp-10", "as hop-rltp-10 by RELP", TEN, RELP, &[]),
    case("hop-rltp-10-packed", "as hop-rltp-10, compressed", TEN, PACKED, &[]),
];
