//! What brokers answer a consumer.

use super::{Coordinator, Numbers, TopicId, found};
use crate::bytes::{Input, Malformed, Read, shown};
use crate::records::{Aborted, Batches, Reading, headers};
use crate::requests::consuming::TopicPartition;
use std::ops::Range;
use std::sync::Arc;

/// A partition's offset that was asked for, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offset {
    pub place: TopicPartition,
    pub error: i16,
    /// -1: there is none.
    pub offset: i64,
}

/// What one partition has of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub place: TopicPartition,
    pub error: i16,
    /// The end of what may be read.
    pub end: i64,
    pub aborted: Vec<Aborted>,
    /// A broker with a copy that is nearer to the reader; -1: none.
    pub nearer: i32,
    /// Where its batches are in the answer.
    pub batches: Range<usize>,
}

/// An answer that brings records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    pub bytes: Arc<Vec<u8>>,
    pub error: i16,
    pub parts: Vec<Part>,
}

/// A member of the group, as its leader hears of it: its name, and the topics it wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub id: String,
    pub topics: Vec<Arc<[u8]>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub error: i16,
    pub generation: i32,
    /// How partitions are divided.
    pub protocol: String,
    pub leader: String,
    pub id: String,
    /// For the leader alone.
    pub members: Vec<Other>,
}

/// What a coordinator that divides answers to a sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ruling {
    pub error: i16,
    pub words: String,
    pub epoch: i32,
    /// How often it wants to hear something.
    pub interval_ms: i32,
    /// What this member is to have, where that is said.
    pub share: Option<Vec<(TopicId, Vec<i32>)>>,
}

/// What is said about a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfGroup {
    /// Its coordinator: number, host and port; or an error with the broker's words.
    Coordinator(Coordinator),
    Joined(Joined),
    /// What this member has got, or an error.
    Synced(Result<Vec<TopicPartition>, i16>),
    Heartbeat(i16),
    Left,
    /// The error of each.
    Commits(Vec<(TopicPartition, i16)>),
    /// An error of all of it; what was committed.
    Committed(i16, Vec<Offset>),
    Ruled(Ruling),
    /// The numbers by which a coordinator that divides speaks of topics.
    Numbers(Numbers),
}

/// Lists of partitions behind the names of their topics.
fn by_topic<'a>(
    input: &mut Input<'a>,
    mut each: impl FnMut(&mut Input<'a>, &dyn Fn(i32) -> TopicPartition) -> Read<()>,
) -> Read<()> {
    input.list(|item| {
        let topic: Arc<[u8]> = item.text()?.unwrap_or_default().into();
        let place = |partition| TopicPartition { topic: Arc::clone(&topic), partition };
        item.list(|item| each(item, &place))
    })
}

/// Version 2.
pub fn offsets(input: &mut Input<'_>) -> Read<Vec<Offset>> {
    let mut found = Vec::new();
    input.i32()?;
    by_topic(input, |item, place| {
        let (place, error) = (place(item.i32()?), item.i16()?);
        item.i64()?;
        found.push(Offset { place, error, offset: item.i64()? });
        Ok(())
    })?;
    Ok(found)
}

/// Versions 4 to 11. `answer`: all of it, its body from `at` on.
pub fn fetched(answer: Vec<u8>, at: usize, version: i16) -> Read<Fetched> {
    let (mut error, mut parts) = (0, Vec::new());
    let mut input = Input(answer.get(at..).unwrap_or_default());
    input.i32()?;
    if version >= 7 {
        error = input.i16()?;
        input.i32()?;
    }
    let total = answer.len();
    by_topic(&mut input, |item, place| {
        let (place, error, end) = (place(item.i32()?), item.i16()?, item.i64()?);
        // The end of what is committed.
        item.i64()?;
        if version >= 5 {
            item.i64()?;
        }
        let mut aborted = Vec::new();
        item.list(|item| {
            aborted.push((item.i64()?, item.i64()?));
            Ok(())
        })?;
        let nearer = if version >= 11 { item.i32()? } else { -1 };
        let bytes = item.bytes()?.map_or(0, <[u8]>::len);
        let behind = total - item.0.len();
        parts.push(Part { place, error, end, aborted, nearer, batches: behind - bytes..behind });
        Ok(())
    })?;
    Ok(Fetched { bytes: Arc::new(answer), error, parts })
}

pub fn coordinator(input: &mut Input<'_>) -> Read<OfGroup> {
    Ok(OfGroup::Coordinator(found(input)?))
}

/// Versions 2 to 5.
pub fn joined(input: &mut Input<'_>, version: i16) -> Read<OfGroup> {
    input.i32()?;
    let mut joined = Joined {
        error: input.i16()?,
        generation: input.i32()?,
        protocol: shown(input.text()?),
        leader: shown(input.text()?),
        id: shown(input.text()?),
        members: Vec::new(),
    };
    input.list(|item| {
        let id = shown(item.text()?);
        if version >= 5 {
            item.text()?;
        }
        let topics = subscription(item.bytes()?.unwrap_or_default())?;
        joined.members.push(Other { id, topics });
        Ok(())
    })?;
    Ok(OfGroup::Joined(joined))
}

