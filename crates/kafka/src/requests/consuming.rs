//! What a consumer asks brokers.

mod ruled;

use super::Api;
use crate::answers::TopicId;
use crate::bytes::{put_bytes, put_i16, put_i32, put_i64, put_null_text, put_optional_text, put_text};
use std::sync::Arc;

/// A partition of a topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    pub topic: Arc<[u8]>,
    pub partition: i32,
}

/// Who this is in a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    pub group: Arc<str>,
    /// -1 outside of any.
    pub generation: i32,
    /// As the coordinator named it.
    pub id: String,
    /// `group.instance.id`.
    pub instance: Option<String>,
}

/// How much an answer to a [`Ask::Fetch`] may bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchSize {
    pub wait_ms: i32,
    pub bytes_min: i32,
    pub bytes_max: i32,
    pub partition_bytes_max: i32,
    pub committed_only: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Offsets by time; -1: the end, -2: the beginning.
    Offsets(Vec<(TopicPartition, i64)>),
    /// What follows these offsets, for a reader in this rack; none where it is empty.
    Fetch(FetchSize, Vec<(TopicPartition, i64)>, Arc<str>),
    /// Who coordinates the group.
    Coordinator(Arc<str>),
    /// `protocols`: how partitions may be divided, and what this member wants, in the words of each.
    Join {
        member: Member,
        session_ms: i32,
        rebalance_ms: i32,
        protocols: Vec<(&'static str, Vec<u8>)>,
    },
    /// Of the leader, with what each member gets.
    Sync {
        member: Member,
        shares: Vec<(String, Vec<u8>)>,
    },
    Heartbeat(Member),
    Leave(Member),
    Commit(Member, Vec<(TopicPartition, i64)>),
    /// Of a member whose coordinator divides.
    CommitRuled(Member, Vec<(TopicPartition, i64)>),
    /// A sign of life to a coordinator that divides: what this member wants, and what it has.
    Rule {
        member: Member,
        rebalance_ms: i32,
        topics: Vec<Arc<[u8]>>,
        assignor: Option<String>,
        owned: Vec<(TopicId, Vec<i32>)>,
    },
    /// What was committed.
    Committed(Arc<str>, Vec<TopicPartition>),
}

/// A list behind each topic's name: the items of one topic stand together.
pub(super) fn by_topic<T>(
    out: &mut Vec<u8>,
    items: &[T],
    place: impl Fn(&T) -> &TopicPartition,
    mut put: impl FnMut(&mut Vec<u8>, &T),
) {
    let groups = || items.chunk_by(|a, b| place(a).topic == place(b).topic);
    put_i32(out, groups().count() as i32);
    for group in groups() {
        if let Some(first) = group.first() {
            put_text(out, &place(first).topic);
        }
        put_i32(out, group.len() as i32);
        group.iter().for_each(|item| put(out, item));
    }
}

impl Ask {
    pub fn api(&self) -> Api {
        match self {
            Ask::Offsets(_) => Api::ListOffsets,
            Ask::Fetch(..) => Api::Fetch,
            Ask::Coordinator(_) => Api::FindCoordinator,
            Ask::Join { .. } => Api::JoinGroup,
            Ask::Sync { .. } => Api::SyncGroup,
            Ask::Heartbeat(_) => Api::Heartbeat,
            Ask::Leave(_) => Api::LeaveGroup,
            Ask::Commit(..) | Ask::CommitRuled(..) => Api::OffsetCommit,
            Ask::Rule { .. } => Api::GroupHeartbeat,
            Ask::Committed(..) => Api::OffsetFetch,
        }
    }

    /// Versions that can be written and read here.
    pub fn versions(&self) -> (i16, i16) {
        match self {
            // The first that knows epochs of members.
            Ask::CommitRuled(..) => (9, 9),
            _ => self.api().versions(),
        }
    }

