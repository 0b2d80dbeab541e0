//! Events of Riemann made of messages, and how its server is spoken to: over TCP and TLS each batch is one
//! message with its length in front, and answered; over UDP nothing is.

mod answer;
mod event;
mod load;
mod session;

pub use answer::{ANSWER_BYTES_MAX, Said, read};
pub use event::{Clock, Shape};
pub use load::{Load, load};
pub use session::{Plan, Transport, serve};

/// For the fuzz target: reads answers until there is none.
pub fn read_anything(mut bytes: &[u8]) {
    while let Ok(Some((_, taken))) = read(bytes) {
        bytes = bytes.get(taken..).unwrap_or_default();
    }
}
