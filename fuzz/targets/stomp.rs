//! Fuzzes what a STOMP server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| stomp_client::read_anything(input));
