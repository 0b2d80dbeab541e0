//! Fuzzes what a receiver of notifications says.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| snmp_client::read_anything(input));
