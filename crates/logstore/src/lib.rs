//! Log stores: files of messages in chunks that are compressed, encrypted and chained, as syslog-ng PE's
//! logstore() writes them. docs/logstore-format.md has the bytes.
//!
//! [`Writer`] adds messages to a store: a block of them waits in a journal beside the file and becomes a
//! chunk of the store when it is large or old enough. [`Reader`] goes through the records of a store,
//! [`open`] takes the messages out of a chunk, [`check`] says what of a store is not as it was written, and
//! [`stamp`] has the time stamps of RFC 3161.

mod chunk;
mod der;
mod digest;
mod error;
mod header;
mod journal;
mod key;
mod reader;
mod record;
pub mod serialized;
pub mod stamp;
mod store;
#[cfg(test)]
mod tests;
mod validate;
mod writer;

pub use chunk::{CHUNK_BYTES_MAX, Keys, Messages, open};
pub use digest::Digest;
pub use error::Error;
pub use header::Header;
pub use journal::{Journal, JournalBlock, read as read_journal};
pub use key::{Certificate, PrivateKey};
pub use reader::Reader;
pub use record::{BROKEN, COMPRESSED, Chunk, ENCRYPTED, Record, SERIALIZED, Time};
pub use store::{Repair, Settings, Store};
pub use validate::{FINDINGS_MAX, Finding, Report, Trust, check};
pub use writer::{Opened, Writer};
