//! What a member says to a coordinator that divides: signs of life (version 1) and commits (version 9). Lists
//! have compact lengths, and there are no tagged fields, the head's first.

use super::{Member, TopicPartition};
use crate::answers::TopicId;
use crate::bytes::{
    put_compact_text, put_i32, put_i64, put_length, put_optional_compact_text as put_optional,
};
use std::sync::Arc;

const NO_TAGS: u8 = 0;

pub fn sign_of_life(
    out: &mut Vec<u8>,
    (member, rebalance_ms): (&Member, i32),
    (topics, assignor): (&[Arc<[u8]>], Option<&str>),
    owned: &[(TopicId, Vec<i32>)],
) {
    out.push(NO_TAGS);
    put_compact_text(out, member.group.as_bytes());
    put_compact_text(out, member.id.as_bytes());
    put_i32(out, member.generation);
    put_optional(out, member.instance.as_ref().map(String::as_bytes));
    // No rack.
    put_optional(out, None);
    put_i32(out, rebalance_ms);
    put_length(out, topics.len() + 1);
    topics.iter().for_each(|topic| put_compact_text(out, topic));
    // No expression: topics are matched here.
    put_optional(out, None);
    put_optional(out, assignor.map(str::as_bytes));
    put_length(out, owned.len() + 1);
    for (topic, partitions) in owned {
        out.extend_from_slice(topic);
        put_length(out, partitions.len() + 1);
        partitions.iter().for_each(|partition| put_i32(out, *partition));
        out.push(NO_TAGS);
    }
    out.push(NO_TAGS);
}

pub fn commit(out: &mut Vec<u8>, member: &Member, places: &[(TopicPartition, i64)]) {
    out.push(NO_TAGS);
    put_compact_text(out, member.group.as_bytes());
    put_i32(out, member.generation);
    put_compact_text(out, member.id.as_bytes());
    put_optional(out, member.instance.as_ref().map(String::as_bytes));
    let topics = || places.chunk_by(|(a, _), (b, _)| a.topic == b.topic);
    put_length(out, topics().count() + 1);
    for group in topics() {
        if let Some((first, _)) = group.first() {
            put_compact_text(out, &first.topic);
        }
        put_length(out, group.len() + 1);
        for (place, offset) in group {
            put_i32(out, place.partition);
            put_i64(out, *offset);
            // The leader's epoch is not known, and nothing is noted beside.
            put_i32(out, -1);
            put_optional(out, None);
            out.push(NO_TAGS);
        }
        out.push(NO_TAGS);
    }
    out.push(NO_TAGS);
}
