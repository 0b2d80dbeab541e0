//! Kafka's protocol from the producer's side, without any I/O: record batches written straight from messages,
//! requests and answers, the session on one connection, and the account of what was sent to which partition
//! under which number.
//!
//! A [`Producer`] is told of messages, connections and answers, and says which requests go where; [`Session`]
//! turns them into bytes. Both can be driven by a test in any order.

mod answers;
mod batch;
mod bytes;
mod code;
mod compression;
mod login;
mod partitioner;
mod producer;
mod requests;
mod scram;
mod session;
mod varint;

pub use answers::{Broker, Metadata, PartitionMetadata, TopicMetadata};
pub use batch::{BATCH_HEAD_BYTES, Batch, RECORD_EXTRA_BYTES, Record, envelope};
pub use compression::Compression;
pub use login::{Login, Mechanism};
pub use partitioner::Partitioner;
pub use producer::{Fate, IN_FLIGHT_MAX, Options, Produce, Producer, Why};
pub use session::{Fault, Heard, Session};

/// Whether a topic can have this name.
pub fn is_topic_name(name: &[u8]) -> bool {
    let letters = name.iter().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(b));
    letters && (1..=249).contains(&name.len()) && name != b"." && name != b".."
}

/// What broker `bytes` say; for the fuzz target and its replay.
#[doc(hidden)]
pub fn read_anything(bytes: &[u8]) {
    session::read_anything(bytes);
    let _ = batch::envelope::read(bytes);
}
