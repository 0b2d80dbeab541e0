//! Record batches as brokers hand them out, read where they lie: of each record where its parts are.

mod unpack;

use crate::varint;
use std::ops::Range;
use std::sync::Arc;

const HEAD_BYTES: usize = crate::BATCH_HEAD_BYTES;
/// Offset and length, which every message format begins with.
const PREFIX_BYTES: usize = 12;
/// A record without key, value and headers.
const RECORD_BYTES_MIN: usize = 7;
const MAGIC: u8 = 2;
const COMPRESSION: i16 = 7;
const APPEND_TIME: i16 = 8;
const TRANSACTIONAL: i16 = 0x10;
const CONTROL: i16 = 0x20;

/// The head of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Head {
    base: i64,
    last: i64,
    attributes: i16,
    base_time: i64,
    max_time: i64,
    producer: i64,
    count: u32,
}

/// Where the parts of a record are, in the bytes it came with. `None`: there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordAt {
    pub offset: i64,
    /// Milliseconds since 1970.
    pub time_ms: i64,
    pub key: Option<Range<usize>>,
    pub value: Option<Range<usize>>,
    /// How many there are, then each with its length, as they stand in a record: see [`headers`].
    pub headers: Range<usize>,
}

/// A batch that cannot be read. It is left out.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Of its first record.
    pub offset: i64,
    /// As it says itself.
    pub records: usize,
    pub why: String,
    /// What of it cannot be read, as it came or as it was unpacked.
    pub bytes: Vec<u8>,
}

/// A transaction that was given up: its producer and where it begins.
pub type Aborted = (i64, i64);

/// How batches are read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Records of transactions that were given up are left out.
    pub committed_only: bool,
    /// Checksums are looked at.
    pub checked: bool,
}

/// The part of an answer that one partition has.
pub struct Batches {
    answer: Arc<Vec<u8>>,
    left: Range<usize>,
    /// Records before that are known already.
    from: i64,
    reading: Reading,
    /// Those that were not come to yet, the next one last.
    aborted: Vec<Aborted>,
    /// Producers in the middle of one.
    giving_up: Vec<i64>,
    open: Option<Open>,
}

/// A batch that is being read.
struct Open {
    head: Head,
    /// Unpacked records; `None`: they are read where they are.
    own: Option<Vec<u8>>,
    /// What is left of them.
    left: Range<usize>,
    count: u32,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The bytes of the batch that begins here; `None` when it is not whole.
fn batch_bytes(bytes: &[u8]) -> Option<usize> {
    let length = usize::try_from(i32::from_be_bytes(number(bytes, 8)?)).ok()?;
    let all = PREFIX_BYTES.checked_add(length)?;
    (all <= bytes.len() && all > PREFIX_BYTES + 4).then_some(all)
}

fn head(batch: &[u8]) -> Option<Head> {
    let base = i64::from_be_bytes(number(batch, 0)?);
    let last = i64::from(u32::from_be_bytes(number(batch, 23)?));
    Some(Head {
        base,
        last: base.saturating_add(last),
        attributes: i16::from_be_bytes(number(batch, 21)?),
        base_time: i64::from_be_bytes(number(batch, 27)?),
        max_time: i64::from_be_bytes(number(batch, 35)?),
        producer: i64::from_be_bytes(number(batch, 43)?),
        count: u32::from_be_bytes(number(batch, 57)?),
    })
}

fn is_batch(bytes: &[u8]) -> bool {
    bytes.get(16) == Some(&MAGIC) && bytes.len() >= HEAD_BYTES
}

/// The offset behind the last whole batch; `None` when there is none.
pub fn end_offset(mut bytes: &[u8]) -> Option<i64> {
    let mut end = None;
    while let Some(length) = batch_bytes(bytes) {
        let (batch, rest) = bytes.split_at_checked(length)?;
        let last = match is_batch(batch) {
            true => head(batch)?.last,
            false => i64::from_be_bytes(number(batch, 0)?),
        };
        end = Some(last.saturating_add(1));
        bytes = rest;
    }
    end
}

impl Batches {
    /// `at`: where they are in the answer. Records before `from` are left out.
    pub fn new(
        answer: Arc<Vec<u8>>,
        at: Range<usize>,
        from: i64,
        mut aborted: Vec<Aborted>,
        reading: Reading,
    ) -> Batches {
        aborted.sort_unstable_by_key(|(_, first)| std::cmp::Reverse(*first));
        Batches { answer, left: at, from, reading, aborted, giving_up: Vec::new(), open: None }
    }

