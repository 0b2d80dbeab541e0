//! Fuzzes the reader of add-contextual-data()'s table: any file is read or refused, and what was read can be
//! asked.
#![no_main]

#[path = "parser/run.rs"]
#[allow(dead_code)]
mod run;

const TEXTS: &[&str] = &[
    r#"add-contextual-data(selector("${MESSAGE}") database("t.csv") prefix("c.") default-selector("web"))"#,
    r#"add-contextual-data(selector(glob("${MESSAGE}")) database("t.csv") prefix("c.") ignore-case(yes))"#,
];

driver::fuzz_target!(|input: &[u8]| {
    for text in TEXTS {
        let Some(parser) = run::made(text, input) else { continue };
        for message in [b"web".as_slice(), input.split(|b| *b == b',').next().unwrap_or_default()] {
            let (_, selection) = run::run(&*parser, message, None);
            assert_eq!(selection, [0]);
        }
    }
});
