//! Fuzzes what a Redis server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| redis_client::read_anything(input));
