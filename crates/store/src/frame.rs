//! The bytes of a frame: what one message, or one note of the store to itself, is on disk.

use crate::MESSAGE_BYTES_MAX;
use crate::checksum;
use std::ops::Range;

/// `len u32 | crc u32 | seq u64 | queues u64`, little endian.
pub const HEAD: usize = 24;
/// Queues with smaller ids can share a frame.
pub const SHARED_IDS: u32 = 63;
const SINGLE: u64 = 1 << 63;
/// `queues` of a frame that the store wrote for itself.
pub const CONTROL: u64 = 0;

/// The queues a frame belongs to, as stored.
pub fn queues_of(id: u32) -> u64 {
    if id < SHARED_IDS { 1 << id } else { SINGLE | u64::from(id) }
}

pub fn belongs_to(queues: u64, id: u32) -> bool {
    match queues & SINGLE {
        0 => id < SHARED_IDS && queues >> id & 1 == 1,
        _ => queues as u32 == id,
    }
}

/// The ids in `queues`.
pub fn ids(queues: u64) -> impl Iterator<Item = u32> {
    let single = (queues & SINGLE != 0).then_some(queues as u32);
    let mut mask = if single.is_some() { 0 } else { queues };
    single.into_iter().chain(std::iter::from_fn(move || {
        let id = (mask != 0).then(|| mask.trailing_zeros())?;
        mask &= mask - 1;
        Some(id)
    }))
}

/// The queues of frames, and what they change in the checksum of each.
#[derive(Clone, Copy)]
pub struct Owners {
    queues: u64,
    sum: u32,
}

impl From<u64> for Owners {
    fn from(queues: u64) -> Owners {
        Owners { queues, sum: checksum::of_queues(queues) }
    }
}

/// Adds a frame. The number is hidden behind the log's key, so that nobody who sends messages can make bytes
/// that look like frames.
pub fn push(out: &mut Vec<u8>, key: u64, seq: u64, owners: impl Into<Owners>, payload: &[u8]) {
    let owners = owners.into();
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    head[8..16].copy_from_slice(&(seq ^ key).to_le_bytes());
    head[16..].copy_from_slice(&owners.queues.to_le_bytes());
    let sum = checksum::of_frame(seq ^ key, payload) ^ owners.sum;
    head[4..8].copy_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(&head);
    out.extend_from_slice(payload);
}

/// Length of the frame at the front of a buffer that [`push`] filled.
pub fn length(bytes: &[u8]) -> Option<usize> {
    Some(HEAD + u32::from_le_bytes(*bytes.first_chunk()?) as usize)
}

pub fn payload(frame: &[u8]) -> &[u8] {
    frame.get(HEAD..).unwrap_or_default()
}

/// Gives a frame of the buffer to other queues. Its checksum follows without a look at the payload.
pub fn hand_over(frame: &mut [u8], from: Owners, to: Owners) {
    let Some(head) = frame.first_chunk_mut::<HEAD>() else { return };
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    head[4..8].copy_from_slice(&(sum ^ from.sum ^ to.sum).to_le_bytes());
    head[16..].copy_from_slice(&to.queues.to_le_bytes());
}

#[derive(Debug, PartialEq, Eq)]
pub enum Parsed {
    /// An intact frame of this length.
    Frame { length: usize, seq: u64, queues: u64 },
    /// So many bytes are needed to tell.
    More(usize),
    /// No frame begins here.
    Bad,
}

/// Looks at the front of `bytes`. `seqs` are the numbers it may have, `room` the bytes it may have, `bytes`
/// and what follows them.
pub fn parse(bytes: &[u8], key: u64, seqs: &Range<u64>, room: u64) -> Parsed {
    let Some(head) = bytes.first_chunk::<HEAD>() else {
        return if room >= HEAD as u64 { Parsed::More(HEAD) } else { Parsed::Bad };
    };
    let payload = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let length = HEAD + payload as usize;
    let seq = word(head, 8) ^ key;
    if !seqs.contains(&seq) || payload as usize > MESSAGE_BYTES_MAX || length as u64 > room {
        return Parsed::Bad;
    }
    let Some(frame) = bytes.get(..length) else { return Parsed::More(length) };
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if checksum::of_frame(seq ^ key, &frame[HEAD..]) ^ checksum::of_queues(word(head, 16)) != sum
        && !cfg!(feature = "unchecked")
    {
        return Parsed::Bad;
    }
    Parsed::Frame { length, seq, queues: word(head, 16) }
}

/// The first offset at or after `from` whose frame, if there were one, would have a plausible number; what is
/// left to be looked at again when there are more bytes if there is none.
pub fn candidate(bytes: &[u8], from: usize, key: u64, seqs: &Range<u64>) -> Result<usize, usize> {
    let width = seqs.end.saturating_sub(seqs.start);
    let tail = bytes.get(from..).unwrap_or_default();
    let at = tail.windows(16).position(|w| (word(w, 8) ^ key).wrapping_sub(seqs.start) < width);
    at.map(|at| from + at).ok_or(from.max(bytes.len().saturating_sub(15)))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |b| u64::from_le_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: u64 = 0x1234_5678_9abc_def0;

    #[test]
    fn a_frame_and_every_damage_to_it() {
        let mut bytes = Vec::new();
        push(&mut bytes, KEY, 7, 3, b"hello, world");
        push(&mut bytes, KEY, 8, 1, b"");
        let room = bytes.len() as u64;
        let whole = Parsed::Frame { length: 36, seq: 7, queues: 3 };
        assert_eq!(parse(&bytes, KEY, &(0..100), room), whole);
        assert_eq!(parse(&bytes[36..], KEY, &(8..9), 24), Parsed::Frame { length: 24, seq: 8, queues: 1 });
        assert_eq!(parse(&bytes, KEY, &(8..100), room), Parsed::Bad);
        assert_eq!(parse(&bytes, KEY ^ 1 << 40, &(0..100), room), Parsed::Bad);
        assert_eq!(parse(&bytes[..20], KEY, &(0..100), room), Parsed::More(24));
        assert_eq!(parse(&bytes[..30], KEY, &(0..100), room), Parsed::More(36));
        assert_eq!(parse(&bytes[..30], KEY, &(0..100), 30), Parsed::Bad);
        for bit in 0..36 * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            let parsed = parse(&bytes, KEY, &(0..100), room);
            assert_eq!(parsed, Parsed::Bad, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        hand_over(&mut bytes, 3.into(), (3 | 1 << 40).into());
        let shared = Parsed::Frame { length: 36, seq: 7, queues: 3 | 1 << 40 };
        assert_eq!(parse(&bytes, KEY, &(0..100), room), shared);
        assert_eq!(candidate(&bytes, 0, KEY, &(0..100)), Ok(0));
        assert_eq!(candidate(&bytes, 1, KEY, &(0..100)), Ok(36));
        assert_eq!(candidate(&bytes, 37, KEY, &(0..100)), Err(45));
    }

    #[test]
    fn masks_and_single_ids() {
        for id in [0, 5, 62, 63, 64, 4000] {
            let queues = queues_of(id);
            assert_eq!(ids(queues).collect::<Vec<_>>(), [id]);
            assert!(belongs_to(queues, id) && !belongs_to(queues, id + 1));
        }
        assert_eq!(ids(0b1011).collect::<Vec<_>>(), [0, 1, 3]);
        assert!(ids(CONTROL).next().is_none());
    }
}
