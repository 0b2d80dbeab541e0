//! Documents of MongoDB made of the values of messages, inserts made of batches, outcomes made of what the
//! server says of each document.
//!
//! The connection is that of MongoDB's own library, which runs as a guest; documents and commands are written
//! here, as bytes.

mod document;
mod insert;
mod judge;
mod session;
mod target;

pub use insert::{Inserts, load};
pub use session::serve;
pub use target::{Concern, Deployment, Target};
