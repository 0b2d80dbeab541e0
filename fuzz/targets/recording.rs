//! Fuzzes recordings of what came to sources.
#![no_main]

driver::fuzz_target!(|input: &[u8]| recording::read_anything(input));
