//! Secure logging as syslog-ng's module of that name has it: entries that are encrypted each with a key of
//! its own, in a chain that shows what was changed, left out, moved or cut off. docs/secure-logging.md has
//! the use, and the bytes.
//!
//! [`Position`] is where a chain stands and seals the next entry, [`Chain`] is a position that lives in a key
//! file and a MAC file, [`Verifier`] opens a log again. A template function cannot seal: it does not know
//! which of two messages is written first. So it leaves a [`draft`] of exactly the length of the entry, and
//! whoever writes the output turns drafts into entries with [`draft::seal`], in the order in which they
//! leave.

mod base64;
mod chain;
pub mod draft;
mod entry;
mod error;
mod files;
mod key;
mod position;
#[cfg(test)]
mod testing;
mod verify;

pub use chain::Chain;
pub use entry::{Entry, NotAnEntry, entry_bytes};
pub use error::Error;
pub use files::{
    begin_mac, create_key, first_mac_path, read_key, read_mac, read_position, write_key, write_mac,
};
pub use key::{Key, Mac, Scheme};
pub use position::Position;
pub use verify::{FINDINGS_MAX, Finding, Report, Verifier};
