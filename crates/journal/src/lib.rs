//! systemd's journal files, read where they lie, as systemd's page "Journal File Format" describes them: one
//! file (`file`), the objects in it (`object`), compressed values (`payload`), and several files in one order
//! (`journal`). Files are read with `pread`, never mapped: a file that is cut off while it is read is an
//! error, not a signal. Knows nothing of messages.

mod blocks;
mod error;
mod file;
mod journal;
mod object;
mod payload;
mod place;
mod skipped;

#[cfg(test)]
mod writer;

pub use error::Error;
pub use file::JournalFile;
pub use journal::{Begin, Entry, Filter, Journal, JournalOptions, WrongFile};
pub use object::EntryHead;
pub use place::{EntryPosition, Id};
pub use skipped::Skipped;
