//! What the store writes into its log for itself: how far queues are, which there are.

use crate::report::Waiting;
use crate::snapshot::{NAME_MAX, QUEUES_MAX, Row, Table, numbers};

const STATES: u8 = 1;
const DEFINED: u8 = 2;
const REMOVED: u8 = 3;
const TIME: u8 = 4;

pub fn states<'a>(rows: impl Iterator<Item = (u32, &'a Row)>) -> Vec<u8> {
    let mut out = vec![STATES];
    rows.for_each(|(id, row)| push(&mut out, id, row));
    out
}

pub fn defined(id: u32, row: &Row) -> Vec<u8> {
    let mut out = vec![DEFINED];
    push(&mut out, id, row);
    out.extend_from_slice(&row.name);
    out
}

pub fn removed(id: u32) -> Vec<u8> {
    let mut out = vec![REMOVED];
    out.extend_from_slice(&id.to_le_bytes());
    out
}

/// What follows was put in at this moment or less than a second after it, up to the next of these frames.
pub fn at_time(seconds: u64) -> [u8; 9] {
    let mut out = [TIME; 9];
    out[1..].copy_from_slice(&seconds.to_le_bytes());
    out
}

/// The moment that a control frame tells, in seconds since 1970.
pub fn time(payload: &[u8]) -> Option<u64> {
    match payload {
        [TIME, seconds @ ..] => Some(u64::from_le_bytes(seconds.try_into().ok()?)),
        _ => None,
    }
}

fn push(out: &mut Vec<u8>, id: u32, row: &Row) {
    out.extend_from_slice(&id.to_le_bytes());
    for word in row.words() {
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Brings the table up to the control frame. Calls `counted` with each id whose messages so far are said,
/// with what was known and what is said.
pub fn apply(payload: &[u8], table: &mut Table, mut counted: impl FnMut(u32, Waiting, Waiting)) {
    let Some((kind, mut rest)) = payload.split_first() else { return };
    match *kind {
        STATES => {
            while let Some((id, said)) = pull(&mut rest) {
                if let Some(row) = table.get_mut(&id) {
                    counted(id, row.appended, said.appended);
                    take(row, said);
                }
            }
        }
        DEFINED => {
            let Some((id, mut said)) = pull(&mut rest) else { return };
            if rest.len() > NAME_MAX {
                return;
            }
            said.name = rest.to_vec();
            match table.get_mut(&id).filter(|row| row.name == rest) {
                Some(row) => take(row, said),
                None => {
                    table.insert(id, said);
                }
            }
        }
        REMOVED => {
            if let Some(id) = rest.first_chunk() {
                table.remove(&u32::from_le_bytes(*id));
            }
        }
        _ => {}
    }
}

fn take(row: &mut Row, said: Row) {
    row.appended = said.appended;
    row.end = row.end.max(said.end);
    if said.cursor >= row.cursor {
        (row.cursor, row.done) = (said.cursor, said.done);
    }
}

fn pull(rest: &mut &[u8]) -> Option<(u32, Row)> {
    let (id, mut tail) = rest.split_first_chunk::<4>()?;
    let row = Row::of_words(numbers(&mut tail)?);
    *rest = tail;
    Some((u32::from_le_bytes(*id), row)).filter(|(id, _)| *id < QUEUES_MAX)
}
