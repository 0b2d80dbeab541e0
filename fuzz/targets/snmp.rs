//! Fuzzes what a receiver of notifications says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| snmp_client::read_anything(input));
