//! Answers of brokers.

pub mod consuming;
pub mod transacting;

use crate::bytes::{Input, Read, shown};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broker {
    pub id: i32,
    pub host: String,
    pub port: u16,
}

/// A coordinator: number, host and port; or an error with the broker's words.
pub type Coordinator = Result<(i32, String, u16), (i16, String)>;

/// Version 1 of FindCoordinator.
fn found(input: &mut Input<'_>) -> Read<Coordinator> {
    input.i32()?;
    let (error, words, id, host) = (input.i16()?, shown(input.text()?), input.i32()?, shown(input.text()?));
    let port = u16::try_from(input.i32()?).unwrap_or(0);
    Ok(if error == 0 { Ok((id, host, port)) } else { Err((error, words)) })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionMetadata {
    pub index: i32,
    /// `None`: there is none at the moment.
    pub leader: Option<i32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicMetadata {
    pub error: i16,
    pub name: Vec<u8>,
    pub partitions: Vec<PartitionMetadata>,
}

/// The number of a topic: another one when it is made anew.
pub type TopicId = [u8; 16];

/// Who is in the cluster, and who leads what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    pub brokers: Vec<Broker>,
    pub topics: Vec<TopicMetadata>,
}

/// What became of the batch of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub topic: Vec<u8>,
    pub partition: i32,
    pub error: i16,
    /// Of the first record, where the broker says it.
    pub offset: Option<u64>,
    /// Records that cannot be taken, by their place in the batch, and why.
    pub bad: Vec<(usize, String)>,
    pub words: String,
}

/// What versions of a request the broker knows: key, lowest, highest.
pub type Version = (i16, i16, i16);

/// The error, and the versions.
pub fn api_versions(input: &mut Input<'_>) -> Read<(i16, Vec<Version>)> {
    let error = input.i16()?;
    let mut versions = Vec::new();
    input.list(|item| {
        versions.push((item.i16()?, item.i16()?, item.i16()?));
        Ok(())
    })?;
    Ok((error, versions))
}

/// Version 4.
pub fn metadata(input: &mut Input<'_>) -> Read<Metadata> {
    input.i32()?;
    let mut found = Metadata::default();
    input.list(|item| {
        let (id, host, port) = (item.i32()?, shown(item.text()?), item.i32()?);
        item.text()?;
        found.brokers.push(Broker { id, host, port: u16::try_from(port).unwrap_or(0) });
        Ok(())
    })?;
    input.text()?;
    input.i32()?;
    input.list(|item| {
        let (error, name) = (item.i16()?, item.text()?.unwrap_or_default().to_vec());
        item.bool()?;
        let mut partitions = Vec::new();
        item.list(|item| {
            let (_, index, leader) = (item.i16()?, item.i32()?, item.i32()?);
            item.list(|replica| replica.i32().map(drop))?;
            item.list(|replica| replica.i32().map(drop))?;
            partitions.push(PartitionMetadata { index, leader: (leader >= 0).then_some(leader) });
            Ok(())
        })?;
        found.topics.push(TopicMetadata { error, name, partitions });
        Ok(())
    })?;
    Ok(found)
}

/// Topics with their numbers.
pub type Numbers = Vec<(TopicId, Arc<[u8]>)>;

/// Version 12.
pub fn metadata_with_numbers(input: &mut Input<'_>) -> Read<(Metadata, Numbers)> {
    input.skip_tags()?;
    input.i32()?;
    let (mut found, mut numbers) = (Metadata::default(), Vec::new());
    input.compact_list(|item| {
        let (id, host, port) = (item.i32()?, shown(item.compact_text()?), item.i32()?);
        item.compact_text()?;
        found.brokers.push(Broker { id, host, port: u16::try_from(port).unwrap_or(0) });
        item.skip_tags()
    })?;
    input.compact_text()?;
    input.i32()?;
    input.compact_list(|item| {
        let (error, name) = (item.i16()?, item.compact_text()?.unwrap_or_default().to_vec());
        let number = item.number()?;
        item.bool()?;
        let mut partitions = Vec::new();
        item.compact_list(|item| {
            let (_, index, leader) = (item.i16()?, item.i32()?, item.i32()?);
            item.i32()?;
            for _ in 0..3 {
                item.compact_list(|replica| replica.i32().map(drop))?;
            }
            partitions.push(PartitionMetadata { index, leader: (leader >= 0).then_some(leader) });
            item.skip_tags()
        })?;
        item.i32()?;
        if error == 0 {
            numbers.push((number, name.as_slice().into()));
        }
        found.topics.push(TopicMetadata { error, name, partitions });
        item.skip_tags()
    })?;
    Ok((found, numbers))
}

/// Versions 3 to 8.
pub fn produce(input: &mut Input<'_>, version: i16) -> Read<Vec<Written>> {
    let mut found = Vec::new();
    input.list(|item| {
        let topic = item.text()?.unwrap_or_default().to_vec();
        item.list(|item| {
            let (partition, error) = (item.i32()?, item.i16()?);
            let offset = u64::try_from(item.i64()?).ok();
            item.i64()?;
            if version >= 5 {
                item.i64()?;
            }
            let (mut bad, mut words) = (Vec::new(), String::new());
            if version >= 8 {
                item.list(|item| {
                    let (at, why) = (item.i32()?, shown(item.text()?));
                    bad.extend(usize::try_from(at).ok().map(|at| (at, why)));
                    Ok(())
                })?;
                words = shown(item.text()?);
            }
            found.push(Written { topic: topic.clone(), partition, error, offset, bad, words });
            Ok(())
        })
    })?;
    Ok(found)
}

/// The error, or producer id and epoch.
pub fn init_producer_id(input: &mut Input<'_>) -> Read<Result<(i64, i16), i16>> {
    input.i32()?;
    let (error, id, epoch) = (input.i16()?, input.i64()?, input.i16()?);
    Ok(if error == 0 { Ok((id, epoch)) } else { Err(error) })
}

/// The error, and the mechanisms that the broker has.
pub fn sasl_handshake(input: &mut Input<'_>) -> Read<(i16, Vec<String>)> {
    let error = input.i16()?;
    let mut mechanisms = Vec::new();
    input.list(|item| {
        mechanisms.push(shown(item.text()?));
        Ok(())
    })?;
    Ok((error, mechanisms))
}

/// The error with the broker's words, or what it says, and for how many milliseconds the login is good; 0:
/// for ever.
pub type OfLogin<'a> = Result<(&'a [u8], i64), (i16, String)>;

/// Versions 0 and 1.
pub fn sasl_authenticate<'a>(input: &mut Input<'a>, version: i16) -> Read<OfLogin<'a>> {
    let (error, words) = (input.i16()?, shown(input.text()?));
    let said = input.bytes()?.unwrap_or_default();
    let lifetime = if version >= 1 { input.i64()? } else { 0 };
    Ok(if error == 0 { Ok((said, lifetime)) } else { Err((error, words)) })
}
