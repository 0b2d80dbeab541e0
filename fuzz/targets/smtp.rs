//! Fuzzes what a mail server says.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| smtp_client::read_anything(input));
