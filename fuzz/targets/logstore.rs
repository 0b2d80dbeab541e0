//! Fuzzes log stores: whatever the bytes are, they are read, checked and their messages taken out without a
//! panic, and no more comes out than the bound on a chunk.
#![no_main]

use logstore::{CHUNK_BYTES_MAX, Keys, Messages, Reader, Record, Trust, check, open, serialized, stamp};
use std::io::Cursor;

driver::fuzz_target!(|input: &[u8]| {
    let _ = check(Cursor::new(input), &mut Trust::default());
    let _ = serialized::Stored::read(input);
    let _ = stamp::answered(input);
    if let Some(token) = stamp::token(input) {
        let _ = (token.seconds(), token.verify(&stamp::Authorities::new(Vec::new())));
    }
    let _ = logstore::read_journal(input);
    let Ok(mut reader) = Reader::new(Cursor::new(input)) else { return };
    while let Ok(Some((_, bytes))) = reader.next_record() {
        if let Ok(Record::Chunk(chunk)) = Record::read(bytes)
            && let Ok(data) = open(&chunk, &Keys::default(), true)
        {
            assert!(data.len() <= CHUNK_BYTES_MAX.max(chunk.data.len()));
            for message in Messages::new(&data).flatten() {
                let _ = serialized::Stored::read(message);
            }
        }
    }
});
