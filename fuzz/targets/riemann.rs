//! Fuzzes what a Riemann server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| riemann_client::read_anything(input));
