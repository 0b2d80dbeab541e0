//! What is left of messages that are no longer intact, for whoever asks what they were.

use crate::damage::Scrap;
use crate::files::SegmentFile;
use crate::frame;
use std::ops::Range;

/// Bytes that are kept of one message.
const BYTES_MAX: usize = 1024;
/// Messages of a segment of which something is kept.
const SCRAPS_MAX: usize = 100;

/// Goes over the gaps of a segment by the lengths that stand in front of the frames, as long as these make
/// sense.
pub(super) fn of(file: &dyn SegmentFile, key: u64, gaps: &[(u64, Range<u64>)]) -> Vec<Scrap> {
    let mut scraps = Vec::new();
    for (end, bytes) in gaps {
        let mut at = bytes.start;
        while at < bytes.end && scraps.len() < SCRAPS_MAX {
            let Some((scrap, length)) = one(file, key, *end, at..bytes.end) else { break };
            scraps.push(scrap);
            at += length;
        }
    }
    scraps
}

/// The frame at the front of `bytes`, and how many it takes up; all of them where its head makes no sense.
fn one(file: &dyn SegmentFile, key: u64, end: u64, bytes: Range<u64>) -> Option<(Scrap, u64)> {
    let room = bytes.end - bytes.start;
    let mut read = vec![0; (frame::HEAD + BYTES_MAX).min(room as usize)];
    let came = file.read_at(&mut read, bytes.start).ok()?;
    read.truncate(came);
    let (head, payload) = read.split_first_chunk::<{ frame::HEAD }>()?;
    let number = |at: usize| head.get(at..at + 8).and_then(|bytes| bytes.first_chunk::<8>());
    let number = |at: usize| number(at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let length = frame::length(head).map_or(0, |length| length as u64);
    let is_sound = length <= room && number(8) ^ key < end;
    let of_it = if is_sound { (length as usize).saturating_sub(frame::HEAD) } else { payload.len() };
    let text = payload.get(..of_it).unwrap_or(payload).to_vec();
    let queues = if is_sound { number(16) } else { 0 };
    let is_own = is_sound && queues == frame::CONTROL;
    let scrap = Scrap { end, queues: if is_own { u64::MAX } else { queues }, text };
    Some((scrap, if is_sound { length } else { room }))
}
