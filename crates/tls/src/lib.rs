//! Encrypted connections: what the `tls()` block asks for made into sessions that turn bytes of the wire into
//! bytes of messages and back.
//!
//! Nothing here touches a descriptor: a [`Session`] takes what was received and hands out what is to be sent,
//! so that it can be tested with any split of the bytes and served by any loop.

mod certificate;
mod ciphers;
mod der;
mod endpoint;
mod fingerprint;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod identity;
mod keylog;
mod keys;
mod material;
mod names;
mod ocsp;
mod old_forms;
mod options;
mod pkcs12;
mod reason;
mod secrets;
mod session;
mod trust;
mod verifier;
mod words;

pub use certificate::Certificate;
pub use ciphers::{CipherList, cipher_list};
pub use endpoint::{Acceptor, Connector, certificates, fault, said, unlock};
pub use fingerprint::Fingerprint;
pub use identity::Expiry;
pub use options::{Options, PeerVerify};
pub use secrets::{State, states};
pub use session::{RECORD_BYTES, Received, Session};
pub use words::{cipher_suite, group, signature_scheme};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