/// What a member wants, whatever else it says.
fn subscription(bytes: &[u8]) -> Read<Vec<Arc<[u8]>>> {
    let mut topics = Vec::new();
    let mut input = Input(bytes);
    input.i16()?;
    input.list(|item| {
        topics.push(item.text()?.unwrap_or_default().into());
        Ok(())
    })?;
    Ok(topics)
}

/// Versions 1 to 3.
pub fn synced(input: &mut Input<'_>) -> Read<OfGroup> {
    input.i32()?;
    let error = input.i16()?;
    let bytes = input.bytes()?.unwrap_or_default();
    if error != 0 {
        return Ok(OfGroup::Synced(Err(error)));
    }
    let mut places = Vec::new();
    if !bytes.is_empty() {
        let mut input = Input(bytes);
        input.i16()?;
        by_topic(&mut input, |item, place| {
            places.push(place(item.i32()?));
            Ok(())
        })?;
    }
    Ok(OfGroup::Synced(Ok(places)))
}

/// Versions 1 to 3.
pub fn heartbeat(input: &mut Input<'_>) -> Read<OfGroup> {
    input.i32()?;
    Ok(OfGroup::Heartbeat(input.i16()?))
}

/// Version 1 of ConsumerGroupHeartbeat.
pub fn ruled(input: &mut Input<'_>) -> Read<OfGroup> {
    input.skip_tags()?;
    input.i32()?;
    let (error, words) = (input.i16()?, shown(input.compact_text()?));
    input.compact_text()?;
    let (epoch, interval_ms) = (input.i32()?, input.i32()?);
    // Less than 0: nothing is said about it.
    let mut share = None;
    if input.i8()? >= 0 {
        let mut topics = Vec::new();
        input.compact_list(|item| {
            let number = item.number()?;
            let mut partitions = Vec::new();
            item.compact_list(|item| {
                partitions.push(item.i32()?);
                Ok(())
            })?;
            topics.push((number, partitions));
            item.skip_tags()
        })?;
        share = Some(topics);
    }
    Ok(OfGroup::Ruled(Ruling { error, words, epoch, interval_ms, share }))
}

/// Version 9.
pub fn ruled_commits(input: &mut Input<'_>) -> Read<OfGroup> {
    let mut all = Vec::new();
    input.skip_tags()?;
    input.i32()?;
    input.compact_list(|item| {
        let topic: Arc<[u8]> = item.compact_text()?.unwrap_or_default().into();
        item.compact_list(|item| {
            let place = TopicPartition { topic: Arc::clone(&topic), partition: item.i32()? };
            all.push((place, item.i16()?));
            item.skip_tags()
        })?;
        item.skip_tags()
    })?;
    Ok(OfGroup::Commits(all))
}

/// Version 2.
pub fn commits(input: &mut Input<'_>) -> Read<OfGroup> {
    let mut all = Vec::new();
    by_topic(input, |item, place| {
        all.push((place(item.i32()?), item.i16()?));
        Ok(())
    })?;
    Ok(OfGroup::Commits(all))
}

/// Version 2.
pub fn committed(input: &mut Input<'_>) -> Read<OfGroup> {
    let mut all = Vec::new();
    by_topic(input, |item, place| {
        let (place, offset) = (place(item.i32()?), item.i64()?);
        item.text()?;
        all.push(Offset { place, offset, error: item.i16()? });
        Ok(())
    })?;
    Ok(OfGroup::Committed(input.i16()?, all))
}

/// What was received is no answer to anything.
pub const NONE: Malformed = Malformed("it is no answer to a consumer");

/// Answers of all kinds out of one input, and the records they bring.
pub fn read_anything(bytes: &[u8]) {
    let _ = offsets(&mut Input(bytes));
    let _ = coordinator(&mut Input(bytes));
    let _ = joined(&mut Input(bytes), 5);
    let _ = synced(&mut Input(bytes));
    let _ = commits(&mut Input(bytes));
    let _ = committed(&mut Input(bytes));
    let _ = ruled(&mut Input(bytes));
    let _ = ruled_commits(&mut Input(bytes));
    let Ok(answer) = fetched(bytes.to_vec(), 0, 11) else { return };
    for part in answer.parts {
        let reading = Reading { committed_only: true, checked: false };
        let mut batches = Batches::new(Arc::clone(&answer.bytes), part.batches, 0, part.aborted, reading);
        let (mut text, mut out) = (Vec::new(), Vec::new());
        loop {
            match batches.take((1 << 16, 1 << 10), &mut text, &mut out) {
                Ok(false) => break,
                Ok(true) => out.iter().for_each(|record| {
                    headers(text.get(record.headers.clone()).unwrap_or_default()).for_each(drop);
                }),
                Err(_) => {}
            }
            out.clear();
            text.clear();
        }
    }
}
