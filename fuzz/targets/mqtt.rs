//! Fuzzes what an MQTT server says.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| mqtt_client::read_anything(input));
