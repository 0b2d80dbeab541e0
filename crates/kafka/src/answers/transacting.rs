//! What brokers answer a producer with transactions.

use super::{Coordinator, found, init_producer_id};
use crate::bytes::{Input, Read, shown};
use crate::requests::transacting::{Asked, Whose};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Coordinator(Whose, Coordinator),
    /// Producer id and epoch, or an error.
    Identity(Result<(i64, i16), i16>),
    /// An offset, -1 for none, with its note; or an error.
    Position(Result<(i64, String), i16>),
    /// 0, or the error of the partitions that are not part of the transaction.
    Partitions(i16),
    Group(i16),
    Moved(i16),
    Ended(i16),
}

/// Partitions that were not looked at because another one had an error.
const NOT_ATTEMPTED: i16 = 55;

pub fn said(input: &mut Input<'_>, asked: Asked) -> Read<Said> {
    Ok(match asked {
        Asked::Coordinator(whose) => Said::Coordinator(whose, found(input)?),
        Asked::Identity => Said::Identity(init_producer_id(input)?),
        Asked::Position => Said::Position(position(input)?),
        Asked::Partitions => Said::Partitions(partitions(input)?),
        Asked::Move => Said::Moved(partitions(input)?),
        Asked::Group => Said::Group(error(input)?),
        Asked::End => Said::Ended(error(input)?),
    })
}

fn error(input: &mut Input<'_>) -> Read<i16> {
    input.i32()?;
    input.i16()
}

/// The error of each partition: the first that says why.
fn partitions(input: &mut Input<'_>) -> Read<i16> {
    input.i32()?;
    let mut worst = 0;
    input.list(|item| {
        item.text()?;
        item.list(|item| {
            item.i32()?;
            let error = item.i16()?;
            if worst == 0 || worst == NOT_ATTEMPTED {
                worst = error;
            }
            Ok(())
        })
    })?;
    Ok(worst)
}

/// Version 7, of one partition.
fn position(input: &mut Input<'_>) -> Read<Result<(i64, String), i16>> {
    let mut found = Ok((-1, String::new()));
    input.skip_tags()?;
    input.i32()?;
    input.compact_list(|item| {
        item.compact_text()?;
        item.compact_list(|item| {
            item.i32()?;
            let offset = item.i64()?;
            item.i32()?;
            let (note, error) = (shown(item.compact_text()?), item.i16()?);
            found = if error == 0 { Ok((offset, note)) } else { Err(error) };
            item.skip_tags()
        })?;
        item.skip_tags()
    })?;
    let error = input.i16()?;
    Ok(if error == 0 { found } else { Err(error) })
}

/// Answers of all kinds out of one input.
pub fn read_anything(bytes: &[u8]) {
    use Asked::{Coordinator, End, Group, Identity, Move, Partitions, Position};
    for asked in [Coordinator(Whose::Group), Identity, Position, Partitions, Group, Move, End] {
        let _ = said(&mut Input(bytes), asked);
    }
}
