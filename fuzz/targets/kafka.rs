//! Fuzzes what brokers of Kafka say, and the form in which messages wait for them.
#![no_main]

driver::fuzz_target!(|input: &[u8]| kafka::read_anything(input));
