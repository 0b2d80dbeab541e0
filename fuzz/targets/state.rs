//! Fuzzes the reader of the state file: whatever it holds, it is refused or opened, and what is opened is the
//! same for who looks, takes a change and has it at the next opening. Checksums are not looked at, so that
//! what is behind them is reached.
#![no_main]

#[path = "../../crates/state/tests/replay/invariants.rs"]
mod invariants;

driver::fuzz_target!(|input: &[u8]| {
    invariants::state(input);
});
