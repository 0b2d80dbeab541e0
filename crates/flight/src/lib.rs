//! What is under way to a destination that answers: messages cut into batches, sent, answered in any order,
//! and settled in theirs.
//!
//! A destination is a [`Client`]: it begins batches and says later what became of each. Everything else is
//! done here, once for all of them: batches by lines, bytes, time and key; how many may be under way; which
//! messages are delivered, refused, to be sent again; halving until a message that cannot be taken is alone;
//! back-off, throttle, and what the log says of all that.
//!
//! A message stays at the front of its outlet's queue until its fate is known, as with every destination that
//! is acknowledged. So it counts as waiting, holds its source back, stays on disk, goes to the successor of a
//! reload and is waited for at the end, all by the outlet's own means. The queue is settled from its front
//! only: the cursor on disk never passes a message that is not delivered.

mod account;
mod bucket;
mod contract;
mod cut;
mod fields;
mod limits;
mod pace;
mod pairs;
mod runs;
mod sink;
#[cfg(test)]
mod tests;
mod trouble;

pub use contract::{Client, Outcome, Part, Verdict};
pub use cut::{enclose, opened};
pub use engine::Piece;
/// What clients say of messages that somebody follows.
pub use engine::{Detail, Receipt};
pub use fields::{Fields, begin_fields, fields, put_field};
pub use limits::Limits;
pub use pairs::{Pair, Pairs, pairs, put_pair};
pub use sink::FlightSink;
