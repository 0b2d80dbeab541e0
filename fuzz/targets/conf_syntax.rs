//! Fuzzes the configuration language: any text gives a tree and findings, without touching files or running
//! anything.
#![no_main]

use conf_syntax::{Limits, ParseOptions};

driver::fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let options = ParseOptions {
        env: None,
        read_files: false,
        run_commands: false,
        limits: Limits { expanded_bytes: 1 << 20, substituted_bytes: 1 << 20, ..Limits::default() },
        ..ParseOptions::default()
    };
    conf_syntax::parse_text("fuzz.conf", &text, &options);
});
