//! kafka() beside a relay: what batches with checksums and acknowledgements cost.

use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN};

/// How messages are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kafka {
    pub options: &'static str,
}

const fn case(name: &'static str, about: &'static str, input: Input, options: &'static str) -> Case {
    Case { name, about, input, path: Path::Kafka(Kafka { options }), receivers: OWN, ..PLAIN }
}

pub(super) const CASES: [Case; 3] = [
    case("deliver-kafka-1", "TCP in, kafka() out, acknowledged by all, each batch written once", ONE, ""),
    case("deliver-kafka", "the same, 10 connections in", TEN, ""),
    case("deliver-kafka-key", "the same, each message with a key", TEN, "key(\"$HOST\")"),
];
