//! Recordings: what came to sources, message by message as it was received, with time and peer. Written at
//! the end of a file, read from its beginning; every entry has its checksum, and what lies behind the first
//! one that does not hold is not read. `docs/recording-format.md` has the bytes.

mod entry;
mod read;
mod stream;

pub use entry::{Entry, append};
pub use read::{Damaged, Entries, entries};
pub use stream::{Failed, Stream};

/// What a file begins with: a name, the version, zeros.
pub const HEAD: [u8; 24] = *b"PENSTOCK-RECORDING\0\0\x01\0\0\0";

/// A message is not longer than this.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Reads what may be anything.
pub fn read_anything(input: &[u8]) {
    let mut again = HEAD.to_vec();
    let mut read = Vec::new();
    if let Ok(found) = entries(input) {
        for entry in found.map_while(Result::ok) {
            append(&mut again, &entry);
            read.push(entry);
        }
    }
    let mut streamed = Stream::open(&again[..]).expect("a head");
    for entry in &read {
        assert_eq!(streamed.next_entry().expect("whole").as_ref(), Some(entry));
    }
    let reread: Vec<Entry> = entries(&again).expect("a head").map_while(Result::ok).collect();
    assert_eq!(reread, read);
    assert!(
        again.len() <= input.len().max(HEAD.len()),
        "a recording is not longer than what it was read from"
    );
}
