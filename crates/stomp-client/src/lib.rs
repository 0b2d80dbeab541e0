//! STOMP 1.2 as a destination speaks it: each message is sent with its values as headers, and the
//! server's receipt is the word on it.

mod frame;
mod session;

pub use session::{Plan, StompSession};

/// What server `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    session::read_anything(bytes);
}
