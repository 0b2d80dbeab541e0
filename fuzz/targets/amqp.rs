//! Fuzzes what an AMQP server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| amqp_client::read_anything(input));
