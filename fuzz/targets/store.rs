//! Fuzzes the reader of the store's files: whatever they hold, opening and reading end. Checksums are not
//! looked at, so that what is behind them is reached.
#![no_main]

#[path = "../../crates/store/tests/replay/invariants.rs"]
mod invariants;

driver::fuzz_target!(|input: &[u8]| {
    invariants::store(input);
});
