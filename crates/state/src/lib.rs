//! What has to be known after a restart: a small map of names to records in one file, safe against crashes.
//! Its format stands in docs/state-format.md.

mod checksum;
mod live;
mod log;
mod store;
mod too_much;

pub use live::Live;
pub use store::Store;
pub use too_much::TooMuch;
