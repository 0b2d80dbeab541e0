//! Fuzzes what an MQTT server says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| mqtt_client::read_anything(input));
