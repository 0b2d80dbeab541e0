//! Kafka's protocol without any I/O: record batches written straight from messages and read where they lie,
//! requests and answers, the session on one connection, the account of what was sent to which partition under
//! which number, and that of where each partition is read from.
//!
//! A [`Producer`] or a [`Consumer`], with its [`Group`], is told of connections and answers, and says which
//! requests go where; [`Session`] turns them into bytes. All can be driven by a test in any order.

mod answers;
mod batch;
mod bytes;
mod code;
mod compression;
mod consumer;
mod group;
mod login;
mod partitioner;
mod producer;
mod records;
mod requests;
mod scram;
mod session;
mod transactions;
mod varint;

pub use answers::consuming::{Fetched, OfGroup, Offset, Ruling};
pub use answers::transacting::Said;
pub use answers::{Broker, Metadata, PartitionMetadata, TopicMetadata};
pub use batch::{BATCH_HEAD_BYTES, Batch, RECORD_EXTRA_BYTES, Record, envelope};
pub use compression::Compression;
pub use consumer::{Begin, Consumer, News, Options as ConsumerOptions};
pub use group::{Group, News as GroupNews, Options as GroupOptions, Rule, Strategy};
pub use login::{Login, Mechanism, Opening, Speaker, is_extension};
pub use partitioner::Partitioner;
pub use producer::{Fate, IN_FLIGHT_MAX, Landed, Options, Produce, Producer, Why};
pub use records::{Batches, Reading, RecordAt, Unreadable, headers};
pub use requests::consuming::{Ask, FetchSize, Member, TopicPartition};
pub use requests::transacting::Question;
pub use session::{Fault, Heard, Session};
pub use transactions::{Plan as Transacting, QueuePosition, Transactions};

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