    /// Appends up to so many records of one batch to `text`, until they come to so many bytes; at least one.
    /// Their places count from the beginning of `text`. `false`: there are no more.
    ///
    /// They are copied first and read then: in one run through memory, and what is read lies in the cache.
    pub fn take(
        &mut self,
        (bytes_max, count_max): (usize, usize),
        text: &mut Vec<u8>,
        out: &mut Vec<RecordAt>,
    ) -> Result<bool, Unreadable> {
        loop {
            if let Some(open) = &self.open
                && open.count > 0
            {
                break;
            }
            self.open = None;
            if !self.next_batch()? {
                return Ok(false);
            }
        }
        let Some(open) = &mut self.open else { return Ok(false) };
        let all = match &open.own {
            Some(own) => own.as_slice(),
            None => self.answer.as_slice(),
        };
        let left = all.get(open.left.clone()).unwrap_or_default();
        let (base, whole) = (text.len(), record_bytes(left).unwrap_or_default());
        // Where records are small, so many of them are not as many bytes.
        let of_count = (left.len() / open.count as usize + 1).saturating_mul(count_max);
        text.extend_from_slice(left.get(..whole.max(bytes_max.min(of_count))).unwrap_or(left));
        let mut rest = text.get(base..).unwrap_or_default();
        let (mut end, mut taken, mut used, total) = (self.from, 0, 0, text.len());
        while open.count > 0 && taken < count_max && used < bytes_max {
            let Some(record) = record(&mut rest, total, &open.head) else { break };
            used = total - base - rest.len();
            open.count -= 1;
            end = record.offset.saturating_add(1);
            taken += 1;
            if record.offset >= self.from {
                out.push(record);
            }
        }
        text.truncate(base + used);
        if taken == 0 && count_max > 0 && bytes_max > 0 {
            let why = "a record of it is not whole".to_owned();
            let most = left.len() / RECORD_BYTES_MIN + 1;
            let (offset, records) = (open.head.base, (open.count as usize).min(most));
            open.count = 0;
            // From the damaged record on.
            return Err(Unreadable { offset, records, why, bytes: left.to_vec() });
        }
        if open.count == 0 {
            // Offsets may have gaps: what was compacted is not there.
            end = open.head.last.saturating_add(1);
        }
        open.left.start += used;
        self.from = self.from.max(end);
        Ok(true)
    }

    /// Opens the next batch that has something for us. `false`: there is none.
    fn next_batch(&mut self) -> Result<bool, Unreadable> {
        loop {
            let answer = Arc::clone(&self.answer);
            let bytes = answer.get(self.left.clone()).unwrap_or_default();
            let Some(length) = batch_bytes(bytes) else { return Ok(false) };
            let begin = self.left.start;
            self.left.start += length;
            let batch = bytes.get(..length).unwrap_or_default();
            let unreadable = |offset: i64, records: usize, why: &str| {
                let (why, bytes) = (why.to_owned(), batch.to_vec());
                Unreadable { offset, records, why, bytes }
            };
            let head = match is_batch(batch) {
                true => head(batch),
                false => None,
            };
            let Some(head) = head else {
                let offset = number(batch, 0).map_or(0, i64::from_be_bytes);
                self.from = self.from.max(offset.saturating_add(1));
                return Err(unreadable(offset, 1, "it is in a format from before Kafka 0.11"));
            };
            if head.last < self.from || self.is_given_up(&head, batch) {
                self.from = self.from.max(head.last.saturating_add(1));
                continue;
            }
            // As many as there can be, whatever a damaged head says.
            let failed = |why: &str| unreadable(head.base, (head.count as usize).min(length), why);
            let skipped = head.last.saturating_add(1);
            let crc = number(batch, 17).map(u32::from_be_bytes);
            if self.reading.checked && crc != Some(crc32c::crc32c(batch.get(21..).unwrap_or_default())) {
                self.from = self.from.max(skipped);
                return Err(failed("its checksum is wrong"));
            }
            let code = head.attributes & COMPRESSION;
            let own = match code {
                0 => None,
                _ => match unpack::unpack(code, batch.get(HEAD_BYTES..).unwrap_or_default()) {
                    Ok(own) => Some(own),
                    Err(why) => {
                        self.from = self.from.max(skipped);
                        return Err(failed(&format!("it cannot be unpacked: {why}")));
                    }
                },
            };
            let left = match &own {
                Some(own) => 0..own.len(),
                None => begin + HEAD_BYTES..begin + length,
            };
            self.open = Some(Open { head, own, left, count: head.count });
            return Ok(true);
        }
    }

