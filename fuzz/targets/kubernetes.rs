//! Fuzzes what an API server of Kubernetes says: events in pieces, lists, pods; and names of files.
#![no_main]

driver::fuzz_target!(|input: &[u8]| kubernetes::read_anything(input));