    /// The request behind its head.
    pub fn put(&self, out: &mut Vec<u8>, version: i16) {
        match self {
            Ask::Offsets(places) => {
                // No replica; only what is committed counts.
                put_i32(out, -1);
                out.push(1);
                by_topic(
                    out,
                    places,
                    |(place, _)| place,
                    |out, (place, time)| {
                        put_i32(out, place.partition);
                        put_i64(out, *time);
                    },
                );
            }
            Ask::Fetch(size, places, rack) => fetch(out, version, (size, rack), places),
            Ask::Coordinator(group) => {
                put_text(out, group.as_bytes());
                out.push(0);
            }
            Ask::Join { member, session_ms, rebalance_ms, protocols } => {
                put_text(out, member.group.as_bytes());
                put_i32(out, *session_ms);
                put_i32(out, *rebalance_ms);
                put_text(out, member.id.as_bytes());
                instance(out, version >= 5, member);
                put_text(out, b"consumer");
                put_i32(out, protocols.len() as i32);
                for (name, wants) in protocols {
                    put_text(out, name.as_bytes());
                    put_bytes(out, wants);
                }
            }
            Ask::Sync { member, shares } => {
                in_generation(out, version >= 3, member);
                put_i32(out, shares.len() as i32);
                for (member, share) in shares {
                    put_text(out, member.as_bytes());
                    put_bytes(out, share);
                }
            }
            Ask::Heartbeat(member) => in_generation(out, version >= 3, member),
            Ask::Leave(member) => {
                put_text(out, member.group.as_bytes());
                put_text(out, member.id.as_bytes());
            }
            Ask::Commit(member, places) => {
                in_generation(out, false, member);
                // Kept as long as the brokers say.
                put_i64(out, -1);
                by_topic(
                    out,
                    places,
                    |(place, _)| place,
                    |out, (place, offset)| {
                        put_i32(out, place.partition);
                        put_i64(out, *offset);
                        put_null_text(out);
                    },
                );
            }
            Ask::CommitRuled(member, places) => ruled::commit(out, member, places),
            Ask::Rule { member, rebalance_ms, topics, assignor, owned } => {
                ruled::sign_of_life(out, (member, *rebalance_ms), (topics, assignor.as_deref()), owned);
            }
            Ask::Committed(group, places) => {
                put_text(out, group.as_bytes());
                by_topic(out, places, |place| place, |out, place| put_i32(out, place.partition));
            }
        }
    }
}

fn fetch(
    out: &mut Vec<u8>,
    version: i16,
    (size, rack): (&FetchSize, &str),
    places: &[(TopicPartition, i64)],
) {
    put_i32(out, -1);
    put_i32(out, size.wait_ms);
    put_i32(out, size.bytes_min);
    put_i32(out, size.bytes_max);
    out.push(u8::from(size.committed_only));
    if version >= 7 {
        // No session: every request names all of its partitions.
        put_i32(out, 0);
        put_i32(out, -1);
    }
    by_topic(
        out,
        places,
        |(place, _)| place,
        |out, (place, offset)| {
            put_i32(out, place.partition);
            if version >= 9 {
                // The leader's epoch is not known.
                put_i32(out, -1);
            }
            put_i64(out, *offset);
            if version >= 5 {
                put_i64(out, -1);
            }
            put_i32(out, size.partition_bytes_max);
        },
    );
    if version >= 7 {
        put_i32(out, 0);
    }
    if version >= 11 {
        put_text(out, rack.as_bytes());
    }
}

fn in_generation(out: &mut Vec<u8>, has_instance: bool, member: &Member) {
    put_text(out, member.group.as_bytes());
    put_i32(out, member.generation);
    put_text(out, member.id.as_bytes());
    instance(out, has_instance, member);
}

fn instance(out: &mut Vec<u8>, is_there: bool, member: &Member) {
    if is_there {
        put_optional_text(out, member.instance.as_ref().map(String::as_bytes));
    }
}

/// What a member wants: these topics. Version 0, as every member understands it.
pub fn subscription(topics: &[Arc<[u8]>]) -> Vec<u8> {
    let mut out = Vec::new();
    put_i16(&mut out, 0);
    put_i32(&mut out, topics.len() as i32);
    topics.iter().for_each(|topic| put_text(&mut out, topic));
    put_i32(&mut out, -1);
    out
}

/// What a member gets.
pub fn share(places: &[TopicPartition]) -> Vec<u8> {
    let mut out = Vec::new();
    put_i16(&mut out, 0);
    by_topic(&mut out, places, |place| place, |out, place| put_i32(out, place.partition));
    put_i32(&mut out, -1);
    out
}
