//! Fuzzes what a server of S3, and whoever gives credentials, says.
#![no_main]

driver::fuzz_target!(|input: &[u8]| s3_client::read_anything(input));
