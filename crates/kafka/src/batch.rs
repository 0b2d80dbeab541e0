//! Record batches, version 2: a head, then each message with its length and place, compressed together if
//! that is asked for.

pub mod envelope;

use crate::compression::Compression;
use crate::varint;

/// Bytes of a batch before its records.
pub const BATCH_HEAD_BYTES: usize = 61;
/// The most bytes that a record has beside its key, value and headers.
pub const RECORD_EXTRA_BYTES: usize = 1 + 1 + 4 * varint::BYTES_MAX;

const LENGTH_AT: usize = 8;
const MAGIC_AT: usize = 16;
const CRC_AT: usize = 17;
const ATTRIBUTES_AT: usize = 21;
const LAST_OFFSET_AT: usize = 23;
const BASE_TIME_AT: usize = 27;
const MAX_TIME_AT: usize = 35;
const PRODUCER_AT: usize = 43;
const EPOCH_AT: usize = 51;
const SEQUENCE_AT: usize = 53;
const COUNT_AT: usize = 57;
const TRANSACTIONAL: i16 = 0x10;

/// What a message is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Its value; there are no key and no headers.
    Value(&'a [u8]),
    /// Key, value and headers as they stand in a record.
    Parts(&'a [u8]),
}

/// A batch that is being filled.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    count: u32,
}

/// Under which number a batch is sent, so that a broker takes it once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    pub producer: i64,
    pub epoch: i16,
    /// Of its first record.
    pub sequence: i32,
}

impl Batch {
    /// `bytes`: a buffer to fill.
    pub fn new(mut bytes: Vec<u8>) -> Batch {
        bytes.clear();
        bytes.resize(BATCH_HEAD_BYTES, 0);
        Batch { bytes, count: 0 }
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    /// Bytes so far, the head included.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    pub fn add(&mut self, record: Record<'_>) {
        let place = self.count as i32;
        // Attributes 0, time 0 after the batch's own, the place; a key of -1 bytes, which is none; the
        // value's length.
        let mut head = [0u8; RECORD_EXTRA_BYTES];
        let mut at = 2 + varint::write(place, head.get_mut(2..).unwrap_or_default());
        let (body, last): (&[u8], &[u8]) = match record {
            Record::Parts(parts) => (parts, &[]),
            Record::Value(value) => {
                at += varint::write(-1, head.get_mut(at..).unwrap_or_default());
                at += varint::write(value.len() as i32, head.get_mut(at..).unwrap_or_default());
                // No headers.
                (value, &[0])
            }
        };
        let length = (at + body.len() + last.len()) as i32;
        self.bytes.reserve(varint::BYTES_MAX + length as usize);
        varint::append(&mut self.bytes, length);
        self.bytes.extend_from_slice(head.get(..at).unwrap_or_default());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(last);
        self.count += 1;
    }

    /// The whole batch, but for its number and checksum. `time_ms`: milliseconds since 1970.
    pub fn finish(self, compression: Compression, time_ms: i64) -> Result<Vec<u8>, String> {
        let Batch { mut bytes, count } = self;
        if compression != Compression::None {
            let mut packed = vec![0; BATCH_HEAD_BYTES];
            compression.compress(bytes.get(BATCH_HEAD_BYTES..).unwrap_or_default(), &mut packed)?;
            bytes = packed;
        }
        let length = (bytes.len() - LENGTH_AT - 4) as i32;
        put(&mut bytes, LENGTH_AT, &length.to_be_bytes());
        // The leader's epoch is for the broker to fill in.
        put(&mut bytes, LENGTH_AT + 4, &(-1i32).to_be_bytes());
        put(&mut bytes, MAGIC_AT, &[2]);
        put(&mut bytes, ATTRIBUTES_AT, &compression.code().to_be_bytes());
        put(&mut bytes, LAST_OFFSET_AT, &(count.saturating_sub(1) as i32).to_be_bytes());
        put(&mut bytes, BASE_TIME_AT, &time_ms.to_be_bytes());
        put(&mut bytes, MAX_TIME_AT, &time_ms.to_be_bytes());
        put(&mut bytes, COUNT_AT, &(count as i32).to_be_bytes());
        Ok(bytes)
    }
}

/// Gives a finished batch its number and its checksum. Without a number it may be written twice.
pub fn seal(batch: &mut [u8], number: Option<Number>, transactional: bool) {
    let number = number.unwrap_or(Number { producer: -1, epoch: -1, sequence: -1 });
    put(batch, PRODUCER_AT, &number.producer.to_be_bytes());
    put(batch, EPOCH_AT, &number.epoch.to_be_bytes());
    put(batch, SEQUENCE_AT, &number.sequence.to_be_bytes());
    if let Some(attributes) = batch.get(ATTRIBUTES_AT..).and_then(|rest| rest.first_chunk()) {
        let packed = i16::from_be_bytes(*attributes) & !TRANSACTIONAL;
        let attributes = if transactional { packed | TRANSACTIONAL } else { packed };
        put(batch, ATTRIBUTES_AT, &attributes.to_be_bytes());
    }
    let crc = crc32c::crc32c(batch.get(ATTRIBUTES_AT..).unwrap_or_default());
    put(batch, CRC_AT, &crc.to_be_bytes());
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = bytes.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests;
