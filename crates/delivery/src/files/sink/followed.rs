//! Where messages that somebody follows lie in a file.

use engine::{Chunk, Detail, Whole};
use std::fs::File;
use std::io::Seek;
use std::path::Path;

/// Says it of the messages that a write has completed. `behind`: bytes that were written behind those of the
/// chunk.
pub(super) fn say(mut file: &File, path: &Path, (chunk, whole): (&Chunk, Whole), behind: usize) {
    // What this side has appended ends where its descriptor stands, whoever else appends. A pipe has no such
    // place.
    let end = file.stream_position().ok();
    for (bytes, receipt) in chunk.written_receipts(whole) {
        let offset = end.and_then(|end| end.checked_sub((bytes + behind) as u64));
        let offset = offset.map(|offset| ("offset", Detail::from(offset)));
        let file = ("file", path.display().to_string().into());
        receipt.at([file].into_iter().chain(offset));
        receipt.delivered();
    }
}
