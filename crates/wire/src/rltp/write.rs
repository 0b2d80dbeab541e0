//! Writes the frames of the acknowledged protocol, each appended to a buffer.

use super::{
    ACK, BATCH, BATCH_HEAD_BYTES, HEAD_BYTES, HELLO_BYTES, Hello, MAGIC, PACKED, PING, REASON_BYTES_MAX,
    REFUSE, START, Start, WELCOME, Welcome,
};

/// The messages of a batch: the bytes of all of them, one behind the other, and where each ends.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    pub bytes: &'a [u8],
    /// Ascending, counted from `start`.
    pub ends: &'a [u32],
    /// What the ends are counted from: where `bytes` begins in the buffer they point into.
    pub start: u32,
}

/// Where a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub sequence: u64,
    /// See [`super::Batch::position`].
    pub position: u64,
}

impl Payload<'_> {
    /// Bytes of it in the clear, with the lengths.
    pub fn plain(&self) -> usize {
        self.bytes.len() + 4 * self.ends.len()
    }

    /// Appends the lengths of the messages.
    pub(super) fn lengths(&self, out: &mut Vec<u8>) {
        out.reserve(4 * self.ends.len());
        let mut before = self.start;
        for end in self.ends {
            out.extend_from_slice(&end.wrapping_sub(before).to_le_bytes());
            before = *end;
        }
    }
}

fn head(out: &mut Vec<u8>, kind: u8, flags: u8, length: usize) {
    out.extend_from_slice(&[kind, flags, 0, 0]);
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

/// The first word of the side that connects.
pub fn hello(hello: &Hello) -> [u8; HELLO_BYTES] {
    let mut out = Vec::with_capacity(HELLO_BYTES);
    out.extend_from_slice(&MAGIC);
    let [low, high] = hello.lane.to_le_bytes();
    let flags = if hello.packs { PACKED } else { 0 };
    out.extend_from_slice(&[hello.oldest, hello.newest, flags, 0, low, high, 0, 0]);
    out.extend_from_slice(&hello.stream);
    let mut bytes = [0; HELLO_BYTES];
    bytes.iter_mut().zip(out).for_each(|(to, from)| *to = from);
    bytes
}

/// The answer to a hello. [`MAGIC`] goes before it.
pub fn welcome(out: &mut Vec<u8>, welcome: &Welcome) {
    head(out, WELCOME, 0, 40);
    out.extend_from_slice(&[welcome.version, if welcome.packs { PACKED } else { 0 }, 0, 0]);
    out.extend_from_slice(&welcome.payload_bytes_max.to_le_bytes());
    let reached = welcome.reached;
    for number in [welcome.run, welcome.acknowledged, reached.numbering, reached.position] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// The last word of the side that listens.
pub fn refuse(out: &mut Vec<u8>, code: u16, text: &str) {
    let mut end = text.len().min(REASON_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = text.get(..end).unwrap_or_default();
    head(out, REFUSE, 0, 2 + text.len());
    out.extend_from_slice(&code.to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

pub fn ack(out: &mut Vec<u8>, sequence: u64) {
    head(out, ACK, 0, 8);
    out.extend_from_slice(&sequence.to_le_bytes());
}

pub fn start(out: &mut Vec<u8>, start: Start) {
    head(out, START, 0, 16);
    out.extend_from_slice(&start.run.to_le_bytes());
    out.extend_from_slice(&start.numbering.to_le_bytes());
}

pub fn ping(out: &mut Vec<u8>) {
    head(out, PING, 0, 0);
}

/// What stands in front of the bytes of a batch's messages: they follow as they are.
pub fn batch(out: &mut Vec<u8>, number: Number, payload: Payload<'_>) {
    batch_head(out, 0, number, payload, payload.plain());
    payload.lengths(out);
}

/// The same of a batch that [`super::Packer::pack`] has compressed, to `packed` bytes, which follow.
pub fn packed_batch(out: &mut Vec<u8>, number: Number, payload: Payload<'_>, packed: usize) {
    batch_head(out, PACKED, number, payload, packed);
}

fn batch_head(out: &mut Vec<u8>, flags: u8, number: Number, payload: Payload<'_>, length: usize) {
    out.reserve(HEAD_BYTES + BATCH_HEAD_BYTES);
    head(out, BATCH, flags, BATCH_HEAD_BYTES + length);
    out.extend_from_slice(&number.sequence.to_le_bytes());
    out.extend_from_slice(&number.position.to_le_bytes());
    out.extend_from_slice(&(payload.ends.len() as u32).to_le_bytes());
    out.extend_from_slice(&(payload.plain() as u32).to_le_bytes());
}
