//! Fuzzes the parser of columns.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

use std::sync::LazyLock;

const TEXTS: &[&str] = &[
    r#"csv-parser(columns("c.a","c.b","c.c"))"#,
    r#"csv-parser(columns("c.a","c.b") delimiters(chars(";,") strings("::")) quote-pairs("\"\"[]") flags(escape-backslash,strip-whitespace,greedy))"#,
    r#"csv-parser(columns("c.a","c.b","c.c") dialect(escape-double-char) delimiters(",") flags(drop-invalid))"#,
];
const NAMES: &[&str] = &["c.a", "c.b", "c.c", "MESSAGE"];
static PARSERS: LazyLock<run::Parsers> = LazyLock::new(|| run::Parsers::new(TEXTS, NAMES));

driver::fuzz_target!(|input: &[u8]| PARSERS.check(input));
