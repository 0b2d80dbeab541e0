//! Fuzzes the reader of foreign bytes named in the file's name; what has to hold is shared with the test that
//! replays the seeds.
#![no_main]

#[path = "../../crates/wire/tests/replay/invariants.rs"]
#[allow(dead_code)]
mod invariants;

driver::fuzz_target!(|input: &[u8]| invariants::proxy(input));
