//! Notifications of SNMP made of messages: traps, which nobody answers, and informs, which are. Version 2c
//! with a community, version 3 with users (RFC 3414): who sends is proved, and what is sent can be encrypted.

pub mod ber;
mod engine;
mod load;
mod message;
mod object;
mod session;
mod user;

pub use engine::Engine;
pub use load::{Load, load};
pub use message::{Answer, read};
pub use object::{Kind, Object, Oid};
pub use session::{Plan, Version, serve};
pub use user::{Auth, Digest, User};

/// For the fuzz target: reads an answer, as of one with keys and of one without.
pub fn read_anything(bytes: &[u8]) {
    use std::sync::OnceLock;
    use user::Keys;
    static KEYS: OnceLock<Option<Keys>> = OnceLock::new();
    let secret = || zeroize::Zeroizing::new("a password".to_owned());
    let auth = || Auth { digest: Digest::Sha256, password: secret(), privacy: Some(secret()) };
    let keys = KEYS.get_or_init(|| User { name: "u".to_owned(), auth: Some(auth()) }.keys(b"engine"));
    let _ = (read(bytes, None), read(bytes, keys.as_ref()));
}
