//! Fuzzes the parser of JSON.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] =
    &[r#"json-parser(prefix("j."))"#, r#"json-parser(prefix("j.") extract-prefix("a[0]"))"#];
const NAMES: &[&str] = &["j.a", "j.b", "j.a.b", "j.c.a", "1", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
