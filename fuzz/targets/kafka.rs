//! Fuzzes what brokers of Kafka say, and the form in which messages wait for them.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| kafka::read_anything(input));
