//! AMQP 0-9-1 as a destination speaks it: messages published on one channel without waiting, and the server's
//! confirmation of each.

mod frame;
mod publish;
mod session;

pub use session::{AmqpSession, Exchange, Login, Plan};

/// What server `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    session::read_anything(bytes);
}
