//! Encrypted connections: what the `tls()` block asks for made into sessions that turn bytes of the wire into bytes of messages and back.
//!
//! Nothing here touches a descriptor: a [`Session`] takes what was received and hands out what is to be sent, so that it can be
//! tested with any split of the bytes and served by any loop.

mod certificate;
mod endpoint;
mod fingerprint;
mod material;
mod names;
mod options;
mod reason;
mod session;
mod verifier;

pub use certificate::Certificate;
pub use endpoint::{Acceptor, Connector};
pub use fingerprint::Fingerprint;
pub use options::{Options, PeerVerify, cipher_suite};
pub use session::{Received, Session};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
