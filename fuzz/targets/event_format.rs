//! Fuzzes the parsers of CEF and LEEF.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[r#"cef-parser(prefix("e."))"#, r#"leef-parser(prefix("e."))"#];
const NAMES: &[&str] = &["e.name", "e.vendor", "e.extensions.a", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
