//! Fuzzes those who read the answers of HTTP servers: whatever the bytes are, no judge says more than there
//! are messages.
#![no_main]

driver::fuzz_target!(|input: &[u8]| http_client::judge::fuzz(input));
