//! What a producer with transactions asks those who coordinate them.

use super::consuming::TopicPartition;
use super::consuming::by_topic;
use super::{Api, init_producer_id};
use crate::bytes::{put_compact_text, put_i16, put_i32, put_i64, put_text};
use std::sync::Arc;

/// Who a transaction belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The transactional id.
    pub id: Arc<str>,
    pub producer: i64,
    pub epoch: i16,
}

/// Whose coordinator is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Transaction,
    Group,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Who coordinates what has this name.
    Coordinator(Whose, Arc<str>),
    /// A producer id. Whoever had this transactional id before is shut out, and its transaction ended.
    Identity {
        id: Arc<str>,
        timeout_ms: i32,
    },
    /// What a group has committed for a partition.
    Position(Arc<str>, TopicPartition),
    /// These partitions are part of the transaction. They stand by topic.
    Partitions(Holder, Vec<TopicPartition>),
    /// So is what this group commits.
    Group(Holder, Arc<str>),
    /// Commits with the transaction.
    Move {
        holder: Holder,
        group: Arc<str>,
        place: TopicPartition,
        position: i64,
        note: String,
    },
    End {
        holder: Holder,
        commits: bool,
    },
}

/// Which question an answer is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Coordinator(Whose),
    Identity,
    Position,
    Partitions,
    Group,
    Move,
    End,
}

impl Question {
    pub fn api(&self) -> Api {
        match self {
            Question::Coordinator(..) => Api::FindCoordinator,
            Question::Identity { .. } => Api::InitProducerId,
            Question::Position(..) => Api::OffsetFetch,
            Question::Partitions(..) => Api::AddPartitionsToTxn,
            Question::Group(..) => Api::AddOffsetsToTxn,
            Question::Move { .. } => Api::TxnOffsetCommit,
            Question::End { .. } => Api::EndTxn,
        }
    }

    pub fn asked(&self) -> Asked {
        match self {
            Question::Coordinator(whose, _) => Asked::Coordinator(*whose),
            Question::Identity { .. } => Asked::Identity,
            Question::Position(..) => Asked::Position,
            Question::Partitions(..) => Asked::Partitions,
            Question::Group(..) => Asked::Group,
            Question::Move { .. } => Asked::Move,
            Question::End { .. } => Asked::End,
        }
    }

    /// The request behind its head.
    pub fn put(&self, out: &mut Vec<u8>) {
        match self {
            Question::Coordinator(whose, name) => {
                put_text(out, name.as_bytes());
                out.push(u8::from(*whose == Whose::Transaction));
            }
            Question::Identity { id, timeout_ms } => init_producer_id(out, Some(id), *timeout_ms),
            Question::Position(group, place) => put_position(out, group, place),
            Question::Partitions(holder, places) => {
                put_holder(out, holder);
                by_topic(out, places, |place| place, |out, place| put_i32(out, place.partition));
            }
            Question::Group(holder, group) => {
                put_holder(out, holder);
                put_text(out, group.as_bytes());
            }
            Question::Move { holder, group, place, position, note } => {
                put_text(out, holder.id.as_bytes());
                put_text(out, group.as_bytes());
                put_i64(out, holder.producer);
                put_i16(out, holder.epoch);
                by_topic(
                    out,
                    std::slice::from_ref(place),
                    |place| place,
                    |out, place| {
                        put_i32(out, place.partition);
                        put_i64(out, *position);
                        put_text(out, note.as_bytes());
                    },
                );
            }
            Question::End { holder, commits } => {
                put_holder(out, holder);
                out.push(u8::from(*commits));
            }
        }
    }
}

fn put_holder(out: &mut Vec<u8>, holder: &Holder) {
    put_text(out, holder.id.as_bytes());
    put_i64(out, holder.producer);
    put_i16(out, holder.epoch);
}

/// Asks for what is stable: an offset that a transaction is about to commit is waited for. Lists of one have
/// the length 2, and there are no tagged fields, the head's first.
fn put_position(out: &mut Vec<u8>, group: &str, place: &TopicPartition) {
    out.push(0);
    put_compact_text(out, group.as_bytes());
    out.push(2);
    put_compact_text(out, &place.topic);
    out.push(2);
    put_i32(out, place.partition);
    out.extend_from_slice(&[0, 1, 0]);
}
