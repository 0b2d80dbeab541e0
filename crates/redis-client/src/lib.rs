//! Redis as a destination speaks it: each message is a command, a batch of them goes in one piece, and the
//! replies come in the order of the commands.
//!
//! The protocol is RESP2, which every version of Redis, and what has its place, understands.

mod command;
mod judge;
mod reply;
mod session;

pub use command::append;
pub use judge::{Judged, Same, judge};
pub use reply::{Malformed, Reply, reply};
pub use session::{Login, RedisSession};

/// What server `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((reply, length))) = reply(rest) {
        judge(&reply, Same { command: true, key: true });
        rest = rest.get(length..).unwrap_or_default();
    }
    session::read_anything(bytes);
}
