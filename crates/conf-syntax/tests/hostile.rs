//! Whatever the bytes are: no panic, no overflow of the stack, no work without bound.

use conf_syntax::{Limits, ParseOptions, Parsed, parse_text};
use proptest::prelude::*;

fn parse(text: &str) -> Parsed {
    let limits = Limits { expanded_bytes: 1 << 20, substituted_bytes: 1 << 20, ..Limits::default() };
    let options = ParseOptions { read_files: false, env: None, limits, ..ParseOptions::default() };
    parse_text("hostile", text, &options)
}

fn codes(parsed: &Parsed) -> Vec<&'static str> {
    parsed.diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, head) in [
        ("(", "filter f { "),
        ("a(", "source s { "),
        ("{", "source s { a("),
        ("channel {", "log { "),
        ("if {", "log { "),
        ("if (a()) {", "log { "),
        ("junction { channel {", "log { "),
        ("log {", "log { "),
        ("source { channel {", "log { "),
        ("rewrite { if {", "log { "),
        ("[", "log "),
    ] {
        let parsed = parse(&format!("{head}{}", open.repeat(50_000)));
        assert!(parsed.diagnostics.has_errors(), "{open}");
        // Rendering and dropping must cope too.
        assert!(!diag::render_all(&parsed.diagnostics, &parsed.sources).is_empty());
    }
    assert!(codes(&parse(&format!("filter f {{ {} a() }};", "not ".repeat(50_000)))).contains(&"P0107"));
    assert!(codes(&parse(&format!("source s {{ x({}); }};", "a => ".repeat(50_000)))).contains(&"P0101"));
}

#[test]
fn expansion_bombs_are_stopped() {
    // Doubling by calls, by arguments, and empty blocks.
    let mut calls = String::from("block source b0() { };\n");
    let mut args = String::from("block source a0(x()) { t(`x`); };\n");
    for i in 1..60 {
        let j = i - 1;
        calls.push_str(&format!("block source b{i}() {{ b{j}(); b{j}(); }};\n"));
        args.push_str(&format!("block source a{i}(x()) {{ a{j}(x(`x` `x`)); }};\n"));
    }
    calls.push_str("source s { b59(); };");
    args.push_str("source s { a59(x(12345678)); };");
    assert!(codes(&parse(&calls)).contains(&"P0045"));
    assert!(codes(&parse(&args)).contains(&"P0045"));
    assert!(codes(&parse("block source b() { b(); b(); };\nsource s { b(); };")).contains(&"P0045"));
}

#[test]
fn many_findings_are_kept_within_bounds() {
    let parsed = parse(&"}".repeat(100_000));
    assert!(parsed.diagnostics.len() <= 1001);
    assert!(parsed.diagnostics.suppressed() > 90_000);
}

/// Pieces of the language: random bytes alone hardly ever get past the first word.
const PIECES: &[&str] = &[
    "source ",
    "destination ",
    "filter ",
    "parser ",
    "rewrite ",
    "log ",
    "options ",
    "template ",
    "block ",
    "template-function ",
    "application ",
    "python ",
    "junction ",
    "channel ",
    "if ",
    "elif ",
    "else ",
    "flags",
    "include ",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "\"",
    "'",
    "`",
    "``",
    "`x`",
    "\\",
    "\n",
    "\n@",
    "@version: 4.2\n",
    "\n@define x ",
    "\n@include \"x\"\n",
    "\n@requires ",
    "\n@module ",
    "\n@line ",
    "#",
    "..",
    "...",
    "=>",
    "==",
    " and ",
    " or ",
    "not ",
    "a",
    "b()",
    "b(x(1))",
    "block source b(x() ...) { `x` `__VARARGS__` };\n",
    "1",
    "10k",
    "-0x",
    "\u{e4}",
    "\r\n",
    "\0",
    ".",
    ":",
    "|",
    "filterx ",
    "x",
    "__VARARGS__",
    " ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_to_its_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let parsed = parse(&String::from_utf8_lossy(&bytes));
        diag::render_all(&parsed.diagnostics, &parsed.sources);
    }

    #[test]
    fn any_mixture_of_the_language_is_read_to_its_end(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..80)
    ) {
        let parsed = parse(&pieces.concat());
        diag::render_all(&parsed.diagnostics, &parsed.sources);
        diag::render_json(&parsed.diagnostics, &parsed.sources);
        // What was accepted is accepted again after preprocessing.
        if !parsed.diagnostics.has_errors() {
            let again = parse(&parsed.config.preprocessed);
            prop_assert!(!again.diagnostics.has_errors(), "{}", parsed.config.preprocessed);
        }
    }
}
