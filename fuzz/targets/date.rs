//! Fuzzes the parser of times.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    r#"date-parser(format("%Y-%m-%d %H:%M:%S.%f %z","%b %d %H:%M:%S","%s","%d/%h/%y %I:%M:%S %p %Z","%j %U %w %e %k %l %n%t%%"))"#,
    r#"date-parser(format("%FT%T%z") time-stamp(recvd) time-zone("Europe/Budapest"))"#,
];
const NAMES: &[&str] = &["MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