    /// Whether nobody is to see it: an end of a transaction, or a part of one that was given up.
    fn is_given_up(&mut self, head: &Head, batch: &[u8]) -> bool {
        while let Some((producer, first)) = self.aborted.last().copied()
            && first <= head.last
        {
            self.giving_up.push(producer);
            self.aborted.pop();
        }
        if head.attributes & CONTROL != 0 {
            if is_abort(batch) {
                self.giving_up.retain(|producer| *producer != head.producer);
            }
            return true;
        }
        self.reading.committed_only
            && head.attributes & TRANSACTIONAL != 0
            && self.giving_up.contains(&head.producer)
    }

    /// Everything before this offset was seen.
    pub fn end(&self) -> i64 {
        self.from
    }

    /// Bytes that are still to be read.
    pub fn bytes(&self) -> usize {
        self.left.len() + self.open.as_ref().map_or(0, |open| open.left.len())
    }
}

/// The end of a transaction says in the key of its record what it is: 0 stands for given up.
fn is_abort(batch: &[u8]) -> bool {
    let mut rest = batch.get(HEAD_BYTES..).unwrap_or_default();
    let total = rest.len();
    let of = Head { base: 0, last: 0, attributes: 0, base_time: 0, max_time: 0, producer: 0, count: 1 };
    let key = record(&mut rest, total, &of).and_then(|record| record.key);
    let key = key.and_then(|key| batch.get(HEAD_BYTES..)?.get(key));
    key.and_then(|key| number(key, 2)).is_some_and(|kind| i16::from_be_bytes(kind) == 0)
}

/// The bytes of the record that begins here; `None` when it is not whole.
fn record_bytes(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let length = usize::try_from(varint::take(&mut rest)?).ok()?;
    (length <= rest.len()).then_some(bytes.len() - rest.len() + length)
}

/// Takes a record from the front of `rest`, which ends at `total` bytes.
#[inline]
fn record(rest: &mut &[u8], total: usize, head: &Head) -> Option<RecordAt> {
    let length = usize::try_from(varint::take(rest)?).ok()?;
    let begin = total - rest.len();
    let (mut record, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    let end = begin + length;
    let (_, fields) = record.split_first()?;
    record = fields;
    let time = varint::take_long(&mut record)?;
    let place = varint::take(&mut record)?;
    let key = part(&mut record, end)?;
    let value = part(&mut record, end)?;
    Some(RecordAt {
        offset: head.base.saturating_add(i64::from(place)),
        time_ms: match head.attributes & APPEND_TIME {
            0 => head.base_time.saturating_add(time),
            _ => head.max_time,
        },
        key,
        value,
        headers: end - record.len()..end,
    })
}

/// Takes a part behind its length from the front of `record`, which goes up to `end`.
#[inline]
fn part(record: &mut &[u8], end: usize) -> Option<Option<Range<usize>>> {
    let Ok(length) = usize::try_from(varint::take(record)?) else { return Some(None) };
    let begin = end - record.len();
    *record = record.get(length..)?;
    Some(Some(begin..begin + length))
}

/// Each header of a record, name and value; those that cannot be read are left out.
pub fn headers(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = bytes;
    let count = varint::take(&mut rest).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    (0..count).map_while(move |_| {
        let name = text(&mut rest)?;
        let value = text(&mut rest)?;
        Some((name, value))
    })
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    // Null is nothing.
    let length = usize::try_from(varint::take(rest)?).unwrap_or(0);
    let (text, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(text)
}

#[cfg(test)]
mod tests;
