//! What the broker keeps for who reads: the batches of one partition, as they came.

use super::{Input, each};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Where the offset of its first message stands in a batch, and how far behind that the last one's is.
const BASE: std::ops::Range<usize> = 0..8;
const LENGTH: std::ops::Range<usize> = 8..12;
const LAST_DELTA: std::ops::Range<usize> = 23..27;
/// What is in front of the length's bytes, and these.
const HEAD_BYTES: usize = 12;
/// Bytes of one answer.
const ANSWER_BYTES: usize = 4 << 20;

pub struct Log {
    batches: Mutex<Vec<Batch>>,
    more: Condvar,
}

struct Batch {
    /// The offset behind its last message.
    end: i64,
    bytes: Arc<[u8]>,
}

pub static LOG: Log = Log { batches: Mutex::new(Vec::new()), more: Condvar::new() };

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.batches.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes the batches of a request to write.
    pub fn append(&self, mut records: &[u8]) {
        let mut batches = self.lock();
        while let Some(length) = number(records, LENGTH)
            && let Some((batch, rest)) = records.split_at_checked(HEAD_BYTES + length as usize)
            && let Some(last) = number(batch, LAST_DELTA)
        {
            let base = batches.last().map_or(0, |batch| batch.end);
            let mut bytes: Arc<[u8]> = batch.into();
            if let Some(head) = Arc::get_mut(&mut bytes).and_then(|bytes| bytes.get_mut(BASE)) {
                head.copy_from_slice(&base.to_be_bytes());
            }
            batches.push(Batch { end: base + i64::from(last) + 1, bytes });
            records = rest;
        }
        self.more.notify_all();
    }

    pub fn end(&self) -> i64 {
        self.lock().last().map_or(0, |batch| batch.end)
    }

    /// What follows an offset, and the end of all; waits for it no longer than that.
    fn from(&self, offset: i64, wait: Duration) -> (Vec<u8>, i64) {
        let until = Instant::now() + wait;
        let mut batches = self.lock();
        while batches.last().is_none_or(|batch| batch.end <= offset)
            && let Some(left) = until.checked_duration_since(Instant::now())
        {
            batches = self.more.wait_timeout(batches, left).unwrap_or_else(|e| e.into_inner()).0;
        }
        let first = batches.partition_point(|batch| batch.end <= offset);
        let mut found = Vec::new();
        for batch in batches.iter().skip(first) {
            if !found.is_empty() && found.len() + batch.bytes.len() > ANSWER_BYTES {
                break;
            }
            found.extend_from_slice(&batch.bytes);
        }
        (found, batches.last().map_or(0, |batch| batch.end))
    }

    /// A request to read, version 4.
    pub fn fetch(&self, input: &mut Input<'_>) -> Vec<u8> {
        input.take(4);
        let mut wait = Duration::from_millis(input.number(4).max(0) as u64);
        input.take(9);
        let mut out = vec![0; 4];
        each(input, &mut out, |input, out| {
            let partition = input.number(4) as i32;
            let offset = input.number(8);
            input.take(4);
            let (found, end) = self.from(offset, std::mem::take(&mut wait));
            out.extend(partition.to_be_bytes());
            out.extend([0, 0]);
            out.extend(end.to_be_bytes());
            out.extend(end.to_be_bytes());
            out.extend([0; 4]);
            out.extend((found.len() as u32).to_be_bytes());
            out.extend(found);
        });
        out
    }

    /// A request for offsets by time, version 2: of the beginning, or of the end.
    pub fn offsets(&self, input: &mut Input<'_>) -> Vec<u8> {
        const BEGINNING: i64 = -2;
        input.take(5);
        let mut out = vec![0; 4];
        each(input, &mut out, |input, out| {
            let partition = input.number(4) as i32;
            let offset = if input.number(8) == BEGINNING { 0 } else { self.end() };
            out.extend(partition.to_be_bytes());
            out.extend([0, 0]);
            out.extend((-1i64).to_be_bytes());
            out.extend(offset.to_be_bytes());
        });
        out
    }
}

fn number(bytes: &[u8], at: std::ops::Range<usize>) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(messages: u32) -> Vec<u8> {
        let mut bytes = vec![0; 61];
        bytes[LENGTH].copy_from_slice(&(61 - HEAD_BYTES as u32).to_be_bytes());
        bytes[LAST_DELTA].copy_from_slice(&(messages - 1).to_be_bytes());
        bytes
    }

    #[test]
    fn what_was_written_is_read_from_any_offset() {
        let log = Log { batches: Mutex::default(), more: Condvar::new() };
        log.append(&[batch(3), batch(2)].concat());
        log.append(&batch(1)[..60]);
        assert_eq!(log.end(), 5, "half a batch is none");
        let bases = |offset| {
            let (found, end) = log.from(offset, Duration::ZERO);
            let bases = found.chunks(61).map(|b| i64::from_be_bytes(b[BASE].try_into().expect("eight")));
            (bases.collect::<Vec<_>>(), end)
        };
        assert_eq!(bases(0), (vec![0, 3], 5));
        assert_eq!(bases(2), (vec![0, 3], 5), "readers pass over what they have");
        assert_eq!(bases(3), (vec![3], 5));
        assert_eq!(bases(5), (vec![], 5));
    }
}
