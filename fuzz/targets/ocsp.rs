//! Fuzzes the reader of OCSP answers that servers staple to their certificates: whatever the bytes are, none
//! is taken but a good one.
#![no_main]

driver::fuzz_target!(|input: &[u8]| {
    let _ = tls::fuzzing::ocsp(input);
});
