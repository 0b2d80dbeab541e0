//! Fuzzes the parser of keys and values.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    r#"kv-parser(prefix("k."))"#,
    r#"kv-parser(prefix("k.") value-separator(":") pair-separator(";") extract-stray-words-into("k.stray"))"#,
    r#"linux-audit-parser(prefix("k."))"#,
];
const NAMES: &[&str] = &["k.a", "k.b", "k.stray", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
