//! Fuzzes the parser of syslog inside a message.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    r#"syslog-parser()"#,
    r#"syslog-parser(flags(syslog-protocol))"#,
    r#"syslog-parser(flags(expect-hostname,validate-utf8,drop-invalid) default-facility(kern))"#,
];
const NAMES: &[&str] = &["HOST", "PROGRAM", "PID", "MSGID", "MESSAGE", "LEGACY_MSGHDR"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
