//! Fuzzes the parser of events of Windows.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[r#"windows-eventlog-xml-parser(prefix("w"))"#];
const NAMES: &[&str] =
    &["w.Event.EventData.User", "w.Event.System.EventID", "w.Event.EventData.Data", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
