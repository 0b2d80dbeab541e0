//! Fuzzes the parser of XML.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    r#"xml(prefix("x"))"#,
    r#"xml(prefix("x") strip-whitespaces(yes) exclude-tags("b*") create-lists(no))"#,
];
const NAMES: &[&str] = &["x.a", "x.a.b", "x.a._k", "x.a.b.c", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
