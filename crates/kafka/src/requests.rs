//! Requests, in versions that brokers from 2.1 to 4.x know and whose form is plain.

pub mod consuming;
pub mod transacting;

use crate::bytes::{put_bytes, put_compact_text, put_i16, put_i32, put_length, put_optional_text, put_text};
use crate::producer::Produce;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    Produce,
    Fetch,
    ListOffsets,
    Metadata,
    OffsetCommit,
    OffsetFetch,
    FindCoordinator,
    JoinGroup,
    Heartbeat,
    LeaveGroup,
    SyncGroup,
    SaslHandshake,
    Versions,
    InitProducerId,
    AddPartitionsToTxn,
    AddOffsetsToTxn,
    EndTxn,
    TxnOffsetCommit,
    SaslAuthenticate,
    GroupHeartbeat,
}

impl Api {
    pub fn key(self) -> i16 {
        match self {
            Api::Produce => 0,
            Api::Fetch => 1,
            Api::ListOffsets => 2,
            Api::Metadata => 3,
            Api::OffsetCommit => 8,
            Api::OffsetFetch => 9,
            Api::FindCoordinator => 10,
            Api::JoinGroup => 11,
            Api::Heartbeat => 12,
            Api::LeaveGroup => 13,
            Api::SyncGroup => 14,
            Api::SaslHandshake => 17,
            Api::Versions => 18,
            Api::InitProducerId => 22,
            Api::AddPartitionsToTxn => 24,
            Api::AddOffsetsToTxn => 25,
            Api::EndTxn => 26,
            Api::TxnOffsetCommit => 28,
            Api::SaslAuthenticate => 36,
            Api::GroupHeartbeat => 68,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Api::Produce => "Produce",
            Api::Fetch => "Fetch",
            Api::ListOffsets => "ListOffsets",
            Api::Metadata => "Metadata",
            Api::OffsetCommit => "OffsetCommit",
            Api::OffsetFetch => "OffsetFetch",
            Api::FindCoordinator => "FindCoordinator",
            Api::JoinGroup => "JoinGroup",
            Api::Heartbeat => "Heartbeat",
            Api::LeaveGroup => "LeaveGroup",
            Api::SyncGroup => "SyncGroup",
            Api::SaslHandshake => "SaslHandshake",
            Api::Versions => "ApiVersions",
            Api::InitProducerId => "InitProducerId",
            Api::AddPartitionsToTxn => "AddPartitionsToTxn",
            Api::AddOffsetsToTxn => "AddOffsetsToTxn",
            Api::EndTxn => "EndTxn",
            Api::TxnOffsetCommit => "TxnOffsetCommit",
            Api::SaslAuthenticate => "SaslAuthenticate",
            Api::GroupHeartbeat => "ConsumerGroupHeartbeat",
        }
    }

    /// Versions that can be written and read here.
    pub fn versions(self) -> (i16, i16) {
        match self {
            Api::Produce => (3, 8),
            // From 10 on brokers give what is compressed with Zstandard.
            Api::Fetch => (4, 11),
            Api::ListOffsets => (2, 2),
            Api::Metadata => (4, 4),
            Api::OffsetCommit => (2, 2),
            Api::OffsetFetch => (2, 2),
            Api::FindCoordinator => (1, 1),
            // From 5 on members may have a name of their own.
            Api::JoinGroup => (2, 5),
            Api::Heartbeat => (1, 3),
            Api::LeaveGroup => (1, 1),
            Api::SyncGroup => (1, 3),
            Api::SaslHandshake => (1, 1),
            Api::Versions => (0, 0),
            Api::InitProducerId => (0, 1),
            // From 2 on brokers tell a producer that was shut out from one with a wrong epoch.
            Api::AddPartitionsToTxn | Api::AddOffsetsToTxn | Api::EndTxn => (0, 2),
            Api::TxnOffsetCommit => (0, 1),
            Api::SaslAuthenticate => (0, 1),
            Api::GroupHeartbeat => (1, 1),
        }
    }
}

/// Begins a request behind the four bytes of its length, which [`end`] fills in.
pub fn begin(out: &mut Vec<u8>, api: Api, version: i16, correlation: i32, client: &str) {
    put_i32(out, 0);
    put_i16(out, api.key());
    put_i16(out, version);
    put_i32(out, correlation);
    put_text(out, client.as_bytes());
}

/// Ends a request that began at the front of `out`, and of which so many bytes follow from elsewhere.
pub fn end(out: &mut [u8], elsewhere: usize) {
    let length = (out.len() - 4 + elsewhere) as i32;
    if let Some(place) = out.first_chunk_mut::<4>() {
        *place = length.to_be_bytes();
    }
}

/// Of all topics there are.
pub fn all_metadata(out: &mut Vec<u8>) {
    put_i32(out, -1);
    out.push(0);
}

/// The version that tells the numbers of topics.
pub const METADATA_WITH_NUMBERS: (i16, i16) = (12, 12);

/// Version 12; without topics, of all there are.
pub fn metadata_with_numbers(out: &mut Vec<u8>, topics: Option<&[Box<[u8]>]>) {
    out.push(0);
    match topics {
        None => put_length(out, 0),
        Some(topics) => {
            put_length(out, topics.len() + 1);
            for topic in topics {
                out.extend_from_slice(&[0; 16]);
                put_compact_text(out, topic);
                out.push(0);
            }
        }
    }
    // None is made, nobody asks who may do what, no tags.
    out.extend_from_slice(&[0, 0, 0]);
}

/// `makes`: topics that do not exist are made, where the cluster allows it.
pub fn metadata(out: &mut Vec<u8>, topics: &[Box<[u8]>], makes: bool) {
    put_i32(out, topics.len() as i32);
    topics.iter().for_each(|topic| put_text(out, topic));
    out.push(u8::from(makes));
}

/// `id`: the transactional id, and how long its transactions may take.
pub fn init_producer_id(out: &mut Vec<u8>, id: Option<&str>, timeout_ms: i32) {
    put_optional_text(out, id.map(str::as_bytes));
    put_i32(out, timeout_ms);
}

pub fn sasl_handshake(out: &mut Vec<u8>, mechanism: &str) {
    put_text(out, mechanism.as_bytes());
}

pub fn sasl_authenticate(out: &mut Vec<u8>, words: &[u8]) {
    put_bytes(out, words);
}

/// The part of a request to write that stands before its topics.
pub fn produce(out: &mut Vec<u8>, produce: &Produce, topics: usize) {
    put_optional_text(out, produce.transaction.as_deref().map(str::as_bytes));
    // -1 waits for all replicas in sync.
    put_i16(out, produce.acks);
    put_i32(out, produce.timeout_ms);
    put_i32(out, topics as i32);
}

/// A topic with so many partitions that follow.
pub fn produce_topic(out: &mut Vec<u8>, name: &[u8], partitions: usize) {
    put_text(out, name);
    put_i32(out, partitions as i32);
}

/// A partition, whose batch follows.
pub fn produce_partition(out: &mut Vec<u8>, partition: i32, batch_bytes: usize) {
    put_i32(out, partition);
    put_i32(out, batch_bytes as i32);
}
