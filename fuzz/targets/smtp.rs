//! Fuzzes what a mail server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| smtp_client::read_anything(input));
