//! Frames and fields that one process hands to another: nothing that comes may panic, and what is written can
//! be read.
#![no_main]

use control::take_over::{Reader, Writer, parse_header};
use driver::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Some((header, _)) = data.split_first_chunk::<12>() {
        let _ = parse_header(header);
    }
    let mut fields = Reader(data);
    let mut parts = Vec::new();
    while let Some(bytes) = fields.bytes() {
        parts.push(bytes);
    }
    let body = parts.iter().fold(Writer::new(), |body, part| body.bytes(part)).done();
    assert!(data.starts_with(&body));
    let mut again = Reader(&body);
    assert!(parts.iter().all(|part| again.bytes() == Some(*part)) && again.number().is_none());
});
