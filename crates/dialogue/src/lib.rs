//! Protocols that we speak ourselves: what is said on one connection is a [`Session`], without any I/O, and
//! [`Dialogue`] does the rest on the worker of its outlet. It looks up the name of the server, tries its
//! addresses in turn, begins TLS, moves bytes both ways, and ends a connection on which answers are late.
//!
//! A session is told of batches and of what the server says, and tells what became of the batches. When its
//! connection ends, it gives all of them back, and the flight sends them again on the next one.

mod call;
mod client;
mod dial;
mod options;
mod outgoing;
mod pieces;
mod proxy;
mod session;
mod sinks;
mod tally;
mod unanswered;

pub use call::{Call, Line};
pub use client::Dialogue;
pub use dial::Dial;
pub use options::{HTTP_PROXY, SERVER, Where, dial, proxy};
pub use outgoing::Outgoing;
pub use pieces::pieces;
pub use proxy::Proxy;
pub use session::{Loss, Session};
pub use sinks::sinks;
pub use tally::{Judged, Tally};
pub use unanswered::Unanswered;
