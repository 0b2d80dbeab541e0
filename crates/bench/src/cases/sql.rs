//! sql() beside a relay: what rows of values cost, and waiting for what the server says.

use super::{Case, Input, ONE, OWN, PLAIN, Path, TEN};

const fn case(name: &'static str, about: &'static str, input: Input) -> Case {
    Case { name, about, input, path: Path::Postgres, receivers: OWN, ..PLAIN }
}

pub(super) const CASES: [Case; 2] = [
    case("deliver-pg-1", "TCP in, sql() out to PostgreSQL by COPY, 5 columns, committed", ONE),
    case("deliver-pg", "the same, 10 connections in", TEN),
];
